import com.google.api.core.ApiFuture;
import com.google.api.core.ApiFutures;
import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.grpc.GrpcTransportChannel;
import com.google.api.gax.rpc.ApiException;
import com.google.api.gax.rpc.FixedTransportChannelProvider;
import com.google.api.gax.rpc.TransportChannelProvider;
import com.google.cloud.pubsub.v1.AckReplyConsumer;
import com.google.cloud.pubsub.v1.AckReplyConsumerWithResponse;
import com.google.cloud.pubsub.v1.AckResponse;
import com.google.cloud.pubsub.v1.MessageReceiver;
import com.google.cloud.pubsub.v1.MessageReceiverWithAckResponse;
import com.google.cloud.pubsub.v1.Publisher;
import com.google.cloud.pubsub.v1.SchemaServiceClient;
import com.google.cloud.pubsub.v1.SchemaServiceSettings;
import com.google.cloud.pubsub.v1.Subscriber;
import com.google.cloud.pubsub.v1.SubscriberShutdownSettings;
import com.google.cloud.pubsub.v1.SubscriptionAdminClient;
import com.google.cloud.pubsub.v1.SubscriptionAdminSettings;
import com.google.cloud.pubsub.v1.TopicAdminClient;
import com.google.cloud.pubsub.v1.TopicAdminSettings;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.FieldMask;
import com.google.protobuf.util.Timestamps;
import com.google.pubsub.v1.CommitSchemaRequest;
import com.google.pubsub.v1.DeadLetterPolicy;
import com.google.pubsub.v1.Encoding;
import com.google.pubsub.v1.ProjectName;
import com.google.pubsub.v1.PubsubMessage;
import com.google.pubsub.v1.PullRequest;
import com.google.pubsub.v1.ReceivedMessage;
import com.google.pubsub.v1.RetryPolicy;
import com.google.pubsub.v1.Schema;
import com.google.pubsub.v1.SchemaSettings;
import com.google.pubsub.v1.SeekRequest;
import com.google.pubsub.v1.Subscription;
import com.google.pubsub.v1.Topic;
import com.google.pubsub.v1.UpdateSubscriptionRequest;
import com.google.pubsub.v1.UpdateTopicRequest;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Status;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * Speaks to a running hikyaku with google-cloud-pubsub for Java and prints a line a check: "ok NAME" or "not ok NAME: why".
 * The checks and the variables that say where the server is: ../README.md.
 */
public final class Conformance {
    static final int PATIENCE = 60; // seconds that only a broken server needs
    static final int SOON = 5; // seconds, less than any deadline of the libraries
    static final String PROJECT = System.getenv("CLIENT_PROJECT");
    static final String TEXT = "こんにちは 🚚 é";

    static boolean failed = false;
    static TransportChannelProvider channel;
    static TopicAdminClient topics;
    static SubscriptionAdminClient subscriptions;

    interface Body {
        void run() throws Exception;
    }

    static void check(String name, Body body) {
        try {
            body.run();
            System.out.println("ok " + name);
        } catch (Exception | AssertionError e) {
            failed = true;
            String why = (e + " " + (e.getCause() == null ? "" : e.getCause())).replaceAll("\\s+", " ");
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

    /** Demands that the code is what the body fails with. */
    static void refused(Status.Code code, Body body) throws Exception {
        try {
            body.run();
        } catch (Exception e) {
            for (Throwable t = e; t != null; t = t.getCause()) {
                if (t instanceof ApiException a) {
                    want(code.name(), a.getStatusCode().getCode().name());
                    return;
                }
            }
            throw e;
        }
        throw new AssertionError("nothing was raised, wanted " + code);
    }

    static String topic(String name) {
        return "projects/" + PROJECT + "/topics/" + name;
    }

    static String subscription(String name) {
        return "projects/" + PROJECT + "/subscriptions/" + name;
    }

    static Subscription.Builder to(String name) {
        return Subscription.newBuilder().setName(subscription(name)).setTopic(topic(name));
    }

    /** Makes a topic and a subscription of one name. */
    static void make(Subscription.Builder s) {
        topics.createTopic(s.getTopic());
        subscriptions.createSubscription(s.build());
    }

    static void make(String name) {
        make(to(name));
    }

    static List<String> numbered(int n) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < n; i++) {
            texts.add("message %04d".formatted(i));
        }
        return texts;
    }

    static Publisher.Builder publisher(String name) {
        return Publisher.newBuilder(topic(name)).setChannelProvider(channel).setCredentialsProvider(NoCredentialsProvider.create());
    }

    /** Publishes all at once, and waits until they are stored. */
    static List<String> publish(Publisher p, PubsubMessage... messages) throws Exception {
        List<ApiFuture<String>> done = new ArrayList<>();
        for (PubsubMessage m : messages) {
            done.add(p.publish(m));
        }
        return ApiFutures.allAsList(done).get(PATIENCE, TimeUnit.SECONDS);
    }

    static List<String> publish(Publisher.Builder builder, String key, List<String> texts) throws Exception {
        Publisher p = builder.build();
        try {
            return publish(p, texts.stream().map(t -> PubsubMessage.newBuilder().setData(ByteString.copyFromUtf8(t)).setOrderingKey(key).build()).toArray(PubsubMessage[]::new));
        } finally {
            p.shutdown();
            p.awaitTermination(PATIENCE, TimeUnit.SECONDS);
        }
    }

    static List<String> publish(String name, List<String> texts) throws Exception {
        return publish(publisher(name), "", texts);
    }

    interface Handler {
        boolean handle(PubsubMessage m, AckReplyConsumer reply);
    }

    /** Streams until the handler said true for n messages. */
    static void receive(String name, int n, Handler handler) throws Exception {
        CountDownLatch left = new CountDownLatch(n);
        MessageReceiver receiver = (m, reply) -> {
            if (handler.handle(m, reply)) {
                left.countDown();
            }
        };
        stream(Subscriber.newBuilder(subscription(name), receiver), left, n);
    }

    static Subscriber.Builder local(Subscriber.Builder builder) {
        return builder.setChannelProvider(channel).setCredentialsProvider(NoCredentialsProvider.create());
    }

    static void stream(Subscriber.Builder builder, CountDownLatch left, int n) throws Exception {
        Subscriber s = local(builder).build();
        s.startAsync().awaitRunning(PATIENCE, TimeUnit.SECONDS);
        try {
            if (!left.await(PATIENCE, TimeUnit.SECONDS)) {
                throw new AssertionError(left.getCount() + " of " + n + " messages did not come");
            }
        } finally {
            s.stopAsync().awaitTerminated(PATIENCE, TimeUnit.SECONDS);
        }
    }

    /** Acknowledges n messages and returns them. */
    static List<PubsubMessage> received(String name, int n) throws Exception {
        List<PubsubMessage> messages = Collections.synchronizedList(new ArrayList<>());
        receive(name, n, (m, reply) -> {
            messages.add(m);
            reply.ack();
            return true;
        });
        return messages;
    }

    static List<String> texts(List<PubsubMessage> messages) {
        return new ArrayList<>(messages.stream().map(m -> m.getData().toStringUtf8()).toList());
    }

    static List<String> sorted(List<String> texts) {
        Collections.sort(texts);
        return texts;
    }

    @SuppressWarnings("deprecation")
    static List<ReceivedMessage> pull(String name, int most, boolean atOnce) {
        return subscriptions.pullCallable().call(PullRequest.newBuilder().setSubscription(subscription(name)).setMaxMessages(most).setReturnImmediately(atOnce).build())
            .getReceivedMessagesList();
    }

    /** Demands that a subscription has nothing to give. */
    static void empty(String name) {
        want(List.of(), pull(name, 10, true));
    }

    static void create() throws Exception {
        make(to("create").setAckDeadlineSeconds(20).putLabels("team", "couriers")
            .setRetryPolicy(RetryPolicy.newBuilder().setMinimumBackoff(Duration.newBuilder().setSeconds(1))));
        Subscription got = subscriptions.getSubscription(subscription("create"));
        want(List.of(topic("create"), 20, Map.of("team", "couriers"), 1L),
            List.of(got.getTopic(), got.getAckDeadlineSeconds(), got.getLabelsMap(), got.getRetryPolicy().getMinimumBackoff().getSeconds()));
        refused(Status.Code.ALREADY_EXISTS, () -> topics.createTopic(topic("create")));
    }

    static void update() throws Exception {
        Topic t = topics.updateTopic(UpdateTopicRequest.newBuilder().setTopic(Topic.newBuilder().setName(topic("create")).putLabels("a", "b"))
            .setUpdateMask(FieldMask.newBuilder().addPaths("labels")).build());
        want(Map.of("a", "b"), t.getLabelsMap());
        Function<String, Subscription> change = path -> subscriptions.updateSubscription(UpdateSubscriptionRequest.newBuilder()
            .setSubscription(Subscription.newBuilder().setName(subscription("create")).setAckDeadlineSeconds(30)).setUpdateMask(FieldMask.newBuilder().addPaths(path)).build());
        Subscription got = change.apply("ack_deadline_seconds");
        want(List.of(30, Map.of("team", "couriers")), List.of(got.getAckDeadlineSeconds(), got.getLabelsMap()));
        refused(Status.Code.INVALID_ARGUMENT, () -> change.apply("no_such_field"));
    }

    static void errors() throws Exception {
        refused(Status.Code.NOT_FOUND, () -> publish("missing", List.of("x")));
        refused(Status.Code.INVALID_ARGUMENT, () -> topics.createTopic(topic("goog-1")));
        refused(Status.Code.NOT_FOUND, () -> subscriptions.createSubscription(to("missing").build()));
        Subscriber s = local(Subscriber.newBuilder(subscription("missing"), (MessageReceiver) (m, reply) -> { })).build();
        s.startAsync();
        try {
            s.awaitTerminated(PATIENCE, TimeUnit.SECONDS);
            throw new AssertionError("a missing subscription can be received from");
        } catch (IllegalStateException e) {
            refused(Status.Code.NOT_FOUND, () -> { throw new ExecutionException(s.failureCause()); });
        }
    }

    static void publishPlain() throws Exception {
        make("plain");
        byte[] bytes = new byte[256];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) i;
        }
        Publisher p = publisher("plain").build();
        String id = publish(p, PubsubMessage.newBuilder().setData(ByteString.copyFrom(bytes)).putAttributes("text", TEXT).putAttributes("empty", "").build()).get(0);
        p.shutdown();
        PubsubMessage m = received("plain", 1).get(0);
        want(ByteString.copyFrom(bytes), m.getData());
        want(Map.of("text", TEXT, "empty", ""), m.getAttributesMap());
        want(id, m.getMessageId());
        want(true, Math.abs(System.currentTimeMillis() - Timestamps.toMillis(m.getPublishTime())) < 60_000);
        empty("plain");
    }

    static void publishBatched() throws Exception {
        make("batched");
        publish("batched", numbered(2500));
        want(numbered(2500), sorted(texts(received("batched", 2500))));
    }

    static void publishCompressed() throws Exception {
        make("compressed");
        String text = TEXT.repeat(10_000);
        publish(publisher("compressed").setEnableCompression(true).setCompressionBytesThreshold(1), "", List.of(text));
        want(List.of(text), texts(received("compressed", 1)));
    }

    static void publishOrdered() throws Exception {
        make(to("ordered").setEnableMessageOrdering(true));
        Map<String, List<String>> wanted = new HashMap<>();
        Map<String, List<String>> got = new HashMap<>();
        for (String key : List.of("a", "b", "飛脚")) {
            publish(publisher("ordered").setEnableMessageOrdering(true), key, numbered(100));
            wanted.put(key, numbered(100));
            got.put(key, new ArrayList<>());
        }
        for (PubsubMessage m : received("ordered", 300)) {
            got.get(m.getOrderingKey()).add(m.getData().toStringUtf8());
        }
        want(wanted, got);
    }

    static void pullAndAcknowledge() throws Exception {
        make("pull");
        publish("pull", List.of("one"));
        List<ReceivedMessage> got = pull("pull", 10, false);
        want(List.of("one"), texts(got.stream().map(ReceivedMessage::getMessage).toList()));
        List<String> ids = List.of(got.get(0).getAckId());
        subscriptions.modifyAckDeadline(subscription("pull"), ids, 60);
        subscriptions.acknowledge(subscription("pull"), ids);
        empty("pull");
    }

    static void nack() throws Exception {
        make("nack");
        publish("nack", List.of("again"));
        List<String> seen = Collections.synchronizedList(new ArrayList<>());
        receive("nack", 1, (m, reply) -> {
            seen.add(m.getMessageId());
            if (seen.size() < 3) {
                reply.nack();
                return false;
            }
            reply.ack();
            return true;
        });
        want(1L, seen.stream().distinct().count());
        empty("nack");
    }

    /** What a subscriber has not answered when it is stopped comes to the next one at once. */
    static void restart() throws Exception {
        make(to("restart").setAckDeadlineSeconds(600));
        publish("restart", numbered(20));
        List<String> taken = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch left = new CountDownLatch(20);
        MessageReceiver receiver = (m, reply) -> {
            String text = m.getData().toStringUtf8();
            if (text.compareTo("message 0005") < 0) {
                reply.ack();
            }
            taken.add(text);
            left.countDown();
        };
        // Without this the library waits for answers for as long as it holds messages, which is an hour.
        SubscriberShutdownSettings atOnce = SubscriberShutdownSettings.newBuilder().setMode(SubscriberShutdownSettings.ShutdownMode.NACK_IMMEDIATELY).build();
        stream(Subscriber.newBuilder(subscription("restart"), receiver).setSubscriberShutdownSettings(atOnce), left, 20);
        want(numbered(20), sorted(taken));
        long began = System.nanoTime();
        want(numbered(20).subList(5, 20), sorted(texts(received("restart", 15))));
        want(true, System.nanoTime() - began < TimeUnit.SECONDS.toNanos(SOON));
    }

    static void exactlyOnce() throws Exception {
        make(to("once").setEnableExactlyOnceDelivery(true));
        publish("once", numbered(50));
        List<String> got = Collections.synchronizedList(new ArrayList<>());
        List<Object> answers = Collections.synchronizedList(new ArrayList<>());
        CountDownLatch left = new CountDownLatch(50);
        MessageReceiverWithAckResponse receiver = (PubsubMessage m, AckReplyConsumerWithResponse reply) -> {
            got.add(m.getData().toStringUtf8());
            try {
                answers.add(reply.ack().get(PATIENCE, TimeUnit.SECONDS));
            } catch (Exception e) {
                answers.add(e);
            }
            left.countDown();
        };
        stream(Subscriber.newBuilder(subscription("once"), receiver), left, 50);
        want(Collections.nCopies(50, AckResponse.SUCCESSFUL), answers);
        want(numbered(50), sorted(got));

        publish("once", List.of("stale"));
        List<String> old = List.of(pull("once", 1, false).get(0).getAckId());
        subscriptions.modifyAckDeadline(subscription("once"), old, 0);
        List<String> fresh = List.of(pull("once", 1, false).get(0).getAckId());
        refused(Status.Code.INVALID_ARGUMENT, () -> subscriptions.acknowledge(subscription("once"), old));
        subscriptions.acknowledge(subscription("once"), fresh);
        empty("once");
    }

    static void deadLetter() throws Exception {
        make("dead");
        make(to("alive").setDeadLetterPolicy(DeadLetterPolicy.newBuilder().setDeadLetterTopic(topic("dead")).setMaxDeliveryAttempts(5)));
        publish("alive", List.of("poison"));
        List<Integer> attempts = Collections.synchronizedList(new ArrayList<>());
        receive("alive", 5, (m, reply) -> {
            attempts.add(Subscriber.getDeliveryAttempt(m));
            reply.nack();
            return true;
        });
        want(List.of(1, 2, 3, 4, 5), attempts);
        PubsubMessage letter = received("dead", 1).get(0);
        want("poison", letter.getData().toStringUtf8());
        want("alive", letter.getAttributesMap().get("CloudPubSubDeadLetterSourceSubscription"));
        empty("alive");
    }

    static void seek(String name, long secondsFromNow) {
        subscriptions.seek(SeekRequest.newBuilder().setSubscription(subscription(name)).setTime(Timestamps.fromMillis(System.currentTimeMillis() + secondsFromNow * 1000)).build());
    }

    static void seekTime() throws Exception {
        make(to("past").setRetainAckedMessages(true).setMessageRetentionDuration(Duration.newBuilder().setSeconds(3600)));
        publish("past", numbered(20));
        received("past", 20);
        empty("past");
        seek("past", -3600);
        want(numbered(20), sorted(texts(received("past", 20))));
        publish("past", List.of("never seen"));
        seek("past", 60);
        empty("past");
    }

    static void seekSnapshot() throws Exception {
        make(to("shot").setEnableMessageOrdering(true));
        publish(publisher("shot").setEnableMessageOrdering(true), "k", numbered(10));
        String snapshot = "projects/" + PROJECT + "/snapshots/shot";
        subscriptions.createSnapshot(snapshot, subscription("shot"));
        for (int i = 0; i < 2; i++) {
            want(numbered(10), texts(received("shot", 10)));
            subscriptions.seek(SeekRequest.newBuilder().setSubscription(subscription("shot")).setSnapshot(snapshot).build());
        }
        subscriptions.deleteSnapshot(snapshot);
    }

    static void filter() throws Exception {
        make(to("filter").setFilter("attributes.lang = \"ja\" OR (attributes:id AND NOT hasPrefix(attributes.id, \"x\"))"));
        Publisher p = publisher("filter").build();
        int i = 0;
        for (Map<String, String> attributes : List.of(Map.of("lang", "ja"), Map.of("lang", "en"), Map.of("id", "y"), Map.of("id", "xy"), Map.of("other", ""))) {
            publish(p, PubsubMessage.newBuilder().setData(ByteString.copyFromUtf8(String.valueOf(i++))).putAllAttributes(attributes).build());
        }
        p.shutdown();
        want(List.of("0", "2"), sorted(texts(received("filter", 2))));
        empty("filter");
        refused(Status.Code.INVALID_ARGUMENT, () -> subscriptions.createSubscription(to("filter").setName(subscription("unfiltered")).setFilter("attributes.lang = ja").build()));
    }

    static void schema() throws Exception {
        try (SchemaServiceClient schemas = SchemaServiceClient.create(
            SchemaServiceSettings.newBuilder().setTransportChannelProvider(channel).setCredentialsProvider(NoCredentialsProvider.create()).build())) {
            String field = "{\"name\": \"who\", \"type\": \"string\"}";
            Function<String, Schema> avro = fields ->
                Schema.newBuilder().setType(Schema.Type.AVRO).setDefinition("{\"type\": \"record\", \"name\": \"Seen\", \"fields\": [" + fields + "]}").build();
            Schema made = schemas.createSchema(ProjectName.of(PROJECT), avro.apply(field), "seen");
            topics.createTopic(Topic.newBuilder().setName(topic("schema"))
                .setSchemaSettings(SchemaSettings.newBuilder().setSchema(made.getName()).setEncoding(Encoding.JSON)).build());
            publish("schema", List.of("{\"who\": \"Ken\"}"));
            refused(Status.Code.INVALID_ARGUMENT, () -> publish("schema", List.of("{\"who\": 5}")));
            schemas.commitSchema(CommitSchemaRequest.newBuilder().setName(made.getName())
                .setSchema(avro.apply(field + ", {\"name\": \"at\", \"type\": \"long\", \"default\": 0}").toBuilder().setName(made.getName())).build());
            publish("schema", List.of("{\"who\": \"Ken\", \"at\": 5}"));
        }
    }

    static void rest() throws Exception {
        try (Rest rest = new Rest(System.getenv("PUBSUB_EMULATOR_HOST"), PROJECT + "-rest")) {
            rest.everything();
        }
    }

    static void delete() throws Exception {
        List<String> names = new ArrayList<>();
        for (Subscription s : subscriptions.listSubscriptions(ProjectName.of(PROJECT)).iterateAll()) {
            names.add(s.getName());
        }
        want(true, names.size() >= 10);
        for (Topic t : topics.listTopics(ProjectName.of(PROJECT)).iterateAll()) {
            topics.deleteTopic(t.getName());
        }
        want("_deleted-topic_", subscriptions.getSubscription(subscription("create")).getTopic());
        for (String name : names) {
            subscriptions.deleteSubscription(name);
        }
        refused(Status.Code.NOT_FOUND, () -> subscriptions.getSubscription(subscription("create")));
    }

    static void everything() {
        check("create", Conformance::create);
        check("update", Conformance::update);
        check("errors", Conformance::errors);
        check("publish-plain", Conformance::publishPlain);
        check("publish-batched", Conformance::publishBatched);
        check("publish-compressed", Conformance::publishCompressed);
        check("publish-ordered", Conformance::publishOrdered);
        check("pull", Conformance::pullAndAcknowledge);
        check("nack", Conformance::nack);
        check("restart", Conformance::restart);
        check("exactly-once", Conformance::exactlyOnce);
        check("dead-letter", Conformance::deadLetter);
        check("seek-time", Conformance::seekTime);
        check("seek-snapshot", Conformance::seekSnapshot);
        check("filter", Conformance::filter);
        check("schema", Conformance::schema);
        check("rest", Conformance::rest);
        check("delete", Conformance::delete);
    }

    /** Publishes and receives while the server is killed, until it is told to stop, and then until all has come. */
    static void endure() throws Exception {
        Path signals = Path.of(System.getenv("CLIENT_SIGNALS"));
        Set<String> received = ConcurrentHashMap.newKeySet();
        Set<String> confirmed = ConcurrentHashMap.newKeySet();
        List<String> doubled = Collections.synchronizedList(new ArrayList<>());
        List<ApiFuture<String>> results = new ArrayList<>();
        make(to("endure").setEnableExactlyOnceDelivery(true));
        MessageReceiverWithAckResponse receiver = (m, reply) -> {
            if (confirmed.contains(m.getMessageId())) {
                doubled.add(m.getMessageId());
            }
            try {
                if (reply.ack().get(2 * PATIENCE, TimeUnit.SECONDS) == AckResponse.SUCCESSFUL) {
                    confirmed.add(m.getMessageId());
                }
                Files.write(signals.resolve(PROJECT), new byte[0]);
            } catch (Exception e) {
                // it comes again
            }
            received.add(m.getData().toStringUtf8());
        };
        // A message that was on its way when the server was killed comes again after that long; the library's own choice is a minute.
        Subscriber s = local(Subscriber.newBuilder(subscription("endure"), receiver)).setMinDurationPerAckExtensionDuration(java.time.Duration.ofSeconds(10))
            .setMaxDurationPerAckExtensionDuration(java.time.Duration.ofSeconds(11)).build();
        s.startAsync().awaitRunning(PATIENCE, TimeUnit.SECONDS);
        check("all-published", () -> {
            Publisher p = publisher("endure").build();
            while (!Files.exists(signals.resolve("stop"))) {
                results.add(p.publish(PubsubMessage.newBuilder().setData(ByteString.copyFromUtf8(String.valueOf(results.size()))).build()));
                Thread.sleep(20);
            }
            ApiFutures.allAsList(results).get(2 * PATIENCE, TimeUnit.SECONDS);
            p.shutdown();
        });
        check("nothing-lost", () -> {
            long late = System.nanoTime() + TimeUnit.SECONDS.toNanos(2 * PATIENCE);
            while (received.size() < results.size()) {
                if (System.nanoTime() > late) {
                    throw new AssertionError(results.size() - received.size() + " of " + results.size() + " did not come");
                }
                Thread.sleep(20);
            }
            s.stopAsync().awaitTerminated(PATIENCE, TimeUnit.SECONDS);
        });
        check("nothing-doubled", () -> want(List.of(), doubled));
    }

    public static void main(String[] args) throws Exception {
        // The library tells of every stream that it ends.
        Logger.getLogger("").setLevel(Level.OFF);
        // PUBSUB_EMULATOR_HOST means nothing to this library: Google's manual says to give it a channel, as here.
        ManagedChannel plain = ManagedChannelBuilder.forTarget(System.getenv("PUBSUB_EMULATOR_HOST")).usePlaintext().build();
        channel = FixedTransportChannelProvider.create(GrpcTransportChannel.create(plain));
        topics = TopicAdminClient.create(TopicAdminSettings.newBuilder().setTransportChannelProvider(channel).setCredentialsProvider(NoCredentialsProvider.create()).build());
        subscriptions = SubscriptionAdminClient.create(
            SubscriptionAdminSettings.newBuilder().setTransportChannelProvider(channel).setCredentialsProvider(NoCredentialsProvider.create()).build());
        try {
            if (args.length > 0) {
                endure();
            } else {
                everything();
            }
        } catch (Exception e) {
            e.printStackTrace();
            failed = true;
        }
        System.exit(failed ? 1 : 0); // what the library has running in the background does not matter any more
    }
}
