import java.net.URI;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.SqsClientBuilder;

/** The queue between the collector and the sender. What is special about hikyaku is here, and it is the address alone. */
final class Queue {
    static final String NAME = "content";

    private Queue() { }

    /** Opens a client for as many threads. */
    static SqsClient open(int threads) {
        String endpoint = System.getenv().getOrDefault("SQS_ENDPOINT", "http://127.0.0.1:9324");
        SqsClientBuilder client = SqsClient.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
            .httpClientBuilder(ApacheHttpClient.builder().maxConnections(threads));
        if (System.getenv("AWS_ACCESS_KEY_ID") == null) { // without users hikyaku takes any, from this machine
            client.credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("any", "thing")));
        }
        return client.build();
    }

    /** The queue's URL; it is made if it is not there. */
    static String url(SqsClient client) {
        return client.createQueue(r -> r.queueName(NAME)).queueUrl();
    }
}
