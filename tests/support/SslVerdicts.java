// SPDX-License-Identifier: GPL-3.0-or-later
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult.HandshakeStatus;
import org.apache.kafka.common.network.ConnectionMode;
import org.apache.kafka.common.security.ssl.SslFactory;

/**
 * Says of each NAME.store (key and certificates), NAME.trust (CAs), both in PEM form, and NAME.host in a directory
 * whether Kafka would start with them: its own SslFactory loads both and shakes hands with itself, as a broker does for
 * the listener between brokers, and then a client that looks for this host shakes hands with it. A line is a name, and
 * why not, if so.
 */
public class SslVerdicts {
    public static void main(String[] args) throws Exception {
        try (var files = Files.newDirectoryStream(Path.of(args[0]), "*.store")) {
            for (Path file : files) {
                String name = file.getFileName().toString().replace(".store", "");
                String host = Files.readString(file.resolveSibling(name + ".host"));
                String said = verdict(file, file.resolveSibling(name + ".trust"), host).replaceAll("\\s+", " ");
                System.out.println(name + "\t" + said);
            }
        }
    }

    private static String verdict(Path store, Path trust, String host) {
        try (SslFactory server = new SslFactory(ConnectionMode.SERVER, null, true);
             SslFactory client = new SslFactory(ConnectionMode.CLIENT)) {
            server.configure(properties(store, trust, ""));
            client.configure(properties(store, trust, "https"));
            shake(client.createSslEngine(host, 9093), server.createSslEngine("", 0));
            return "";
        } catch (Exception refused) {
            Throwable cause = refused;
            while (cause.getCause() != null) cause = cause.getCause();
            return String.valueOf(cause);
        }
    }

    private static Map<String, Object> properties(Path store, Path trust, String identification) {
        Map<String, Object> config = new HashMap<>();
        org.apache.kafka.common.config.SslConfigs.class.getName();
        var definition = new org.apache.kafka.common.config.ConfigDef();
        definition.withClientSslSupport();
        config.putAll(definition.parse(Map.of(
            "ssl.keystore.type", "PEM", "ssl.keystore.location", store.toString(),
            "ssl.truststore.type", "PEM", "ssl.truststore.location", trust.toString(),
            "ssl.endpoint.identification.algorithm", identification)));
        config.put("ssl.client.auth", "required");
        return config;
    }

    /** Hands what one engine wraps to the other one until both are done. */
    private static void shake(SSLEngine client, SSLEngine server) throws Exception {
        client.beginHandshake();
        server.beginHandshake();
        ByteBuffer toServer = ByteBuffer.allocate(1 << 17), toClient = ByteBuffer.allocate(1 << 17);
        for (int round = 0; round < 200; round++) {
            if (step(client, toClient, toServer) & step(server, toServer, toClient)) return;
        }
        throw new IllegalStateException("the handshake has no end");
    }

    private static boolean step(SSLEngine engine, ByteBuffer in, ByteBuffer out) throws Exception {
        ByteBuffer none = ByteBuffer.allocate(1 << 17);
        HandshakeStatus status = engine.getHandshakeStatus();
        if (status == HandshakeStatus.NEED_TASK) {
            for (Runnable task; (task = engine.getDelegatedTask()) != null; ) task.run();
        } else if (status == HandshakeStatus.NEED_WRAP) {
            engine.wrap(ByteBuffer.allocate(0), out);
        } else if (in.position() > 0) {
            in.flip();
            engine.unwrap(in, none);
            in.compact();
        }
        return engine.getHandshakeStatus() == HandshakeStatus.NOT_HANDSHAKING && in.position() == 0;
    }
}
