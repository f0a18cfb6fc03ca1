// SPDX-License-Identifier: GPL-3.0-or-later
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigException;

/**
 * Says of each value in a file (lines of base64) and each key of brokers and topics whether the Kafka on the class path
 * takes it, as ConfigDef.parseValue does. A line is a kind, a key, and a 1 or 0 for each value. Classes are left out,
 * since they would be loaded.
 */
public class KafkaVerdicts {
    public static void main(String[] args) throws Exception {
        var decoder = Base64.getDecoder();
        var values = Files.readAllLines(Path.of(args[0])).stream()
            .map(line -> new String(decoder.decode(line), StandardCharsets.UTF_8)).toList();
        var broker = (ConfigDef) Class.forName("org.apache.kafka.server.config.AbstractKafkaConfig").getField("CONFIG_DEF").get(null);
        var topic = (ConfigDef) Class.forName("org.apache.kafka.storage.internals.log.LogConfig").getMethod("configDefCopy").invoke(null);
        for (var kind : Map.of("broker", broker, "topic", topic).entrySet()) {
            for (var key : kind.getValue().configKeys().values()) {
                if (key.type == ConfigDef.Type.CLASS) continue;
                var verdicts = new StringBuilder();
                for (String value : values) verdicts.append(takes(key, value) ? '1' : '0');
                System.out.println(kind.getKey() + "\t" + key.name + "\t" + verdicts);
            }
        }
    }

    private static boolean takes(ConfigDef.ConfigKey key, String value) {
        try {
            Object parsed = ConfigDef.parseType(key.name, value, key.type);
            if (key.validator != null) key.validator.ensureValid(key.name, parsed);
            return true;
        } catch (ConfigException refused) {
            return false;
        }
    }
}
