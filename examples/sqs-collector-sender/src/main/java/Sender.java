import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * Takes messages off the queue on several threads and tells each user. A message is deleted when all of its users were told; one that is not comes again.
 *
 * <pre>Sender [USERS [THREADS]]</pre>
 *
 * It ends when so many users were told, and says whether one was told twice.
 */
public final class Sender {
    private final ConcurrentHashMap<String, Integer> told = new ConcurrentHashMap<>();
    private final AtomicInteger twice = new AtomicInteger();

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        int users = args.length > 0 ? Integer.parseInt(args[0]) : 10_000;
        int threads = args.length > 1 ? Integer.parseInt(args[1]) : 8;
        Sender sender = new Sender();
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try (SqsClient client = Queue.open(threads)) {
            String url = Queue.url(client);
            long began = System.nanoTime();
            List<? extends Future<?>> work = IntStream.range(0, threads).mapToObj(i -> pool.submit(() -> sender.work(client, url, users))).toList();
            for (Future<?> w : work) {
                w.get();
            }
            System.out.printf("%d users told after %d ms, %d of them twice%n", sender.told.size(), (System.nanoTime() - began) / 1_000_000, sender.twice.get());
        } finally {
            pool.shutdownNow();
        }
    }

    private void work(SqsClient client, String url, int users) {
        while (told.size() < users) {
            // Who waits is handed what comes, at once; a second is for looking whether others have told the last user.
            for (Message m : client.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(10).waitTimeSeconds(1)).messages()) {
                String[] lines = m.body().split("\n");
                Stream.of(lines).skip(1).forEach(user -> tell(user, lines[0]));
                client.deleteMessage(r -> r.queueUrl(url).receiptHandle(m.receiptHandle()));
            }
        }
    }

    /** This is where a push service would be asked. */
    private void tell(String user, String content) {
        if (told.merge(user, content.length(), Integer::sum) > content.length()) {
            twice.incrementAndGet();
        }
    }
}
