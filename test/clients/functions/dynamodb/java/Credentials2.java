import com.amazonaws.auth.AWSCredentials;
import java.util.Map;

/** Gets credentials in the constructor. */
public class Credentials2 {
    private final AWSCredentials credentials = Credentials.get();

    public String myHandler(Map<String, Object> event) {
        return Credentials.tell(credentials, event);
    }
}
