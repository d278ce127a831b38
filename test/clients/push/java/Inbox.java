import java.net.URI;
import java.util.List;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry;
import software.amazon.awssdk.services.sqs.model.Message;

/**
 * The SQS queue in front: threads of the program that receive, as many messages as a request may get, hand each to the sender, and delete what they have
 * handed on.
 *
 * <p>--queue URL, --receivers 5, --take 10.
 */
final class Inbox {
    private static final int WAIT_SECONDS = 20; // the longest there is

    private final SqsClient client;
    private final String queue;
    private final int take;
    private final Sender sender;
    private volatile Answers expected;

    Inbox(Flags flags, Sender sender) {
        this.sender = sender;
        queue = flags.text("queue");
        take = flags.number("take", 10);
        int receivers = flags.number("receivers", 5);
        URI url = URI.create(queue);
        client = SqsClient.builder()
                .endpointOverride(URI.create(url.getScheme() + "://" + url.getAuthority()))
                .region(Region.US_EAST_1)
                .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "thing")))
                .httpClientBuilder(ApacheHttpClient.builder().maxConnections(receivers))
                .build();
        for (int i = 0; i < receivers; i++) {
            Thread t = new Thread(this::receive, "receiver-" + i);
            t.setDaemon(true);
            t.start();
        }
    }

    /** Tells whose answers the users of the messages to come are. */
    void expect(Answers answers) {
        expected = answers;
    }

    private void receive() {
        try {
            for (; ; ) {
                List<Message> messages = client.receiveMessage(r -> r.queueUrl(queue).maxNumberOfMessages(take).waitTimeSeconds(WAIT_SECONDS)).messages();
                long now = System.nanoTime();
                for (Message m : messages) {
                    sender.send(Work.read(m.body(), now), expected);
                }
                if (!messages.isEmpty()) {
                    delete(messages);
                }
            }
        } catch (Exception e) {
            e.printStackTrace();
            System.exit(1); // who waits for the answers is told by that
        }
    }

    private void delete(List<Message> messages) {
        List<DeleteMessageBatchRequestEntry> entries = IntStream.range(0, messages.size())
                .mapToObj(i -> DeleteMessageBatchRequestEntry.builder().id(Integer.toString(i)).receiptHandle(messages.get(i).receiptHandle()).build())
                .toList();
        var failed = client.deleteMessageBatch(r -> r.queueUrl(queue).entries(entries)).failed();
        if (!failed.isEmpty()) {
            throw new IllegalStateException("messages were not deleted: " + failed);
        }
    }
}
