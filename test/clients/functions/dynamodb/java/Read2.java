import com.amazonaws.services.dynamodbv2.AmazonDynamoDB;
import java.util.Map;

/** Makes its client in the constructor. */
public class Read2 {
    private final AmazonDynamoDB client = Things.connect();

    public String myHandler(Map<String, Object> event) {
        return Things.read(client, event);
    }
}
