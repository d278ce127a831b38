import java.lang.management.ManagementFactory;
import java.lang.management.ThreadInfo;

/** Says what runs around it: the frames below the handler, and every thread. */
public class StackTrace {
    public String myHandler() {
        for (StackTraceElement frame : new Exception("For stack trace").getStackTrace()) {
            System.out.println("at " + frame);
        }
        for (ThreadInfo thread : ManagementFactory.getThreadMXBean().dumpAllThreads(true, true)) {
            System.out.println(thread);
        }
        return "SUCCESS";
    }
}
