import com.eatthepath.pushy.apns.ApnsClient;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * The first version: a worker for each message makes a client, deals the message's users to the common pool, each of whose threads waits for its
 * answer, and closes the client.
 */
final class FirstSender implements Sender {
    private static final int ANSWER_SECONDS = 3; // as in the field report

    private final Far far;
    private final ExecutorService workers;

    FirstSender(Far far, int concurrency) {
        this.far = far;
        workers = Executors.newFixedThreadPool(concurrency);
    }

    @Override
    public void send(List<Work.User> users, Answers answers) {
        workers.submit(() -> {
            ApnsClient client;
            try {
                client = far.client();
            } catch (Exception e) {
                users.forEach(u -> answers.note(u, false));
                return;
            }
            answers.opened();
            users.parallelStream().forEach(u -> push(client, u, answers));
            try {
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

    private void push(ApnsClient client, Work.User user, Answers answers) {
        boolean delivered = false;
        try {
            delivered = client.sendNotification(far.notification(user.id(), user.token())).get(ANSWER_SECONDS, TimeUnit.SECONDS).isAccepted();
        } catch (Exception e) {
            // not delivered
        }
        answers.note(user, delivered);
    }
}
