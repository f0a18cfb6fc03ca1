// SPDX-License-Identifier: GPL-3.0-or-later
import java.io.DataInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.server.common.MetadataVersion;

/**
 * Prints what the Kafka on the class path is, parted by tabs: "metadata" level name changed, for each metadata version
 * that it takes; "feature" name highest default, for each other feature (default is the level that a new cluster gets);
 * "runs" what, for each kind of process that it has the main class of; "option" name, for each of the options asked for
 * here that it knows; "logging" its library; "java" the least Java; "dynamic" key, for each property that a running
 * broker takes. Reflection reads what the supported versions do not all have.
 */
public class KafkaRelease {
    public static void main(String[] args) throws Exception {
        for (var one : MetadataVersion.VERSIONS)
            if (one.isProduction() && one.featureLevel() > 0)
                print("metadata", one.featureLevel(), one, one.didMetadataChange());
        Class<?> features = either("org.apache.kafka.server.common.Feature", "org.apache.kafka.server.common.Features");
        for (Object one : (List<?>) features.getField("PRODUCTION_FEATURES").get(null)) {
            var highest = features.getMethod("latestProduction").invoke(one);
            print("feature", features.getMethod("featureName").invoke(one), highest, byDefault(features, one));
        }
        runs("broker", "kafka.server.KafkaBroker");
        runs("controller", "kafka.server.ControllerServer");
        runs("zookeeper mode", "kafka.zk.KafkaZkClient");
        runs("mirror", "org.apache.kafka.connect.mirror.MirrorMaker");
        runs("legacy mirror", "kafka.tools.MirrorMaker");
        runs("shell", "org.apache.kafka.shell.MetadataShell");
        option("org.apache.kafka.common.security.JaasUtils", "org.apache.kafka.allowed.login.modules");
        option("org.apache.kafka.connect.mirror.MirrorSourceConfig", "heartbeats.replication.enabled");
        option("org.apache.kafka.connect.mirror.MirrorSourceConfig", "metric.names.formats");
        print("logging", file("org.apache.logging.log4j.core.Logger") ? "log4j2" : "reload4j");
        print("java", leastJava());
        for (Object key : dynamic()) print("dynamic", key);
    }

    private static Object byDefault(Class<?> features, Object feature) throws Exception {
        String name = features.getSimpleName().equals("Feature") ? "defaultLevel" : "defaultValue";
        return features.getMethod(name, MetadataVersion.class).invoke(feature, MetadataVersion.LATEST_PRODUCTION);
    }

    private static void runs(String what, String mainClass) {
        if (file(mainClass)) print("runs", what);
    }

    private static boolean file(String name) {
        return KafkaRelease.class.getClassLoader().getResource(name.replace('.', '/') + ".class") != null;
    }

    /** A class that knows an option has its name among its words. */
    private static void option(String name, String option) throws Exception {
        if (!file(name)) return;
        try (var file = KafkaRelease.class.getClassLoader().getResourceAsStream(name.replace('.', '/') + ".class")) {
            if (new String(file.readAllBytes(), StandardCharsets.ISO_8859_1).contains(option)) print("option", option);
        }
    }

    /** A class file names the least Java that reads it: 52 is Java 8. */
    private static int leastJava() throws Exception {
        int most = 0;
        for (String name : List.of("kafka/Kafka.class", "org/apache/kafka/server/common/MetadataVersion.class"))
            try (var file = new DataInputStream(KafkaRelease.class.getClassLoader().getResourceAsStream(name))) {
                file.readInt();
                file.readUnsignedShort();
                most = Math.max(most, file.readUnsignedShort() - 44);
            }
        return most;
    }

    /** A set of Java since Kafka 4.3, before that one of Scala, whose words are "Set(a, b)" or "HashSet(a, b)". */
    private static TreeSet<String> dynamic() throws Exception {
        Class<?> known = either("org.apache.kafka.server.config.DynamicBrokerConfig", "kafka.server.DynamicBrokerConfig");
        Object keys;
        try {
            keys = known.getField("ALL_DYNAMIC_CONFIGS").get(null);
        } catch (NoSuchFieldException older) {
            keys = known.getMethod("AllDynamicConfigs").invoke(null);
        }
        String words = keys.toString();
        int start = Math.max(words.indexOf('('), words.indexOf('[')) + 1;
        return new TreeSet<>(List.of(words.substring(start, words.length() - 1).split(", ")));
    }

    private static Class<?> either(String name, String other) throws ClassNotFoundException {
        try {
            return Class.forName(name);
        } catch (ClassNotFoundException missing) {
            return Class.forName(other);
        }
    }

    private static void print(Object... words) {
        System.out.println(String.join("\t", List.of(words).stream().map(Object::toString).toList()));
    }
}
