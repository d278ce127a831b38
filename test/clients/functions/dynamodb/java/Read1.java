import java.util.Map;

/** Makes its client in the handler. */
public class Read1 {
    public String myHandler(Map<String, Object> event) {
        return Things.read(Things.connect(), event);
    }
}
