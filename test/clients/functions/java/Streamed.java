import com.amazonaws.services.lambda.runtime.Context;
import com.amazonaws.services.lambda.runtime.RequestStreamHandler;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;

/** Answers its event byte for byte, through an interface of the provider's. */
public class Streamed implements RequestStreamHandler {
    @Override
    public void handleRequest(InputStream in, OutputStream out, Context context) throws IOException {
        in.transferTo(out);
    }
}
