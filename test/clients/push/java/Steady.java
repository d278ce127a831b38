import com.eatthepath.json.JsonSerializer;
import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;
import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Pushes through one connection as fast as pushy can. For each line of standard input, a number of pushes, it sends as many and prints a line of JSON: how
 * many failed, how long all took, and the processor time that the process took for them. The connection stays; it ends with its input.
 *
 * <p>--in-flight 2000: how many pushes pushy is given at once, more than the far end allows streams, so that it never runs dry. The other flags are those of
 * {@link Far}. All pushes are to one device, so that a far end that has files instead of devices can answer.
 */
public final class Steady {
    public static void main(String[] args) throws Exception {
        Flags flags = new Flags(args);
        Far far = new Far(flags);
        int inFlight = flags.number("in-flight", 2000);
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        ApnsClient client = far.client();
        SimpleApnsPushNotification push = far.notification(1);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line; (line = in.readLine()) != null; ) {
            int n = Integer.parseInt(line.trim());
            AtomicInteger failed = new AtomicInteger();
            Semaphore room = new Semaphore(inFlight);
            long cpu = system.getProcessCpuTime();
            long start = System.nanoTime();
            for (int i = 0; i < n; i++) {
                room.acquire();
                client.sendNotification(push).whenComplete((response, failure) -> {
                    if (response == null || !response.isAccepted()) {
                        failed.incrementAndGet();
                    }
                    room.release();
                });
            }
            room.acquire(inFlight);
            Map<String, Object> found = new LinkedHashMap<>();
            found.put("n", n);
            found.put("failed", failed.get());
            found.put("elapsed_us", (System.nanoTime() - start) / 1000);
            found.put("cpu_us", (system.getProcessCpuTime() - cpu) / 1000);
            System.out.println(JsonSerializer.writeJsonTextAsString(found));
            System.out.flush();
        }
        client.close().get();
        System.exit(0);
    }
}
