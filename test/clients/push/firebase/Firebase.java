import com.google.auth.oauth2.GoogleCredentials;
import com.google.firebase.FirebaseApp;
import com.google.firebase.FirebaseOptions;
import com.google.firebase.messaging.AndroidConfig;
import com.google.firebase.messaging.ApnsConfig;
import com.google.firebase.messaging.Aps;
import com.google.firebase.messaging.BatchResponse;
import com.google.firebase.messaging.FcmOptions;
import com.google.firebase.messaging.FirebaseMessaging;
import com.google.firebase.messaging.FirebaseMessagingException;
import com.google.firebase.messaging.Message;
import com.google.firebase.messaging.MessagingErrorCode;
import com.google.firebase.messaging.Notification;
import com.google.firebase.messaging.TopicManagementResponse;
import com.google.firebase.messaging.WebpushConfig;
import com.google.gson.Gson;
import java.io.FileInputStream;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sends to FCM's sandbox with Google's own library for Java, firebase-admin, unchanged, as firebase.py does in Python. It finds its proxy and whom to
 * trust in the properties of the system. The arguments are the account's file, a token that is good and one that is gone.
 */
public final class Firebase {
    private interface Check {
        void run() throws Exception;
    }

    private final FirebaseMessaging messaging;
    private final String good;
    private final String gone;

    private Firebase(FirebaseMessaging messaging, String good, String gone) {
        this.messaging = messaging;
        this.good = good;
        this.gone = gone;
    }

    public static void main(String[] args) throws Exception {
        FirebaseOptions options;
        try (InputStream account = new FileInputStream(args[0])) {
            options = FirebaseOptions.builder().setCredentials(GoogleCredentials.fromStream(account)).build();
        }
        Firebase with = new Firebase(FirebaseMessaging.getInstance(FirebaseApp.initializeApp(options)), args[1], args[2]);
        Map<String, Check> checks = new LinkedHashMap<>();
        checks.put("a message is sent", with::aMessageIsSent);
        checks.put("every kind of settings is taken", with::everyKindOfSettingsIsTaken);
        checks.put("topics and conditions are targets", with::topicsAndConditionsAreTargets);
        checks.put("a dry run sends nothing", with::aDryRunSendsNothing);
        checks.put("a device that is gone is not registered", with::aDeviceThatIsGoneIsNotRegistered);
        checks.put("a token that is none is an invalid argument", with::aTokenThatIsNoneIsAnInvalidArgument);
        checks.put("many are sent at once", with::manyAreSentAtOnce);
        checks.put("devices join a topic and leave it", with::devicesJoinATopicAndLeaveIt);
        for (Map.Entry<String, Check> check : checks.entrySet()) {
            StringWriter wrong = new StringWriter();
            try {
                check.getValue().run();
            } catch (Exception | Error e) {
                e.printStackTrace(new PrintWriter(wrong));
            }
            System.out.println(new Gson().toJson(Map.of("check", check.getKey(), "wrong", wrong.toString())));
        }
        System.exit(0); // threads of the library would keep it
    }

    private static Message.Builder message() {
        return Message.builder().setNotification(Notification.builder().setTitle("News").setBody("hello").build()).putData("id", "1");
    }

    private void aMessageIsSent() throws Exception {
        String name = messaging.send(message().setToken(good).build());
        want(name.startsWith("projects/news/messages/"), name);
    }

    private void everyKindOfSettingsIsTaken() throws Exception {
        messaging.send(message().setToken(good)
                .setAndroidConfig(AndroidConfig.builder().setCollapseKey("k").setPriority(AndroidConfig.Priority.HIGH).setTtl(3_600_000).build())
                .setApnsConfig(ApnsConfig.builder().putHeader("apns-priority", "5").setAps(Aps.builder().setBadge(1).build()).build())
                .setWebpushConfig(WebpushConfig.builder().putHeader("TTL", "60").build())
                .setFcmOptions(FcmOptions.withAnalyticsLabel("winter")).build());
    }

    private void topicsAndConditionsAreTargets() throws Exception {
        messaging.send(message().setTopic("weather").build());
        messaging.send(message().setCondition("'weather' in topics && 'news' in topics").build());
    }

    private void aDryRunSendsNothing() throws Exception {
        messaging.send(message().setToken(good).build(), true);
    }

    private void aDeviceThatIsGoneIsNotRegistered() {
        refused(gone, MessagingErrorCode.UNREGISTERED);
    }

    private void aTokenThatIsNoneIsAnInvalidArgument() {
        refused("none", MessagingErrorCode.INVALID_ARGUMENT);
    }

    private void refused(String token, MessagingErrorCode with) {
        try {
            messaging.send(message().setToken(token).build());
        } catch (FirebaseMessagingException e) {
            want(e.getMessagingErrorCode() == with, e.toString());
            return;
        }
        want(false, "it was taken");
    }

    private void manyAreSentAtOnce() throws Exception {
        List<Message> many = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            many.add(message().setToken(i % 10 == 0 ? gone : good).build());
        }
        BatchResponse sent = messaging.sendEach(many);
        want(sent.getSuccessCount() == 90 && sent.getFailureCount() == 10, sent.getSuccessCount() + " were sent");
    }

    private void devicesJoinATopicAndLeaveIt() throws Exception {
        List<String> devices = List.of(good, "none", gone);
        for (TopicManagementResponse changed
                : List.of(messaging.subscribeToTopic(devices, "weather"), messaging.unsubscribeFromTopic(devices, "weather"))) {
            want(changed.getSuccessCount() == 2 && changed.getErrors().get(0).getIndex() == 1, changed.getSuccessCount() + " were changed");
        }
    }

    private static void want(boolean right, String otherwise) {
        if (!right) {
            throw new AssertionError(otherwise);
        }
    }
}
