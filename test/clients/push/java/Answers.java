import java.util.Arrays;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** How long each user of a trial took to the answer: from the dequeue of the user's message, and from that of the first message of all. */
final class Answers {
    private final long[] dequeued;
    private final long[] answered;
    private final AtomicInteger next = new AtomicInteger();
    private final AtomicInteger failed = new AtomicInteger();
    private final CountDownLatch left;
    private final Phaser clients = new Phaser(1);

    Answers(int users) {
        dequeued = new long[users];
        answered = new long[users];
        left = new CountDownLatch(users);
    }

    /** Notes a user's end: the answer, or that there will be none, which counts as failed and takes the time until that was known, as in the field report. */
    void note(Work.User user, boolean delivered) {
        int at = next.getAndIncrement();
        dequeued[at] = user.dequeuedNanos();
        answered[at] = System.nanoTime();
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

    /** The times in microseconds from the dequeue of each user's own message, rising. */
    int[] own() {
        int[] micros = new int[answered.length];
        for (int i = 0; i < answered.length; i++) {
            micros[i] = (int) ((answered[i] - dequeued[i]) / 1000);
        }
        Arrays.sort(micros);
        return micros;
    }

    /** The times in microseconds from the first dequeue of all, rising. */
    int[] sinceFirst() {
        long first = Arrays.stream(dequeued).min().orElse(0);
        int[] micros = new int[answered.length];
        for (int i = 0; i < answered.length; i++) {
            micros[i] = (int) ((answered[i] - first) / 1000);
        }
        Arrays.sort(micros);
        return micros;
    }
}
