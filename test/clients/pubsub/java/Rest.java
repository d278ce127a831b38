import com.google.api.gax.core.NoCredentialsProvider;
import com.google.api.gax.httpjson.InstantiatingHttpJsonChannelProvider;
import com.google.cloud.pubsub.v1.SchemaServiceClient;
import com.google.cloud.pubsub.v1.SchemaServiceSettings;
import com.google.cloud.pubsub.v1.SubscriptionAdminClient;
import com.google.cloud.pubsub.v1.SubscriptionAdminSettings;
import com.google.cloud.pubsub.v1.TopicAdminClient;
import com.google.cloud.pubsub.v1.TopicAdminSettings;
import com.google.iam.v1.Binding;
import com.google.iam.v1.GetIamPolicyRequest;
import com.google.iam.v1.Policy;
import com.google.iam.v1.SetIamPolicyRequest;
import com.google.iam.v1.TestIamPermissionsRequest;
import com.google.protobuf.ByteString;
import com.google.protobuf.Duration;
import com.google.protobuf.FieldMask;
import com.google.protobuf.util.Timestamps;
import com.google.pubsub.v1.*;
import io.grpc.Status;
import java.util.List;

/** The clients of the same library that speak JSON over HTTP: one call after another, so that nothing is left. */
final class Rest implements AutoCloseable {
    private final TopicAdminClient topics;
    private final SubscriptionAdminClient subscriptions;
    private final SchemaServiceClient schemas;
    private final String root;

    Rest(String address, String project) throws Exception {
        InstantiatingHttpJsonChannelProvider channel = TopicAdminSettings.defaultHttpJsonTransportProviderBuilder().setEndpoint("http://" + address).build();
        NoCredentialsProvider nobody = NoCredentialsProvider.create();
        topics = TopicAdminClient.create(TopicAdminSettings.newHttpJsonBuilder().setTransportChannelProvider(channel).setCredentialsProvider(nobody).build());
        subscriptions = SubscriptionAdminClient.create(
            SubscriptionAdminSettings.newHttpJsonBuilder().setTransportChannelProvider(channel).setCredentialsProvider(nobody).build());
        schemas = SchemaServiceClient.create(SchemaServiceSettings.newHttpJsonBuilder().setTransportChannelProvider(channel).setCredentialsProvider(nobody).build());
        root = "projects/" + project;
    }

    void everything() throws Exception {
        String topic = root + "/topics/rest", subscription = root + "/subscriptions/rest", snapshot = root + "/snapshots/rest";
        Duration retention = Duration.newBuilder().setSeconds(3600).setNanos(500_000_000).build();
        Topic made = topics.createTopic(Topic.newBuilder().setName(topic).putLabels("a", "b").setMessageRetentionDuration(retention).build());
        Conformance.want(retention, made.getMessageRetentionDuration());
        Conformance.want(Topic.State.ACTIVE, made.getState());
        topics.updateTopic(Topic.newBuilder().setName(topic).putLabels("c", "d").build(),
            FieldMask.newBuilder().addPaths("labels").addPaths("message_retention_duration").build());
        Conformance.want(Topic.newBuilder().setName(topic).putLabels("c", "d").setState(Topic.State.ACTIVE).build(), topics.getTopic(topic));
        subscriptions.createSubscription(Subscription.newBuilder().setName(subscription).setTopic(topic).setEnableMessageOrdering(true).build());
        RetryPolicy policy = RetryPolicy.newBuilder().setMinimumBackoff(Duration.newBuilder().setNanos(500_000_000)).build();
        subscriptions.updateSubscription(Subscription.newBuilder().setName(subscription).setRetryPolicy(policy).build(),
            FieldMask.newBuilder().addPaths("retry_policy.minimum_backoff").build());
        subscriptions.createSnapshot(CreateSnapshotRequest.newBuilder().setName(snapshot).setSubscription(subscription).putLabels("a", "b").build());
        subscriptions.updateSnapshot(Snapshot.newBuilder().setName(snapshot).build(), FieldMask.newBuilder().addPaths("labels").build());
        Conformance.want(0, subscriptions.getSnapshot(snapshot).getLabelsCount());

        ByteString data = ByteString.copyFrom(new byte[] {0, -1, 1});
        PubsubMessage sent = PubsubMessage.newBuilder().setData(data).putAttributes("a", "é").setOrderingKey("k/").build();
        String id = topics.publish(topic, List.of(sent)).getMessageIds(0);
        SeekRequest at = SeekRequest.newBuilder().setSubscription(subscription).build();
        for (SeekRequest back : List.of(at.toBuilder().setSnapshot(snapshot).build(), at.toBuilder().setTime(Timestamps.fromMillis(1577840523001L)).build())) {
            PullResponse got = subscriptions.pull(subscription, 5);
            PubsubMessage m = got.getReceivedMessages(0).getMessage();
            Conformance.want(sent, m.toBuilder().clearMessageId().clearPublishTime().build());
            Conformance.want(id, m.getMessageId());
            List<String> ids = List.of(got.getReceivedMessages(0).getAckId());
            subscriptions.modifyAckDeadline(subscription, ids, 30);
            subscriptions.acknowledge(subscription, ids);
            subscriptions.seek(back);
        }
        PushConfig push = PushConfig.newBuilder().setPushEndpoint("http://127.0.0.1:1/").setNoWrapper(PushConfig.NoWrapper.newBuilder().setWriteMetadata(true)).build();
        subscriptions.modifyPushConfig(subscription, push);
        Conformance.want(true, subscriptions.getSubscription(subscription).getPushConfig().getNoWrapper().getWriteMetadata());
        Conformance.want(snapshot, topics.listTopicSnapshots(ListTopicSnapshotsRequest.newBuilder().setTopic(topic).setPageSize(1).build()).iterateAll().iterator().next());
        Conformance.want(subscription, topics.listTopicSubscriptions(topic).iterateAll().iterator().next());
        Conformance.want(topic, topics.listTopics(root).iterateAll().iterator().next().getName());
        Conformance.want(snapshot, subscriptions.listSnapshots(root).iterateAll().iterator().next().getName());
        Conformance.want(subscription, subscriptions.listSubscriptions(root).iterateAll().iterator().next().getName());
        schemas();
        topics.setIamPolicy(SetIamPolicyRequest.newBuilder().setResource(topic)
            .setPolicy(Policy.newBuilder().addBindings(Binding.newBuilder().setRole("roles/pubsub.viewer").addMembers("user:a@example.com"))).build());
        Conformance.want(1, topics.getIamPolicy(GetIamPolicyRequest.newBuilder().setResource(topic).build()).getBindingsCount());
        Conformance.want(List.of("pubsub.topics.publish"), topics.testIamPermissions(
            TestIamPermissionsRequest.newBuilder().setResource(topic).addPermissions("pubsub.topics.publish").build()).getPermissionsList());
        topics.detachSubscription(DetachSubscriptionRequest.newBuilder().setSubscription(subscription).build());
        Conformance.want(true, subscriptions.getSubscription(subscription).getDetached());
        subscriptions.deleteSubscription(subscription);
        topics.deleteTopic(topic);
        Conformance.refused(Status.Code.NOT_FOUND, () -> topics.getTopic(topic));
    }

    private void schemas() throws Exception {
        String name = root + "/schemas/rest", form = "{\"type\": \"record\", \"name\": \"R\", \"fields\": [{\"name\": \"a\", \"type\": \"string\"}%s]}";
        Schema first = Schema.newBuilder().setType(Schema.Type.AVRO).setDefinition(form.formatted("")).build();
        Schema more = first.toBuilder().setName(name).setDefinition(form.formatted(", {\"name\": \"b\", \"type\": \"int\", \"default\": 1}")).build();
        String revision = schemas.createSchema(root, first, "rest").getRevisionId();
        String second = schemas.commitSchema(name, more).getRevisionId();
        ListSchemasRequest full = ListSchemasRequest.newBuilder().setParent(root).setView(SchemaView.FULL).build();
        Conformance.want(more.getDefinition(), schemas.listSchemas(full).iterateAll().iterator().next().getDefinition());
        Conformance.want(second, schemas.listSchemaRevisions(name).iterateAll().iterator().next().getRevisionId());
        Conformance.want(first.getDefinition(), schemas.rollbackSchema(name, revision).getDefinition());
        schemas.deleteSchemaRevision(name + "@" + second, "");
        schemas.validateSchema(root, first);
        ValidateMessageRequest message = ValidateMessageRequest.newBuilder().setParent(root).setName(name).setEncoding(Encoding.JSON)
            .setMessage(ByteString.copyFromUtf8("{\"a\": \"x\"}")).build();
        schemas.validateMessage(message);
        Conformance.refused(Status.Code.INVALID_ARGUMENT, () -> schemas.validateMessage(
            message.toBuilder().setMessage(ByteString.copyFromUtf8("{\"a\": 5}")).build()));
        schemas.deleteSchema(name);
    }

    @Override public void close() {
        topics.close();
        subscriptions.close();
        schemas.close();
    }
}
