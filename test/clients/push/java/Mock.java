import com.eatthepath.json.JsonSerializer;
import com.eatthepath.pushy.apns.ApnsPushNotification;
import com.eatthepath.pushy.apns.auth.ApnsVerificationKey;
import com.eatthepath.pushy.apns.server.AcceptAllPushNotificationHandlerFactory;
import com.eatthepath.pushy.apns.server.MockApnsServer;
import com.eatthepath.pushy.apns.server.MockApnsServerBuilder;
import com.eatthepath.pushy.apns.server.ParsingMockApnsServerListenerAdapter;
import com.eatthepath.pushy.apns.server.PushNotificationHandler;
import com.eatthepath.pushy.apns.server.PushNotificationHandlerFactory;
import com.eatthepath.pushy.apns.server.RejectionReason;
import com.eatthepath.pushy.apns.server.ValidatingPushNotificationHandlerFactory;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;

/**
 * pushy's own server for tests, as a far end. It prints its address as a line of JSON, and ends with its input.
 *
 * <p>--cert FILE --key FILE --streams 1000, and to have pushes checked by pushy's own code: --verify FILE (the public key, PEM) --key-id --team-id
 * --topic, --tokens a,b,c (devices that there are) and --gone d,e (devices that are not any more). Then it prints a line of JSON for each push.
 */
public final class Mock {
    public static void main(String[] args) throws Exception {
        Flags flags = new Flags(args);
        MockApnsServerBuilder builder = new MockApnsServerBuilder()
                .setServerCredentials(flags.file("cert"), flags.file("key"), null)
                .setUseAlpn(true)
                .setMaxConcurrentStreams(flags.number("streams", 1000))
                .setHandlerFactory(flags.has("verify") ? validating(flags) : new AcceptAllPushNotificationHandlerFactory());
        if (flags.has("verify")) {
            builder.setListener(new Teller(System.out));
        }
        MockApnsServer server = builder.build();
        int port = server.start(0).get();
        say(System.out, Map.of("addr", "127.0.0.1:" + port));
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        while (in.readLine() != null) {
            // nothing to do but to wait for the end
        }
        server.shutdown().get();
        System.exit(0);
    }

    private static PushNotificationHandlerFactory validating(Flags flags) throws Exception {
        ApnsVerificationKey key = ApnsVerificationKey.loadFromPkcs8File(flags.file("verify"), flags.text("team-id"), flags.text("key-id"));
        String topic = flags.text("topic");
        Set<String> tokens = new HashSet<>(Arrays.asList(flags.text("tokens").split(",")));
        Map<String, Instant> gone = new HashMap<>();
        for (String token : flags.text("gone", "").split(",")) {
            if (!token.isEmpty()) {
                tokens.add(token);
                gone.put(token, Instant.now());
            }
        }
        PushNotificationHandlerFactory pushys =
                new ValidatingPushNotificationHandlerFactory(Map.of(topic, tokens), gone, Map.of(flags.text("key-id"), key), Map.of(key, Set.of(topic)));
        return session -> {
            PushNotificationHandler handler = pushys.buildHandler(session);
            return (headers, payload) -> {
                CharSequence authorization = headers.get("authorization");
                if (authorization != null) {
                    headers.set("authorization", Signatures.inDER(authorization.toString()));
                }
                handler.handlePushNotification(headers, payload);
            };
        };
    }

    private static void say(PrintStream out, Map<String, Object> what) {
        synchronized (out) {
            out.println(JsonSerializer.writeJsonTextAsString(what));
            out.flush();
        }
    }

    /** Prints what became of each push, as pushy understood it. */
    private static final class Teller extends ParsingMockApnsServerListenerAdapter {
        private final PrintStream out;

        Teller(PrintStream out) {
            this.out = out;
        }

        @Override
        public void handlePushNotificationAccepted(ApnsPushNotification push) {
            say(out, describe(push, ""));
        }

        @Override
        public void handlePushNotificationRejected(ApnsPushNotification push, RejectionReason reason, Instant since) {
            say(out, describe(push, reason.name()));
        }

        private static Map<String, Object> describe(ApnsPushNotification push, String rejected) {
            Map<String, Object> seen = new LinkedHashMap<>();
            seen.put("rejected", rejected);
            seen.put("token", push.getToken());
            seen.put("topic", push.getTopic());
            seen.put("payload", push.getPayload());
            seen.put("expiration", push.getExpiration() == null ? -1 : push.getExpiration().getEpochSecond());
            seen.put("priority", push.getPriority() == null ? 0 : push.getPriority().getCode());
            seen.put("push_type", push.getPushType() == null ? "" : push.getPushType().getHeaderValue());
            seen.put("collapse_id", push.getCollapseId() == null ? "" : push.getCollapseId());
            seen.put("id", push.getApnsId() == null ? "" : push.getApnsId().toString());
            return seen;
        }
    }
}
