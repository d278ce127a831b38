import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Map;
import java.util.Objects;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkServiceException;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.CreateFunctionRequest;
import software.amazon.awssdk.services.lambda.model.InvocationType;
import software.amazon.awssdk.services.lambda.model.InvokeResponse;
import software.amazon.awssdk.services.lambda.model.LogType;

/**
 * Speaks to a running hikyaku with Amazon's SDK for Java 2.x, and prints a line a check: "ok NAME" or "not ok NAME: why".
 * The checks and the variables that say where the server is: ../README.md.
 */
public final class Conformance {
    static final String NAME = System.getenv("CLIENT_PREFIX") + "-f";
    static final String PROGRAM = """
        import os
        def handler(event, context):
            if event.get("fail"): raise ValueError(event["fail"])
            return "%s " + str(os.environ.get("GREETING")) + " " + event.get("name", "") + " " + context.function_version
        """;

    static boolean failed = false;
    static LambdaClient functions;

    interface Body {
        void run() throws Exception;
    }

    static void check(String name, Body body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Exception | AssertionError e) {
            failed = true;
            String why = String.valueOf(e).replaceAll("\\s+", " ");
            System.out.println("not ok " + name + ": " + why.substring(0, Math.min(500, why.length())));
        }
    }

    static void want(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("got " + got + ", wanted " + expected);
        }
    }

    /** Demands that the body fails with an error of that class, or of that code where the SDK has no class. */
    static void refused(String error, Body body) throws Exception {
        try {
            body.run();
        } catch (SdkServiceException e) {
            String code = ((software.amazon.awssdk.awscore.exception.AwsServiceException) e).awsErrorDetails().errorCode();
            want(error, e.getClass().getSimpleName().equals("LambdaException") ? code : e.getClass().getSimpleName());
            return;
        }
        throw new AssertionError("this was to be refused as " + error);
    }

    static LambdaClient open(String endpoint, String key, String secret) {
        return LambdaClient.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
            .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(key, secret)))
            .overrideConfiguration(o -> o.retryStrategy(AwsRetryStrategy.doNotRetry())).build();
    }

    static SdkBytes packed(String said, String path) throws Exception {
        var out = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry(path));
            zip.write(PROGRAM.formatted(said).getBytes(StandardCharsets.UTF_8));
        }
        return SdkBytes.fromByteArray(out.toByteArray());
    }

    static CreateFunctionRequest create(String name, SdkBytes zip) {
        return CreateFunctionRequest.builder().functionName(name).runtime("python3.11").role("arn:aws:iam::000000000000:role/any").handler("app.handler").timeout(60)
            .code(c -> c.zipFile(zip)).environment(e -> e.variables(Map.of("GREETING", "こんにちは"))).build();
    }

    static String text(InvokeResponse answer) {
        return answer.payload().asUtf8String();
    }

    static void deploy() throws Exception {
        var made = functions.createFunction(create(NAME, packed("one", "app.py")));
        want("Active", made.stateAsString());
        functions.waiter().waitUntilFunctionActiveV2(r -> r.functionName(NAME));
        want(made.codeSha256(), functions.getFunction(r -> r.functionName(made.functionArn())).configuration().codeSha256());
    }

    static void invoke() {
        var answer = functions.invoke(r -> r.functionName(NAME).payload(SdkBytes.fromUtf8String("{\"name\":\"赤\"}")).logType(LogType.TAIL));
        want("\"one こんにちは 赤 $LATEST\"", unescaped(text(answer)));
        want(true, new String(Base64.getDecoder().decode(answer.logResult()), StandardCharsets.UTF_8).contains("REPORT RequestId: "));
        want("Unhandled", functions.invoke(r -> r.functionName(NAME).payload(SdkBytes.fromUtf8String("{\"fail\":\"x\"}"))).functionError());
        want(202, functions.invoke(r -> r.functionName(NAME).invocationType(InvocationType.EVENT).payload(SdkBytes.fromUtf8String("{}"))).statusCode());
        want(204, functions.invoke(r -> r.functionName(NAME).invocationType(InvocationType.DRY_RUN)).statusCode());
    }

    /** Python writes what is not ASCII as escapes, when nobody tells it otherwise. */
    static String unescaped(String json) {
        return java.util.regex.Pattern.compile("\\\\u([0-9a-f]{4})").matcher(json).replaceAll(m -> String.valueOf((char) Integer.parseInt(m.group(1), 16)));
    }

    static void versions() throws Exception {
        want("1", functions.publishVersion(r -> r.functionName(NAME)).version());
        var zip = packed("two", "app.py");
        functions.updateFunctionCode(r -> r.functionName(NAME).zipFile(zip));
        functions.createAlias(r -> r.functionName(NAME).name("live").functionVersion("1"));
        want(true, text(functions.invoke(r -> r.functionName(NAME).qualifier("live"))).startsWith("\"one "));
        want(true, text(functions.invoke(r -> r.functionName(NAME))).startsWith("\"two "));
    }

    static void errors() throws Exception {
        refused("ResourceNotFoundException", () -> functions.invoke(r -> r.functionName(NAME + "-none")));
        refused("InvalidParameterValueException", () -> functions.createFunction(create(NAME + "-bad", packed("x", "../app.py"))));
        refused("InvalidParameterValueException", () -> functions.createFunction(create(NAME + "-bad", SdkBytes.fromUtf8String("no archive"))));
        refused("ResourceConflictException", () -> functions.createFunction(create(NAME, packed("x", "app.py"))));
    }

    static void signed() throws Exception {
        String endpoint = System.getenv("SIGNED_ENDPOINT");
        try (LambdaClient good = open(endpoint, "couriers", "run-and-relay")) {
            good.createFunction(create(NAME, packed("signed", "app.py")));
            want(true, text(good.invoke(r -> r.functionName(NAME))).startsWith("\"signed "));
        }
        for (String[] as : new String[][] {
            {"couriers", "wrong", "InvalidSignatureException"}, {"nobody", "run-and-relay", "UnrecognizedClientException"}, {"reader", "may-only-take", "AccessDeniedException"}}) {
            try (LambdaClient bad = open(endpoint, as[0], as[1])) {
                refused(as[2], () -> bad.invoke(r -> r.functionName(NAME)));
            }
        }
    }

    static void deletion() throws Exception {
        functions.deleteFunction(r -> r.functionName(NAME));
        refused("ResourceNotFoundException", () -> functions.invoke(r -> r.functionName(NAME)));
    }

    public static void main(String[] args) {
        functions = open(System.getenv("LAMBDA_ENDPOINT"), "any", "thing");
        check("deploy", Conformance::deploy);
        check("invoke", Conformance::invoke);
        check("versions", Conformance::versions);
        check("errors", Conformance::errors);
        check("signed", Conformance::signed);
        check("delete", Conformance::deletion);
        functions.close();
        System.exit(failed ? 1 : 0);
    }
}
