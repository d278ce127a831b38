import com.amazonaws.services.lambda.runtime.Context;
import java.util.Map;

/** Tells what it is told about its invocation. */
public class About {
    public Map<String, Object> myHandler(Map<String, Object> event, Context context) {
        return Map.of("id", context.getAwsRequestId(), "arn", context.getInvokedFunctionArn(), "left", context.getRemainingTimeInMillis() > 0);
    }
}
