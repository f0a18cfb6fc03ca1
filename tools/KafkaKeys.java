// SPDX-License-Identifier: GPL-3.0-or-later
import java.util.TreeSet;

/**
 * Prints the keys that the Kafka on the class path knows, internal ones too: lines "broker NAME" and "topic NAME".
 * Reflection, since KafkaConfig returns a Scala sequence in 3.9 and a Java collection in 4.x.
 */
public class KafkaKeys {
    public static void main(String[] args) throws Exception {
        print("broker", "kafka.server.KafkaConfig");
        print("topic", "org.apache.kafka.storage.internals.log.LogConfig");
    }

    private static void print(String kind, String owner) throws Exception {
        Object names = Class.forName(owner).getMethod("configNames").invoke(null);
        TreeSet<String> sorted = new TreeSet<>();
        if (names instanceof Iterable<?> collection) {
            for (Object name : collection) sorted.add(name.toString());
        } else {
            Object iterator = names.getClass().getMethod("iterator").invoke(names);
            var hasNext = Class.forName("scala.collection.Iterator").getMethod("hasNext");
            var next = Class.forName("scala.collection.Iterator").getMethod("next");
            while ((Boolean) hasNext.invoke(iterator)) sorted.add(next.invoke(iterator).toString());
        }
        for (String name : sorted) System.out.println(kind + " " + name);
    }
}
