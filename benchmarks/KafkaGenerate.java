// SPDX-License-Identifier: GPL-3.0-or-later
//
// What kafka-reassign-partitions --generate proposes for a placement, without a cluster: its own method, called by
// reflection, since it is private. Run by benchmarks/planner.py --kafka-libs DIR:
//
//     java -cp 'DIR/*' benchmarks/KafkaGenerate.java BROKERS PLACEMENT
//
// BROKERS: lines "id rack"; PLACEMENT: lines "topic partition id,id,id". Prints "moves milliseconds violations", where
// violations are partitions with two replicas in one rack.

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.metadata.placement.UsableBroker;
import org.apache.kafka.tools.reassign.ReassignPartitionsCommand;

public final class KafkaGenerate {
    public static void main(String[] files) throws Exception {
        Map<Integer, String> racks = new HashMap<>();
        List<UsableBroker> brokers = new ArrayList<>();
        for (String line : Files.readAllLines(Path.of(files[0]))) {
            String[] words = line.split(" ");
            racks.put(Integer.valueOf(words[0]), words[1]);
            brokers.add(new UsableBroker(Integer.parseInt(words[0]), Optional.of(words[1]), false));
        }
        Map<TopicPartition, List<Integer>> now = new HashMap<>();
        for (String line : Files.readAllLines(Path.of(files[1]))) {
            String[] words = line.split(" ");
            List<Integer> replicas = new ArrayList<>();
            for (String replica : words[2].split(",")) {
                replicas.add(Integer.valueOf(replica));
            }
            now.put(new TopicPartition(words[0], Integer.parseInt(words[1])), replicas);
        }
        var calculate = ReassignPartitionsCommand.class.getDeclaredMethod("calculateAssignment", Map.class, List.class);
        calculate.setAccessible(true);
        long start = System.nanoTime();
        @SuppressWarnings("unchecked")
        var proposed = (Map<TopicPartition, List<Integer>>) calculate.invoke(null, now, brokers);
        long took = (System.nanoTime() - start) / 1_000_000;
        long moves = 0;
        long violations = 0;
        for (var entry : proposed.entrySet()) {
            Set<String> seen = new HashSet<>();
            for (Integer broker : entry.getValue()) {
                moves += now.get(entry.getKey()).contains(broker) ? 0 : 1;
                seen.add(racks.get(broker));
            }
            violations += seen.size() < entry.getValue().size() ? 1 : 0;
        }
        System.out.println(moves + " " + took + " " + violations);
    }
}
