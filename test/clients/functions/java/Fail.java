import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import java.util.Map;

/** Fails, through an interface of the provider's. */
public class Fail implements RequestHandler<Map<String, Object>, String> {
    /** An error with a name. */
    public static class TooFar extends RuntimeException {
        TooFar() {
            super("too far");
        }
    }

    @Override
    public String handleRequest(Map<String, Object> event, Context context) {
        throw new TooFar();
    }
}
