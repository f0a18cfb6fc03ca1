// SPDX-License-Identifier: GPL-3.0-or-later
//
// What a recording of Java Flight Recorder holds between two times, one line an event. Run by benchmarks/mirror.py:
//
//     java benchmarks/FlightEvents.java RECORDING FIRST LAST
//
// FIRST, LAST: milliseconds of the epoch. A line is kind, thread, amount, class and frames, with tabs between them; frames
// begin at the top, with ";" between them. Amount: bytes of an allocation, milliseconds of a wait or a pause. (jfr print
// --json has 35 kB for each event, since it repeats the class loader of every frame.)

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.StringJoiner;
import jdk.jfr.consumer.RecordedClass;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordedFrame;
import jdk.jfr.consumer.RecordedThread;
import jdk.jfr.consumer.RecordingFile;

public final class FlightEvents {
    private static final Map<String, String> KINDS = Map.of(
        "jdk.ExecutionSample", "sample",
        "jdk.NativeMethodSample", "native",
        "jdk.ObjectAllocationSample", "allocation",
        "jdk.JavaMonitorEnter", "lock",
        "jdk.JavaMonitorWait", "wait",
        "jdk.ThreadPark", "park",
        "jdk.GarbageCollection", "collection");
    private static final Map<String, String> CLASSES = Map.of(
        "allocation", "objectClass", "lock", "monitorClass", "wait", "monitorClass", "park", "parkedClass");

    public static void main(String[] words) throws Exception {
        long first = Long.parseLong(words[1]);
        long last = Long.parseLong(words[2]);
        var out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        try (var recording = new RecordingFile(Path.of(words[0]))) {
            while (recording.hasMoreEvents()) {
                RecordedEvent event = recording.readEvent();
                String kind = KINDS.get(event.getEventType().getName());
                long at = event.getStartTime().toEpochMilli();
                if (kind != null && first <= at && at <= last) {
                    out.println(String.join("\t", kind, thread(event), amount(kind, event), type(kind, event),
                        frames(event)));
                }
            }
        }
        out.flush();
    }

    private static String thread(RecordedEvent event) {
        RecordedThread thread = event.hasField("sampledThread") ? event.getThread("sampledThread") : event.getThread();
        if (thread == null) {
            return "";
        }
        String name = thread.getJavaName() == null ? thread.getOSName() : thread.getJavaName();
        return name == null ? "" : name.replace('\t', ' ');
    }

    private static String amount(String kind, RecordedEvent event) {
        return switch (kind) {
            case "sample", "native" -> "0";
            case "allocation" -> Long.toString(event.getLong("weight"));
            case "collection" -> Double.toString(event.getDuration("sumOfPauses").toNanos() / 1e6);
            default -> Double.toString(event.getDuration().toNanos() / 1e6);
        };
    }

    private static String type(String kind, RecordedEvent event) {
        RecordedClass type = CLASSES.containsKey(kind) ? event.getClass(CLASSES.get(kind)) : null;
        return type == null ? "" : type.getName();
    }

    private static String frames(RecordedEvent event) {
        var names = new StringJoiner(";");
        if (event.getStackTrace() != null) {
            for (RecordedFrame frame : event.getStackTrace().getFrames()) {
                names.add(frame.getMethod().getType().getName() + "." + frame.getMethod().getName());
            }
        }
        return names.toString();
    }
}
