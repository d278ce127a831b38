import com.eatthepath.pushy.apns.ApnsClient;
import com.eatthepath.pushy.apns.ApnsClientBuilder;
import com.eatthepath.pushy.apns.DeliveryPriority;
import com.eatthepath.pushy.apns.auth.ApnsSigningKey;
import com.eatthepath.pushy.apns.util.SimpleApnsPushNotification;

/**
 * The far end: where it is, who may sign for it, and which topic pushes go to.
 *
 * <p>--endpoint host:port, --ca FILE, --key FILE (PKCS #8), --key-id, --team-id, --topic.
 */
final class Far {
    private final Flags flags;
    private final String host;
    private final int port;
    private final String topic;
    private final ApnsSigningKey key;

    Far(Flags flags) throws Exception {
        this.flags = flags;
        String endpoint = flags.text("endpoint");
        int colon = endpoint.lastIndexOf(':');
        host = endpoint.substring(0, colon);
        port = Integer.parseInt(endpoint.substring(colon + 1));
        topic = flags.text("topic");
        key = ApnsSigningKey.loadFromPkcs8File(flags.file("key"), flags.text("team-id"), flags.text("key-id"));
    }

    /** A new client with pushy's defaults, but that it asks for HTTP/2 by ALPN: servers for more than pushes want that. */
    ApnsClient client() throws Exception {
        return client(true);
    }

    /** A new client with pushy's defaults, but for whether it asks for HTTP/2 by ALPN. By default it does not, and speaks HTTP/2 with prior knowledge. */
    ApnsClient client(boolean alpn) throws Exception {
        return new ApnsClientBuilder()
                .setApnsServer(host, port)
                .setTrustedServerCertificateChain(flags.file("ca"))
                .setSigningKey(key)
                .setUseAlpn(alpn)
                .build();
    }

    /** What the user of this number is sent, whose token follows from it. */
    SimpleApnsPushNotification notification(long user) {
        return notification(user, String.format("%064x", user));
    }

    /** What a user is sent, with the parts that the field report's had: token, topic, payload, priority and collapse id. */
    SimpleApnsPushNotification notification(long user, String token) {
        return new SimpleApnsPushNotification(
                token, topic, "{\"aps\":{\"alert\":\"test for " + user + "\"}}", null, DeliveryPriority.IMMEDIATE, "user-" + user);
    }
}
