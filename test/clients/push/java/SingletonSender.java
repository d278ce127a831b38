import com.eatthepath.pushy.apns.ApnsClient;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/** The second fix: as the first, with one client for everything. */
final class SingletonSender implements Sender {
    private final Far far;
    private final ExecutorService workers;
    private final ApnsClient client;

    SingletonSender(Far far, int concurrency) throws Exception {
        this.far = far;
        workers = Executors.newFixedThreadPool(concurrency);
        client = far.client();
    }

    @Override
    public void send(List<Work.User> users, Answers answers) {
        users.forEach(u -> workers.submit(() -> push(u, answers)));
    }

    private void push(Work.User user, Answers answers) {
        client.sendNotification(far.notification(user.id(), user.token()))
                .whenComplete((response, failure) -> answers.note(user, response != null && response.isAccepted()));
    }
}
