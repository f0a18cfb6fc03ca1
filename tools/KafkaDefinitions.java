// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.TreeMap;
import org.apache.kafka.common.config.ConfigDef;

/**
 * Prints what the Kafka on the class path says of its keys, internal ones too. A line is a kind (broker or topic), a
 * key, its type, the class of its validator, the validator's own words, whether a list may be empty, and the default of a
 * number, parted by tabs. Reflection reads what the two supported versions do not both have.
 */
public class KafkaDefinitions {
    public static void main(String[] args) throws Exception {
        print("broker", Class.forName("org.apache.kafka.server.config.AbstractKafkaConfig").getField("CONFIG_DEF").get(null));
        print("topic", Class.forName("org.apache.kafka.storage.internals.log.LogConfig").getMethod("configDefCopy").invoke(null));
    }

    private static void print(String kind, Object definitions) throws Exception {
        for (var key : new TreeMap<>(((ConfigDef) definitions).configKeys()).values()) {
            String name = key.validator == null ? "" : key.validator.getClass().getSimpleName();
            String words = key.validator == null ? "" : key.validator.toString();
            String number = key.defaultValue instanceof Number ? key.defaultValue.toString() : "";
            System.out.println(String.join("\t", kind, key.name, key.type.name(), name, words, emptyAllowed(key.validator), number));
        }
    }

    /** Since Kafka 4.1 a list says whether it may be empty, and then takes each entry once (KIP-1161); "" before. */
    private static String emptyAllowed(Object validator) throws Exception {
        if (!(validator instanceof ConfigDef.ValidList)) return "";
        try {
            var field = validator.getClass().getDeclaredField("isEmptyAllowed");
            field.setAccessible(true);
            return field.get(validator).toString();
        } catch (NoSuchFieldException older) {
            return "";
        }
    }
}
