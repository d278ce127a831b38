import com.sun.management.OperatingSystemMXBean;
import com.eatthepath.json.JsonSerializer;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The field report's experiment with one of its three senders. For each line of standard input, a number of queue messages, it runs a trial and prints
 * a line of JSON: how many users had no delivery, mean, median, p99, max and min in milliseconds from dequeue to answer, every time in microseconds, and
 * the processor time taken. It ends with its input.
 *
 * <p>The numbers of threads are those that the report's authors published with their code: five that dequeue, ten messages at a time, each call taking one
 * to ten milliseconds; 200 workers; and a common pool of 200 threads, which the caller has to ask for by
 * -Djava.util.concurrent.ForkJoinPool.common.parallelism=200. Fewer would make the first version slower.
 *
 * <p>--version first|fix-1|fix-2, --users 10, --workers 200, --receivers 5, --take 10, and the flags of {@link Far}.
 */
public final class Seed {
    private final Flags flags;
    private final Sender sender;
    private final int users;

    private Seed(Flags flags) throws Exception {
        this.flags = flags;
        sender = Sender.of(flags.text("version"), new Far(flags), flags.number("workers", 200));
        users = flags.number("users", 10);
    }

    public static void main(String[] args) throws Exception {
        Seed seed = new Seed(new Flags(args));
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            long before = system.getProcessCpuTime();
            Map<String, Object> found = seed.trial(Integer.parseInt(line.trim()));
            found.put("cpu_us", (system.getProcessCpuTime() - before) / 1000);
            System.out.println(JsonSerializer.writeJsonTextAsString(found));
            System.out.flush();
        }
        System.exit(0); // whatever threads pushy may have left
    }

    private Map<String, Object> trial(int messages) throws Exception {
        Answers answers = new Answers(messages * users);
        int receivers = flags.number("receivers", 5);
        ExecutorService dequeuing = Executors.newFixedThreadPool(receivers);
        for (List<Work> share : deal(messages, receivers)) {
            dequeuing.submit(() -> receive(share, answers));
        }
        dequeuing.shutdown();
        answers.await();
        Map<String, Object> found = summary(answers);
        answers.awaitClosed();
        return found;
    }

    /** Deals as many messages as evenly as can be. */
    private List<List<Work>> deal(int messages, int receivers) {
        List<List<Work>> shares = new ArrayList<>();
        for (int i = 0; i < receivers; i++) {
            shares.add(new ArrayList<>());
        }
        for (int i = 0; i < messages; i++) {
            shares.get(i % receivers).add(new Work(1L + (long) i * users, users));
        }
        return shares;
    }

    /** Takes messages off the queue as a receiver of SQS does, which answers in one to ten milliseconds, and hands them to the sender. */
    private void receive(List<Work> share, Answers answers) {
        int take = flags.number("take", 10);
        for (int i = 0; i < share.size(); i += take) {
            try {
                Thread.sleep(ThreadLocalRandom.current().nextLong(1, 11));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
            List<List<Work.User>> dequeued = new ArrayList<>();
            share.subList(i, Math.min(i + take, share.size())).forEach(work -> dequeued.add(work.dequeue()));
            dequeued.forEach(list -> sender.send(list, answers));
        }
    }

    private static Map<String, Object> summary(Answers answers) {
        int[] micros = answers.micros();
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
        found.put("times_us", micros);
        return found;
    }
}
