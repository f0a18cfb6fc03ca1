// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.util.Collection;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * Says of each pair NAME.chain, NAME.trust in a directory (certificates in PEM form) whether this Java takes the chain
 * of a client while it trusts those CAs, as a broker asks in the handshake. A line is a name, and why not, if so.
 */
public class ChainVerdicts {
    public static void main(String[] args) throws Exception {
        try (var files = Files.newDirectoryStream(Path.of(args[0]), "*.chain")) {
            for (Path file : files) {
                String name = file.getFileName().toString().replace(".chain", "");
                System.out.println(name + "\t" + verdict(read(file), read(file.resolveSibling(name + ".trust"))));
            }
        }
    }

    private static String verdict(X509Certificate[] chain, X509Certificate[] trusted) throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        for (int i = 0; i < trusted.length; i++) store.setCertificateEntry("ca" + i, trusted[i]);
        TrustManagerFactory factory = TrustManagerFactory.getInstance("PKIX");
        factory.init(store);
        try {
            ((X509TrustManager) factory.getTrustManagers()[0]).checkClientTrusted(chain, "UNKNOWN");
            return "";
        } catch (CertificateException refused) {
            return refused.getMessage();
        }
    }

    private static X509Certificate[] read(Path file) throws Exception {
        try (InputStream in = Files.newInputStream(file)) {
            Collection<? extends java.security.cert.Certificate> found =
                CertificateFactory.getInstance("X.509").generateCertificates(in);
            return found.toArray(new X509Certificate[0]);
        }
    }
}
