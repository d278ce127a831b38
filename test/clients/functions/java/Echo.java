import java.util.Map;

/** Answers its event, without an interface of the provider's. */
public class Echo {
    public Map<String, Object> myHandler(Map<String, Object> event) {
        return event;
    }
}
