import java.lang.management.ManagementFactory;
import java.util.concurrent.atomic.AtomicLong;

/** Says in which process it runs, and how often it has run there. */
public class Pid {
    private static final AtomicLong COUNTER = new AtomicLong();

    public String myHandler() {
        System.out.println("Name: " + ManagementFactory.getRuntimeMXBean().getName());
        System.out.println("Count: " + COUNTER.incrementAndGet());
        return "SUCCESS";
    }
}
