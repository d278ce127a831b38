import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How long each user of a trial took from dequeue to answer. */
final class Answers {
    private final long[] nanos;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final CountDownLatch left;
    private final Phaser clients = new Phaser(1);

    Answers(int users) {
        nanos = new long[users];
        left = new CountDownLatch(users);
    }

    /** Notes a user's end: the answer, or that there will be none, which counts as failed and takes the time until that was known, as in the field report. */
    void note(Work.User user, boolean delivered) {
        nanos[next.getAndIncrement()] = System.nanoTime() - user.dequeuedNanos();
        if (!delivered) {
            failed.incrementAndGet();
        }
        left.countDown();
    }

    /** A client was made for a message. */
    void opened() {
        clients.register();
    }

    /** It is closed. */
    void closed() {
        clients.arriveAndDeregister();
    }

    /** Waits until all clients of the trial are closed: what that takes is nobody else's burden. */
    void awaitClosed() {
        clients.arriveAndAwaitAdvance();
    }

    void await() throws InterruptedException {
        if (!left.await(10, TimeUnit.MINUTES)) {
            throw new IllegalStateException(left.getCount() + " users have no answer after ten minutes");
        }
    }

    int failed() {
        return failed.get();
    }

    /** The times in microseconds, rising. */
    int[] micros() {
        int[] micros = new int[nanos.length];
        for (int i = 0; i < nanos.length; i++) {
            micros[i] = (int) (nanos[i] / 1000);
        }
        java.util.Arrays.sort(micros);
        return micros;
    }
}
