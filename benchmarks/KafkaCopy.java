// SPDX-License-Identifier: GPL-3.0-or-later
//
// The least that a mirror can be: one consumer and one producer, each record into the same partition of another topic.
// Run by benchmarks/mirror.py:
//
//     java -cp 'LIBS/*' benchmarks/KafkaCopy.java CONSUMER.properties PRODUCER.properties FROM TO RECORDS
//
// Ends when so many records are acknowledged.

import java.io.FileInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

public final class KafkaCopy {
    public static void main(String[] words) throws Exception {
        var bytes = new ByteArrayDeserializer();
        var plain = new ByteArraySerializer();
        String target = words[3];
        long left = Long.parseLong(words[4]);
        var failed = new AtomicReference<Exception>();
        try (var consumer = new KafkaConsumer<>(read(words[0]), bytes, bytes);
                var producer = new KafkaProducer<>(read(words[1]), plain, plain)) {
            var partitions = consumer.partitionsFor(words[2]).stream()
                .map(one -> new TopicPartition(one.topic(), one.partition())).toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            while (left > 0 && failed.get() == null) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofSeconds(1))) {
                    var copy = new ProducerRecord<>(target, record.partition(), record.timestamp(), record.key(),
                        record.value(), record.headers());
                    producer.send(copy, (place, error) -> {
                        if (error != null) {
                            failed.set(error);
                        }
                    });
                    left--;
                }
            }
            producer.flush();
        }
        if (failed.get() != null) {
            throw failed.get();
        }
    }

    private static Properties read(String file) throws IOException {
        var properties = new Properties();
        try (InputStream stream = new FileInputStream(file)) {
            properties.load(stream);
        }
        return properties;
    }
}
