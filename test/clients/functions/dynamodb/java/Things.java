import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder.EndpointConfiguration;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import com.amazonaws.services.dynamodbv2.AmazonDynamoDBClientBuilder;
import com.amazonaws.services.dynamodbv2.model.AttributeValue;
import java.util.Map;

/** What both readers share. */
final class Things {
    private Things() {}

    static AmazonDynamoDB connect() {
        return AmazonDynamoDBClientBuilder.standard()
                .withEndpointConfiguration(new EndpointConfiguration(System.getenv("DYNAMODB"), "us-east-1"))
                .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials("local", "local")))
                .build();
    }

    static String read(AmazonDynamoDB client, Map<String, Object> event) {
        event.forEach((name, value) -> System.out.println(name + ": " + value));
        System.out.println("Found: " + client.getItem("things", Map.of("id", new AttributeValue("1"))).getItem().get("name").getS());
        return "SUCCESS";
    }
}
