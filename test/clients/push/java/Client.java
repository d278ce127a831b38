import com.eatthepath.json.JsonSerializer;
import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.DeliveryPriority;
import com.eatthepath.pushy.apns.PushNotificationResponse;
import com.eatthepath.pushy.apns.PushType;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Checks a far end that takes pushes as Apple does, with pushy as its users have it. Each check is a line of JSON: its name, and what was wrong.
 *
 * <p>--alpn true: asks for HTTP/2 in the handshake; else it speaks HTTP/2 with prior knowledge, which is pushy's default. --gone TOKEN: a device that the far
 * end knows to be gone. The other flags are those of {@link Far}.
 */
public final class Client {
    private interface Check {
        void run() throws Exception;
    }

    private final ApnsClient client;
    private final Far far;
    private final String topic;

    private Client(ApnsClient client, Far far, String topic) {
        this.client = client;
        this.far = far;
        this.topic = topic;
    }

    public static void main(String[] args) throws Exception {
        Flags flags = new Flags(args);
        Far far = new Far(flags);
        ApnsClient client = far.client(Boolean.parseBoolean(flags.text("alpn")));
        Client c = new Client(client, far, flags.text("topic"));
        check("a push is taken, and has Apple's ids", c::taken);
        check("an id of the sender's stays", c::ownId);
        check("all that a push can say is taken", c::everything);
        check("a thousand pushes at once are taken, each with an id of its own", c::many);
        check("a device that is gone has the time since when", () -> c.gone(flags.text("gone")));
        check("a topic of another app is refused", () -> c.refused(c.push("00".repeat(32), "com.example.other", "{}"), 400, "TopicDisallowed"));
        check("a payload that is too long is refused", () -> c.refused(c.push("00".repeat(32), c.topic, "x".repeat(5000)), 413, "PayloadTooLarge"));
        check("a text that is no token is refused", () -> c.refused(c.push("zz", c.topic, "{}"), 400, "BadDeviceToken"));
        client.close().get(20, TimeUnit.SECONDS);
        System.exit(0);
    }

    private static void check(String name, Check what) {
        Map<String, Object> line = new LinkedHashMap<>();
        line.put("check", name);
        try {
            what.run();
            line.put("wrong", "");
        } catch (Throwable wrong) {
            line.put("wrong", wrong.toString());
        }
        System.out.println(JsonSerializer.writeJsonTextAsString(line));
        System.out.flush();
    }

    private SimpleApnsPushNotification push(String token, String topic, String payload) {
        return new SimpleApnsPushNotification(token, topic, payload);
    }

    private PushNotificationResponse<SimpleApnsPushNotification> send(SimpleApnsPushNotification push) throws Exception {
        return client.sendNotification(push).get(20, TimeUnit.SECONDS);
    }

    private static void want(boolean right, String what) {
        if (!right) {
            throw new IllegalStateException(what);
        }
    }

    private void taken() throws Exception {
        PushNotificationResponse<SimpleApnsPushNotification> r = send(far.notification(1));
        want(r.isAccepted() && r.getStatusCode() == 200 && r.getApnsId() != null && r.getApnsUniqueId().isPresent(), r.toString());
    }

    private void ownId() throws Exception {
        UUID id = UUID.randomUUID();
        PushNotificationResponse<SimpleApnsPushNotification> r = send(new SimpleApnsPushNotification(
                "ab".repeat(32), topic, "{}", null, DeliveryPriority.IMMEDIATE, PushType.ALERT, null, id));
        want(r.isAccepted() && id.equals(r.getApnsId()), r.toString());
    }

    private void everything() throws Exception {
        PushNotificationResponse<SimpleApnsPushNotification> r = send(new SimpleApnsPushNotification("cd".repeat(32), topic,
                "{\"aps\":{\"content-available\":1}}", Instant.now().plus(Duration.ofHours(1)), DeliveryPriority.CONSERVE_POWER, PushType.BACKGROUND,
                "score", UUID.randomUUID()));
        want(r.isAccepted(), r.toString());
    }

    private void many() throws Exception {
        List<CompletableFuture<PushNotificationResponse<SimpleApnsPushNotification>>> sent = new ArrayList<>();
        for (int user = 1; user <= 1000; user++) {
            sent.add(client.sendNotification(far.notification(user)));
        }
        List<UUID> ids = new ArrayList<>();
        for (CompletableFuture<PushNotificationResponse<SimpleApnsPushNotification>> one : sent) {
            PushNotificationResponse<SimpleApnsPushNotification> r = one.get(60, TimeUnit.SECONDS);
            want(r.isAccepted(), r.toString());
            ids.add(r.getApnsId());
        }
        want(ids.stream().distinct().count() == 1000, "some have the same id");
    }

    private void gone(String token) throws Exception {
        PushNotificationResponse<SimpleApnsPushNotification> r = send(push(token, topic, "{}"));
        want(!r.isAccepted() && r.getStatusCode() == 410 && r.getRejectionReason().orElse("").equals("Unregistered")
                && r.getTokenInvalidationTimestamp().isPresent(), r.toString());
    }

    private void refused(SimpleApnsPushNotification push, int status, String reason) throws Exception {
        PushNotificationResponse<SimpleApnsPushNotification> r = send(push);
        want(!r.isAccepted() && r.getStatusCode() == status && r.getRejectionReason().orElse("").equals(reason), r.toString());
    }
}
