import com.eatthepath.json.JsonParser;
import java.text.ParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** A queue's message as the senders get it: {"users": [{"id": 1, "token": "…"}, …]}. */
final class Work {
    /** How many users a message has. */
    static final int USERS = 10;

    /** One user of a message, and when the message was dequeued. */
    record User(long id, String token, long dequeuedNanos) {}

    private Work() {}

    /** The users of a message that was dequeued at an instant. */
    static List<User> read(String body, long dequeuedNanos) throws ParseException {
        List<User> users = new ArrayList<>(USERS);
        for (Object o : (List<?>) new JsonParser().parseJsonObject(body).get("users")) {
            Map<?, ?> user = (Map<?, ?>) o;
            users.add(new User(((Number) user.get("id")).longValue(), (String) user.get("token"), dequeuedNanos));
        }
        return users;
    }
}
