import java.util.List;
import java.util.Map;

/** What both of Amazon's SDKs for Java can do, in words that the checks share. Each of them says it in its own way: SqsV1, SqsV2. */
interface Sqs extends AutoCloseable {
    /** A message attribute: a text, or bytes. */
    record Value(String type, String text, byte[] bytes) {
        static Value of(String text) {
            return new Value("String", text, null);
        }

        static Value number(String text) {
            return new Value("Number", text, null);
        }

        /** How it is compared and shown. */
        @Override
        public String toString() {
            return type + " " + text + " " + (bytes == null ? "" : java.util.HexFormat.of().formatHex(bytes));
        }
    }

    /** What a message is sent with; null is not said. */
    record Send(String body, Integer delay, String group, String dedup, Map<String, Value> attributes, String trace) {
        static Send of(String body) {
            return new Send(body, null, null, null, Map.of(), null);
        }

        static Send of(String body, Map<String, Value> attributes) {
            return new Send(body, null, null, null, attributes, null);
        }

        static Send of(String body, String group, String dedup) {
            return new Send(body, null, group, dedup, Map.of(), null);
        }

        Send after(int seconds) {
            return new Send(body, seconds, group, dedup, attributes, trace);
        }
    }

    record Sent(String id, String sequence) { }

    /** How messages are received; null is not said. */
    record Receive(int most, Integer patience, Integer visibility, String attempt, List<String> system, List<String> names) {
        static final Receive NOW = new Receive(10, 0, null, null, List.of(), List.of());
        static final Receive SOON = new Receive(10, 20, null, null, List.of(), List.of());
        static final Receive ALL = new Receive(10, 20, null, null, List.of("All"), List.of("All"));

        Receive most(int n) {
            return new Receive(n, patience, visibility, attempt, system, names);
        }

        Receive waiting(Integer seconds) {
            return new Receive(most, seconds, visibility, attempt, system, names);
        }

        Receive hiding(int seconds) {
            return new Receive(most, patience, seconds, attempt, system, names);
        }

        Receive attempt(String id) {
            return new Receive(most, patience, visibility, id, system, names);
        }

        Receive named(String... names) {
            return new Receive(most, patience, visibility, attempt, system, List.of(names));
        }
    }

    record Message(String id, String body, String receipt, Map<String, String> system, Map<String, Value> attributes) { }

    record Failed(String id, String code, boolean sender) { }

    /** The answer to a batch: the ids of the good entries, and what failed. */
    record Batch(List<String> good, List<Failed> failed) { }

    record Page(List<String> urls, String next) { }

    String create(String name, Map<String, String> attributes, Map<String, String> tags);

    String url(String name, String owner);

    Page list(String prefix, Integer most, String next);

    void deleteQueue(String url);

    void purge(String url);

    Map<String, String> attributes(String url, List<String> names);

    void set(String url, Map<String, String> attributes);

    Sent send(String url, Send message);

    /** Sends a batch whose entries have these ids. */
    Batch sendAll(String url, List<String> ids, List<Send> messages);

    List<Message> receive(String url, Receive how);

    void delete(String url, String receipt);

    Batch deleteAll(String url, List<String> receipts);

    void change(String url, String receipt, int seconds);

    Batch changeAll(String url, List<String> receipts, int seconds);

    List<String> sources(String dead);

    String startMove(String arn);

    /** The last task's status and how many it moved. */
    String lastMove(String arn);

    void cancelMove(String handle);

    void tag(String url, Map<String, String> tags);

    void untag(String url, List<String> keys);

    Map<String, String> tags(String url);

    void allow(String url, String label, String account, String action);

    void disallow(String url, String label);

    /** The name of the SDK's own class for an error, or the error's code where it has none; null if it is none of the service's. */
    String error(Exception e);

    @Override
    void close();
}
