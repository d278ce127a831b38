import com.sun.management.OperatingSystemMXBean;
import com.eatthepath.json.JsonSerializer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The field report's experiment with one of its three senders. For each line of standard input, a number of queue messages, it runs a trial: it prints
 * a line when it expects the messages, which others send to the queue, and when every user was answered a line of JSON: how many users had no delivery,
 * mean, median, p99, max and min in milliseconds from dequeue to answer, every time in microseconds, also as it is from the first dequeue of all, and the
 * processor time taken. It ends with its input.
 *
 * <p>The numbers of threads are those that the report's authors published with their code: five that dequeue, ten messages at a time; 200 workers; and a
 * common pool of 200 threads, which the caller has to ask for by -Djava.util.concurrent.ForkJoinPool.common.parallelism=200. Fewer would make the first
 * version slower.
 *
 * <p>--version first|fix-1|fix-2, --workers 200, and the flags of {@link Inbox} and {@link Far}.
 */
public final class Seed {
    private Seed() {}

    public static void main(String[] args) throws Exception {
        Flags flags = new Flags(args);
        Inbox inbox = new Inbox(flags, Sender.of(flags.text("version"), new Far(flags), flags.number("workers", 200)));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            long before = system.getProcessCpuTime();
            Answers answers = new Answers(Integer.parseInt(line.trim()) * Work.USERS);
            inbox.expect(answers);
            say(Map.of("ready", true));
            answers.await();
            Map<String, Object> found = summary(answers);
            answers.awaitClosed();
            found.put("cpu_us", (system.getProcessCpuTime() - before) / 1000);
            say(found);
        }
        System.exit(0); // the inbox waits for more, and so do whatever threads pushy may have left
    }

    private static void say(Map<String, Object> what) {
        System.out.println(JsonSerializer.writeJsonTextAsString(what));
        System.out.flush();
    }

    private static Map<String, Object> summary(Answers answers) {
        int[] micros = answers.own();
        long sum = 0;
        for (int us : micros) {
            sum += us;
        }
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("n", micros.length);
        found.put("failed", answers.failed());
        found.put("mean_ms", sum / 1000.0 / micros.length);
        found.put("p50_ms", micros[micros.length / 2] / 1000.0);
        found.put("p99_ms", micros[Math.min(micros.length - 1, micros.length * 99 / 100)] / 1000.0);
        found.put("max_ms", micros[micros.length - 1] / 1000.0);
        found.put("min_ms", micros[0] / 1000.0);
        found.put("own_us", micros);
        found.put("times_us", answers.sinceFirst());
        return found;
    }
}
