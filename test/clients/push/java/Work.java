import java.util.ArrayList;
import java.util.List;

/** A queue's message as the senders get it: the users to be pushed to, and when it was dequeued. */
final class Work {
    /** One user of a message. */
    record User(long id, long dequeuedNanos) {}

    private final long first;
    private final int users;

    Work(long first, int users) {
        this.first = first;
        this.users = users;
    }

    /** The users, whose time begins now. */
    List<User> dequeue() {
        long now = System.nanoTime();
        List<User> list = new ArrayList<>(users);
        for (int i = 0; i < users; i++) {
            list.add(new User(first + i, now));
        }
        return list;
    }
}
