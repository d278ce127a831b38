import java.util.Map;

/** Gets credentials in the handler. */
public class Credentials1 {
    public String myHandler(Map<String, Object> event) {
        return Credentials.tell(Credentials.get(), event);
    }
}
