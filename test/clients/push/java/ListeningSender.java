import com.eatthepath.pushy.apns.ApnsClient;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The first fix: users go to an executor, nobody waits for an answer, and another worker closes the message's client when all have come. */
final class ListeningSender implements Sender {
    private final Far far;
    private final ExecutorService workers;
    private final ExecutorService closers;

    ListeningSender(Far far, int concurrency) {
        this.far = far;
        workers = Executors.newFixedThreadPool(concurrency);
        closers = Executors.newFixedThreadPool(concurrency);
    }

    @Override
    public void send(List<Work.User> users, Answers answers) {
        ApnsClient client;
        try {
            client = far.client();
        } catch (Exception e) {
            users.forEach(u -> answers.note(u, false));
            return;
        }
        answers.opened();
        CountDownLatch left = new CountDownLatch(users.size());
        users.forEach(u -> workers.submit(() -> push(client, u, left, answers)));
        closers.submit(() -> {
            try {
                left.await(3, TimeUnit.MINUTES);
                client.close().get(1, TimeUnit.MINUTES);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            } catch (ExecutionException | TimeoutException e) {
                // it is given up
            } finally {
                answers.closed();
            }
        });
    }

    private void push(ApnsClient client, Work.User user, CountDownLatch left, Answers answers) {
        client.sendNotification(far.notification(user.id(), user.token())).whenComplete((response, failure) -> {
            left.countDown();
            answers.note(user, response != null && response.isAccepted());
        });
    }
}
