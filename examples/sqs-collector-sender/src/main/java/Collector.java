import java.util.stream.Collectors;
import java.util.stream.IntStream;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;

/**
 * Decides what each user is to be told, and puts it on the queue: a message holds the content in its first line and then ten users, a line each.
 *
 * <pre>Collector [MESSAGES]</pre>
 */
public final class Collector {
    static final int USERS = 10; // of a message

    public static void main(String[] args) {
        int messages = args.length > 0 ? Integer.parseInt(args[0]) : 1000;
        try (SqsClient client = Queue.open(1)) {
            String url = Queue.url(client);
            long began = System.nanoTime();
            for (int i = 0; i < messages; i++) {
                int first = i * USERS;
                String users = IntStream.range(first, first + USERS).mapToObj(n -> "user-" + n).collect(Collectors.joining("\n"));
                // Attributes are what a receiver may choose by.
                MessageAttributeValue platform = MessageAttributeValue.builder().dataType("String").stringValue(i % 2 == 0 ? "ios" : "android").build();
                client.sendMessage(r -> r.queueUrl(url).messageBody("Extra! Extra!\n" + users).messageAttributes(java.util.Map.of("platform", platform)));
            }
            System.out.printf("%d messages to %d users each, durable after %d ms%n", messages, USERS, (System.nanoTime() - began) / 1_000_000);
        }
    }
}
