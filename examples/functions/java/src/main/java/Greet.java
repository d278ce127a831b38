import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestHandler;
import com.amazonaws.services.lambda.runtime.events.SQSEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Greets whoever a message names. It gets up to ten messages at once, and says which of them failed: only those come again. */
public class Greet implements RequestHandler<SQSEvent, Map<String, List<?>>> {
    @Override
    public Map<String, List<?>> handleRequest(SQSEvent event, Context context) {
        List<String> greetings = new ArrayList<>();
        List<Map<String, String>> failures = new ArrayList<>();
        for (SQSEvent.SQSMessage message : event.getRecords()) {
            if (message.getBody().isBlank()) {
                failures.add(Map.of("itemIdentifier", message.getMessageId()));
            } else {
                greetings.add("hello " + message.getBody());
            }
        }
        context.getLogger().log(greetings.size() + " greeted, " + failures.size() + " failed");
        return Map.of("batchItemFailures", failures, "greetings", greetings);
    }
}
