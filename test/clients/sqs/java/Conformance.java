import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Speaks to a running hikyaku with one of Amazon's SDKs for Java, "v1" or "v2", and prints a line a check: "ok NAME" or "not ok NAME: why".
 * The checks and the variables that say where the server is: ../README.md.
 */
public final class Conformance {
    static final int PATIENCE = 60; // seconds that only a broken server needs
    static final int WAITING = 200;
    static final String ACCOUNT = "000000000000";
    static final String TEXT = "こんにちは 🚚 é <&> \"'\t\r\n";
    static final String PREFIX = System.getenv("CLIENT_PREFIX");

    static boolean failed = false;
    static String version;
    static Sqs sqs;

    interface Body {
        void run() throws Exception;
    }

    static void check(String name, Body body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Exception | AssertionError e) {
            failed = true;
            String where = Stream.of(e.getStackTrace()).filter(f -> f.getClassName().startsWith("Conformance")).skip(e instanceof AssertionError ? 1 : 0).findFirst().map(Object::toString).orElse("");
            String why = (e + " " + where).replaceAll("\\s+", " ");
            System.out.println("not ok " + name + ": " + why.substring(0, Math.min(500, why.length())));
        }
    }

    static void want(Object expected, Object got) {
        if (!Objects.equals(expected, got)) {
            throw new AssertionError("got " + show(got) + ", wanted " + show(expected));
        }
    }

    static String show(Object v) {
        String s = String.valueOf(v);
        return s.length() > 200 ? s.substring(0, 200) + "…" : s;
    }

    /** Demands that the body fails with an error of that name: of the SDK's class, or the code where it has none. */
    static void refused(String error, Body body) throws Exception {
        try {
            body.run();
        } catch (Exception e) {
            if (sqs.error(e) == null) {
                throw e;
            }
            want(error, sqs.error(e));
            return;
        }
        throw new AssertionError("nothing was raised, wanted " + error);
    }

    static Sqs open(String endpoint, String key, String secret) {
        return version.equals("v1") ? new SqsV1(endpoint, key, secret, WAITING + 10) : new SqsV2(endpoint, key, secret, WAITING + 10);
    }

    static String name(String n) {
        return PREFIX + "-" + n;
    }

    static String queue(String n, String... attributes) {
        Map<String, String> map = new TreeMap<>();
        for (int i = 0; i < attributes.length; i += 2) {
            map.put(attributes[i], attributes[i + 1]);
        }
        return sqs.create(name(n), map, Map.of());
    }

    static List<String> ask(String url, String... names) {
        Map<String, String> got = sqs.attributes(url, List.of(names));
        return Stream.of(names).map(n -> String.valueOf(got.get(n))).toList();
    }

    static List<String> bodies(List<Sqs.Message> messages) {
        return messages.stream().map(Sqs.Message::body).toList();
    }

    static List<String> sorted(List<String> texts) {
        return texts.stream().sorted().toList();
    }

    static void empty(String url) {
        want(List.of(), bodies(sqs.receive(url, Sqs.Receive.NOW)));
    }

    static Sqs.Message one(String url, Sqs.Receive how) {
        List<Sqs.Message> got = sqs.receive(url, how);
        want(1, got.size());
        return got.get(0);
    }

    /** Receives and deletes n messages, in the order in which they come. */
    static List<Sqs.Message> drain(String url, int n, Sqs.Receive how) {
        List<Sqs.Message> got = new ArrayList<>();
        for (long late = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE); got.size() < n;) {
            List<Sqs.Message> some = sqs.receive(url, how.waiting(20));
            some.forEach(m -> sqs.delete(url, m.receipt()));
            got.addAll(some);
            want(true, System.nanoTime() < late);
        }
        return got;
    }

    static void eventually(Object expected, Supplier<Object> ask) throws InterruptedException {
        for (long late = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE);;) {
            Object got = ask.get();
            if (expected.equals(got) || System.nanoTime() > late) {
                want(expected, got);
                return;
            }
            Thread.sleep(50);
        }
    }

    static boolean longer(long began, int milliseconds) {
        return System.nanoTime() - began > TimeUnit.MILLISECONDS.toNanos(milliseconds);
    }

    static String plain(Map<String, Sqs.Value> attributes) {
        return new TreeMap<>(attributes).toString();
    }

    static void queues() throws Exception {
        String url = queue("queues", "VisibilityTimeout", "45", "DelaySeconds", "0");
        want("/" + ACCOUNT + "/" + name("queues"), URI.create(url).getPath());
        want(url, queue("queues", "VisibilityTimeout", "45"));
        want(url, queue("queues"));
        want(url, sqs.url(name("queues"), ACCOUNT));
        refused("QueueNameExists", () -> queue("queues", "VisibilityTimeout", "46"));
        refused("InvalidParameterValue", () -> queue("not a name"));
        List<String> urls = IntStream.range(0, 5).mapToObj(i -> queue("page-" + i)).toList();
        List<Integer> sizes = new ArrayList<>();
        List<String> listed = new ArrayList<>();
        String next = null;
        do {
            Sqs.Page page = sqs.list(name("page-"), 2, next);
            sizes.add(page.urls().size());
            listed.addAll(page.urls());
            next = page.next();
        } while (next != null);
        want(List.of(2, 2, 1), sizes);
        want(urls, sorted(listed));
        want(List.of(), sqs.list(name("none"), null, null).urls());
    }

    static void attributes() throws Exception {
        Map<String, String> given = Map.of("VisibilityTimeout", "33", "DelaySeconds", "0", "MaximumMessageSize", "2048", "MessageRetentionPeriod", "3600",
            "ReceiveMessageWaitTimeSeconds", "0", "Policy", "{\"Version\": \"2012-10-17\", \"Statement\": []}", "KmsMasterKeyId", "alias/some", "KmsDataKeyReusePeriodSeconds", "600");
        String url = sqs.create(name("attributes"), given, Map.of());
        Map<String, String> all = sqs.attributes(url, List.of("All"));
        given.forEach((n, v) -> want(n + " " + v, n + " " + all.get(n)));
        want(true, all.get("QueueArn").endsWith(":" + ACCOUNT + ":" + name("attributes")));
        sqs.set(url, Map.of("VisibilityTimeout", "44", "Policy", ""));
        want(List.of("44", "null"), ask(url, "VisibilityTimeout", "Policy"));
        sqs.send(url, Sqs.Send.of("one"));
        sqs.send(url, Sqs.Send.of("two"));
        sqs.send(url, Sqs.Send.of("three").after(600));
        want(1, sqs.receive(url, Sqs.Receive.NOW.most(1)).size());
        want(List.of("1", "1", "1"), ask(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"));
        refused("InvalidAttributeName", () -> ask(url, "Colour"));
        refused("InvalidAttributeName", () -> sqs.set(url, Map.of("Colour", "red")));
        refused("InvalidAttributeValue", () -> sqs.set(url, Map.of("VisibilityTimeout", "43201")));
        refused("InvalidParameterValue", () -> sqs.send(url, Sqs.Send.of("x".repeat(2049))));
    }

    static void sendAndReceive() throws Exception {
        String url = queue("send");
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Map<String, Sqs.Value> given = Map.of("lang", Sqs.Value.of("ja"), "price", Sqs.Value.number("12.50"), "colour", new Sqs.Value("String.name", "赤", null),
            "big", Sqs.Value.number("123456789012345678901234567890"), "bytes", new Sqs.Value("Binary", null, bytes), "picture", new Sqs.Value("Binary.png", null, new byte[] {(byte) 0x89, 'P'}));
        String trace = "Root=1-5759e988-bd862e3fe1be46a994272793";
        Sqs.Sent sent = sqs.send(url, new Sqs.Send(TEXT, null, null, null, given, trace));
        Sqs.Message m = one(url, Sqs.Receive.ALL);
        want(List.of(TEXT, sent.id(), plain(given)), List.of(m.body(), m.id(), plain(m.attributes())));
        want(List.of("1", trace), List.of(m.system().get("ApproximateReceiveCount"), m.system().get("AWSTraceHeader")));
        want(true, Math.abs(System.currentTimeMillis() - Long.parseLong(m.system().get("SentTimestamp"))) < 60_000 && m.system().containsKey("SenderId"));
        sqs.delete(url, m.receipt());
        sqs.delete(url, m.receipt()); // twice is no error
        Sqs.Value v = Sqs.Value.of("1");
        sqs.send(url, Sqs.Send.of("some", Map.of("a.x", v, "a.y", v, "b", v, "c", v)));
        Sqs.Message some = drain(url, 1, new Sqs.Receive(10, 5, null, null, List.of("SentTimestamp"), List.of("a.*", "c"))).get(0);
        want(List.of(Set.of("SentTimestamp"), Set.of("a.x", "a.y", "c")), List.of(some.system().keySet(), some.attributes().keySet()));
        String large = "飛".repeat(1 << 18); // three bytes each
        sqs.send(url, Sqs.Send.of(large));
        want(List.of(large), bodies(drain(url, 1, Sqs.Receive.NOW)));
        refused("InvalidParameterValue", () -> sqs.send(url, Sqs.Send.of("x".repeat((1 << 20) + 1))));
        refused("InvalidMessageContents", () -> sqs.send(url, Sqs.Send.of("a\u0001b")));
        refused("InvalidParameterValue", () -> sqs.send(url, Sqs.Send.of("x", Map.of("n", Sqs.Value.number("12a")))));
    }

    static void batches() throws Exception {
        String url = queue("batch");
        Sqs.Batch sent = sqs.sendAll(url, List.of("good", "late", "fine"), List.of(Sqs.Send.of("good"), Sqs.Send.of("late").after(901), Sqs.Send.of("fine")));
        want(List.of("fine", "good"), sorted(sent.good()));
        want(List.of("late true"), sent.failed().stream().map(f -> f.id() + " " + f.sender()).toList());
        List<Sqs.Message> got = new ArrayList<>();
        while (got.size() < 2) {
            got.addAll(sqs.receive(url, Sqs.Receive.SOON));
        }
        List<String> receipts = List.of(got.get(0).receipt(), "nonsense", got.get(1).receipt());
        List<Sqs.Failed> nonsense = List.of(new Sqs.Failed("1", "ReceiptHandleIsInvalid", true));
        want(new Sqs.Batch(List.of("0", "2"), nonsense), sqs.changeAll(url, receipts, 60));
        want(new Sqs.Batch(List.of("0", "2"), nonsense), sqs.deleteAll(url, receipts));
        empty(url);
        refused("EmptyBatchRequest", () -> batch(url, "x"));
        refused("TooManyEntriesInBatchRequest", () -> batch(url, "x", "abcdefghijk".split("")));
        refused("BatchEntryIdsNotDistinct", () -> batch(url, "x", "a", "b", "a"));
        refused("InvalidBatchEntryId", () -> batch(url, "x", "a b"));
        refused("BatchRequestTooLong", () -> batch(url, "x".repeat(600_000), "a", "b"));
    }

    static void batch(String url, String body, String... ids) {
        sqs.sendAll(url, List.of(ids), Stream.of(ids).map(id -> Sqs.Send.of(body)).toList());
    }

    static void longPoll() throws Exception {
        String url = queue("poll", "ReceiveMessageWaitTimeSeconds", "1");
        long began = System.nanoTime();
        want(List.of(), sqs.receive(url, Sqs.Receive.NOW.waiting(null))); // the queue says how long
        want(true, longer(began, 900));
        try (var pool = new Pool(1)) {
            Future<List<Sqs.Message>> poll = pool.threads.submit(() -> sqs.receive(url, Sqs.Receive.NOW.waiting(20)));
            Thread.sleep(200);
            began = System.nanoTime();
            sqs.send(url, Sqs.Send.of("now"));
            want(List.of("now"), bodies(poll.get()));
            want(false, longer(began, 15_000));
        }
    }

    /** Threads that end with it. */
    static final class Pool implements AutoCloseable {
        final java.util.concurrent.ExecutorService threads;

        Pool(int n) {
            threads = Executors.newFixedThreadPool(n);
        }

        @Override
        public void close() {
            threads.shutdownNow();
        }
    }

    static void manyWaiting() throws Exception {
        String url = queue("waiting", "VisibilityTimeout", "600");
        try (var pool = new Pool(WAITING)) {
            List<Future<List<Sqs.Message>>> polls = new ArrayList<>();
            for (int i = 0; i < WAITING; i++) {
                polls.add(pool.threads.submit(() -> sqs.receive(url, Sqs.Receive.NOW.most(1).waiting(6))));
            }
            Thread.sleep(1000);
            sqs.send(url, Sqs.Send.of("one of you"));
            List<String> got = new ArrayList<>();
            for (var p : polls) {
                got.addAll(bodies(p.get()));
            }
            want(List.of("one of you"), got);
        }
    }

    static void visibility() throws Exception {
        String url = queue("visibility", "VisibilityTimeout", "1");
        sqs.send(url, Sqs.Send.of("again"));
        long began = System.nanoTime();
        Sqs.Message first = one(url, Sqs.Receive.ALL);
        Sqs.Message second = one(url, Sqs.Receive.ALL.hiding(600)); // after a second
        want(true, longer(began, 900));
        empty(url);
        want(List.of("1", "2"), Stream.of(first, second).map(m -> m.system().get("ApproximateReceiveCount")).toList());
        want(first.system().get("ApproximateFirstReceiveTimestamp"), second.system().get("ApproximateFirstReceiveTimestamp"));
        want(false, first.receipt().equals(second.receipt()));
        sqs.change(url, second.receipt(), 0);
        Sqs.Message third = one(url, Sqs.Receive.SOON.hiding(600));
        sqs.delete(url, third.receipt());
        refused("InvalidParameterValue", () -> sqs.change(url, third.receipt(), 43201));
        refused("ReceiptHandleIsInvalid", () -> sqs.change(url, "nonsense", 5));
    }

    /** Makes a queue whose messages may be received twice, and that of its dead letters: their URLs, and the ARN of the second. */
    static List<String> deadLetters(String n) {
        String dead = queue(n + "-dead");
        String arn = ask(dead, "QueueArn").get(0);
        String url = queue(n, "VisibilityTimeout", "600", "RedrivePolicy", "{\"deadLetterTargetArn\": \"" + arn + "\", \"maxReceiveCount\": 2}");
        return List.of(url, dead, arn);
    }

    /** Receives n messages and gives them back, as often as they may be received. */
    static void fail(String url, int n) {
        for (int i = 0; i < 2 * n; i++) {
            sqs.change(url, one(url, Sqs.Receive.SOON.most(1)).receipt(), 0);
        }
        empty(url);
    }

    static void deadLetter() {
        List<String> made = deadLetters("redrive");
        String url = made.get(0);
        want(List.of(url), sqs.sources(made.get(1)));
        Map<String, Sqs.Value> attributes = Map.of("k", Sqs.Value.of("v"));
        Sqs.Sent sent = sqs.send(url, Sqs.Send.of("poison", attributes));
        fail(url, 1);
        Sqs.Message m = one(made.get(1), Sqs.Receive.ALL);
        want(List.of("poison", sent.id(), plain(attributes)), List.of(m.body(), m.id(), plain(m.attributes())));
        want(ask(url, "QueueArn").get(0), m.system().get("DeadLetterQueueSourceArn"));
    }

    static void move() throws Exception {
        List<String> made = deadLetters("move");
        String url = made.get(0);
        String arn = made.get(2);
        sqs.send(url, Sqs.Send.of("one"));
        sqs.send(url, Sqs.Send.of("two"));
        fail(url, 2);
        eventually(List.of("2"), () -> ask(made.get(1), "ApproximateNumberOfMessages"));
        String handle = sqs.startMove(arn);
        eventually("COMPLETED 2", () -> sqs.lastMove(arn));
        want(List.of("one", "two"), sorted(bodies(drain(url, 2, Sqs.Receive.NOW))));
        refused("ResourceNotFound", () -> sqs.startMove(arn + "-not-there"));
        try {
            sqs.cancelMove(handle);
        } catch (Exception e) {
            return;
        }
        throw new AssertionError("a task that is over can be cancelled");
    }

    static void delay() {
        String url = queue("delay", "DelaySeconds", "1");
        long began = System.nanoTime();
        sqs.send(url, Sqs.Send.of("as the queue says"));
        sqs.send(url, Sqs.Send.of("at once").after(0));
        want(List.of("at once"), bodies(drain(url, 1, Sqs.Receive.NOW)));
        want(List.of("as the queue says"), bodies(drain(url, 1, Sqs.Receive.NOW)));
        want(true, longer(began, 900));
    }

    static void purge() throws Exception {
        String url = queue("purge");
        for (int i = 0; i < 30; i++) {
            sqs.send(url, Sqs.Send.of("x"));
        }
        sqs.receive(url, Sqs.Receive.NOW);
        sqs.purge(url);
        eventually(List.of("0", "0"), () -> ask(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"));
        empty(url);
        refused("PurgeQueueInProgress", () -> sqs.purge(url));
    }

    static void tags() {
        String url = sqs.create(name("tags"), Map.of(), Map.of("team", "couriers"));
        sqs.tag(url, Map.of("cost", "none", "色", "赤"));
        want(Map.of("team", "couriers", "cost", "none", "色", "赤"), sqs.tags(url));
        sqs.untag(url, List.of("cost", "team"));
        want(Map.of("色", "赤"), sqs.tags(url));
    }

    static void permission() throws Exception {
        String url = queue("permission");
        sqs.allow(url, "let-them", "111122223333", "SendMessage");
        want(true, ask(url, "Policy").get(0).contains("\"let-them\""));
        sqs.disallow(url, "let-them");
        refused("InvalidParameterValue", () -> sqs.disallow(url, "let-them"));
    }

    static List<String> numbered(String group, int from) {
        return IntStream.range(from, 20).mapToObj(i -> group + "%02d".formatted(i)).toList();
    }

    static void fifo() throws Exception {
        String url = queue("order.fifo", "FifoQueue", "true", "VisibilityTimeout", "600");
        List<String> groups = List.of("a", "b", "c");
        for (int i = 0; i < 20; i++) {
            int n = i;
            want(3, sqs.sendAll(url, groups, groups.stream().map(g -> Sqs.Send.of(numbered(g, n).get(0), g, g + n)).toList()).good().size());
        }
        Sqs.Message held = one(url, Sqs.Receive.SOON.most(1)); // its group stands still, the others do not
        String group = held.body().substring(0, 1);
        List<String> others = bodies(drain(url, 40, Sqs.Receive.NOW));
        for (String g : groups) {
            want(g.equals(group) ? List.of() : numbered(g, 0), others.stream().filter(b -> b.startsWith(g)).toList());
        }
        empty(url);
        sqs.delete(url, held.receipt());
        List<Sqs.Message> rest = drain(url, 19, Sqs.Receive.ALL);
        want(numbered(group, 1), bodies(rest));
        List<java.math.BigInteger> numbers = rest.stream().map(m -> new java.math.BigInteger(m.system().get("SequenceNumber"))).toList();
        want(new ArrayList<>(new TreeSet<>(numbers)), numbers);
        want(List.of(group, group + "19"), List.of(rest.get(18).system().get("MessageGroupId"), rest.get(18).system().get("MessageDeduplicationId")));
        refused("MissingParameter", () -> sqs.send(url, Sqs.Send.of("x", null, "x")));
        refused("InvalidParameterValue", () -> queue("no-ending", "FifoQueue", "true"));
    }

    static void dedup() throws Exception {
        String url = queue("dedup.fifo", "FifoQueue", "true", "ContentBasedDeduplication", "true");
        Sqs.Sent one = sqs.send(url, Sqs.Send.of("same", "g", null));
        want(one, sqs.send(url, Sqs.Send.of("same", "g", null)));
        want(false, one.id().equals(sqs.send(url, Sqs.Send.of("same", "g", "own")).id()));
        List<Sqs.Message> got = sqs.receive(url, Sqs.Receive.SOON.attempt("try-1"));
        want(List.of("same", "same"), bodies(got));
        List<Sqs.Message> again = sqs.receive(url, Sqs.Receive.NOW.attempt("try-1")); // whoever lost the answer gets it again
        want(got.stream().map(Sqs.Message::id).toList(), again.stream().map(Sqs.Message::id).toList());
        again.forEach(m -> sqs.delete(url, m.receipt()));
        want(one.id(), sqs.send(url, Sqs.Send.of("same", "g", null)).id());
        empty(url);
        String bare = queue("bare.fifo", "FifoQueue", "true");
        refused("InvalidParameterValue", () -> sqs.send(bare, Sqs.Send.of("x", "g", null)));
    }

    static void errors() throws Exception {
        String url = queue("errors");
        String missing = url + "-missing";
        refused("QueueDoesNotExist", () -> sqs.url(name("errors-missing"), null));
        refused("QueueDoesNotExist", () -> sqs.send(missing, Sqs.Send.of("x")));
        refused("QueueDoesNotExist", () -> sqs.receive(missing, Sqs.Receive.NOW));
        refused("QueueDoesNotExist", () -> sqs.deleteQueue(missing));
        refused("ReceiptHandleIsInvalid", () -> sqs.delete(url, "nonsense"));
        refused("InvalidParameterValue", () -> sqs.receive(url, Sqs.Receive.NOW.most(11)));
        refused("InvalidParameterValue", () -> sqs.receive(url, Sqs.Receive.NOW.waiting(21)));
        sqs.send(url, Sqs.Send.of("soon gone"));
        Sqs.Message m = drain(url, 1, Sqs.Receive.NOW).get(0);
        refused("InvalidParameterValue", () -> sqs.change(url, m.receipt(), 5));
    }

    static void where() throws Exception {
        String url = queue("where", "VisibilityTimeout", "600");
        for (String[] m : new String[][] {{"a", "ja", "1"}, {"b", "ja", "5"}, {"c", "en", "7"}, {"d", "ja", "9"}}) {
            sqs.send(url, Sqs.Send.of(m[0], Map.of("lang", Sqs.Value.of(m[1]), "priority", Sqs.Value.number(m[2]))));
        }
        List<Sqs.Message> high = sqs.receive(url, Sqs.Receive.NOW.named("hikyaku.where:lang = 'ja' and priority >= 3", "lang"));
        want(List.of("b", "d"), bodies(high));
        want(Set.of("lang"), high.get(0).attributes().keySet());
        want(List.of(), bodies(sqs.receive(url, Sqs.Receive.NOW.named("hikyaku.where:lang = 'fr'"))));
        want(List.of("c"), bodies(sqs.receive(url, Sqs.Receive.NOW.named("hikyaku.where:lang <> 'ja'"))));
        refused("InvalidParameterValue", () -> sqs.receive(url, Sqs.Receive.NOW.named("hikyaku.where:lang = ")));
    }

    static String post(String path, String json) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(System.getenv("HTTP_ENDPOINT") + "/default/" + path)).header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(json)).build();
        HttpResponse<String> answer = HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
        want(2, answer.statusCode() / 100);
        return answer.body();
    }

    static String found(String pattern, String text) {
        var m = Pattern.compile(pattern).matcher(text);
        want(true, m.find());
        return m.group(1);
    }

    static void shared() throws Exception {
        String url = queue("shared", "VisibilityTimeout", "600");
        String put = post("queues/" + name("shared") + "/messages", "{\"body\": \"hello\", \"attributes\": {\"lang\": \"ja\", \"priority\": 5, \"raw\": {\"base64\": \"AP8=\"}}}");
        Sqs.Message m = drain(url, 1, Sqs.Receive.SOON.named("All", "hikyaku.where:priority = 5")).get(0);
        want(List.of("hello", found("\"id\":\"([^\"]*)\"", put)), List.of(m.body(), m.id()));
        want(plain(Map.of("lang", Sqs.Value.of("ja"), "priority", Sqs.Value.number("5"), "raw", new Sqs.Value("Binary", null, new byte[] {0, (byte) 255}))), plain(m.attributes()));
        sqs.send(url, Sqs.Send.of("back", Map.of("priority", Sqs.Value.number("7"))));
        sqs.send(url, Sqs.Send.of("other", Map.of("priority", Sqs.Value.number("1"))));
        String claimed = post("queues/" + name("shared") + "/claim", "{\"where\": \"priority > 6\", \"max\": 10}");
        want("back", found("\"body\":\"([^\"]*)\"", claimed));
        post("settle", "{\"settlements\": [{\"token\": \"" + found("\"token\":\"([^\"]*)\"", claimed) + "\", \"as\": \"done\"}]}");
        want(List.of("other"), bodies(sqs.receive(url, Sqs.Receive.NOW)));
    }

    static void signed() throws Exception {
        String endpoint = System.getenv("SIGNED_ENDPOINT");
        String url;
        try (Sqs good = open(endpoint, "couriers", "run-and-relay")) {
            url = good.create(name("signed"), Map.of(), Map.of());
            good.send(url, Sqs.Send.of(TEXT));
            want(List.of(TEXT), bodies(good.receive(url, Sqs.Receive.SOON)));
        }
        for (String[] as : new String[][] {
            {"couriers", "wrong", "SignatureDoesNotMatch"}, {"nobody", "run-and-relay", "InvalidClientTokenId"}, {"reader", "may-only-take", "AccessDenied"}}) {
            try (Sqs bad = open(endpoint, as[0], as[1])) {
                refused(as[2], () -> bad.send(url, Sqs.Send.of("x")));
            }
        }
    }

    static void deletion() throws Exception {
        String url = queue("delete");
        sqs.send(url, Sqs.Send.of("x"));
        sqs.deleteQueue(url);
        refused("QueueDoesNotExist", () -> sqs.receive(url, Sqs.Receive.NOW));
        want(List.of(), sqs.list(name("delete"), null, null).urls());
        refused("QueueDeletedRecently", () -> queue("delete"));
    }

    /** The shapes of a push delivery: a collector sends what goes to ten users in a message, a sender receives on several threads. */
    static void collectorAndSender() throws Exception {
        String url = queue("content", "VisibilityTimeout", "600");
        int messages = 1000;
        Map<Integer, Integer> served = new ConcurrentHashMap<>();
        try (var pool = new Pool(8)) {
            List<Future<?>> senders = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                senders.add(pool.threads.submit(() -> {
                    while (served.size() < 10 * messages) {
                        for (Sqs.Message m : sqs.receive(url, Sqs.Receive.NOW.waiting(1))) {
                            for (String user : m.body().split(",")) {
                                served.merge(Integer.parseInt(user), 1, Integer::sum);
                            }
                            sqs.delete(url, m.receipt());
                        }
                    }
                }));
            }
            for (int i = 0; i < messages; i++) {
                int first = 10 * i;
                sqs.send(url, Sqs.Send.of(IntStream.range(first, first + 10).mapToObj(Integer::toString).collect(Collectors.joining(","))));
            }
            for (Future<?> s : senders) {
                s.get(3 * PATIENCE, TimeUnit.SECONDS);
            }
        }
        want(10 * messages, served.size());
        want(1, Collections.max(served.values()));
        want(List.of("0", "0"), ask(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"));
    }

    public static void main(String[] args) {
        version = args[0];
        sqs = open(System.getenv("SQS_ENDPOINT"), "any", "thing");
        check("queues", Conformance::queues);
        check("attributes", Conformance::attributes);
        check("send-receive", Conformance::sendAndReceive);
        check("batches", Conformance::batches);
        check("long-poll", Conformance::longPoll);
        check("many-waiting", Conformance::manyWaiting);
        check("visibility", Conformance::visibility);
        check("dead-letter", Conformance::deadLetter);
        check("move", Conformance::move);
        check("delay", Conformance::delay);
        check("purge", Conformance::purge);
        check("tags", Conformance::tags);
        check("permission", Conformance::permission);
        check("fifo", Conformance::fifo);
        check("dedup", Conformance::dedup);
        check("errors", Conformance::errors);
        check("where", Conformance::where);
        check("shared", Conformance::shared);
        check("signed", Conformance::signed);
        check("collector-sender", Conformance::collectorAndSender);
        check("delete", Conformance::deletion);
        sqs.close();
        System.exit(failed ? 1 : 0);
    }
}
