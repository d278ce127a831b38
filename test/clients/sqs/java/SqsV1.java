import com.amazonaws.ClientConfiguration;
import com.amazonaws.auth.AWSStaticCredentialsProvider;
import com.amazonaws.auth.BasicAWSCredentials;
import com.amazonaws.client.builder.AwsClientBuilder;
import com.amazonaws.retry.PredefinedRetryPolicies;
import com.amazonaws.services.sqs.AmazonSQS;
import com.amazonaws.services.sqs.AmazonSQSClientBuilder;
import com.amazonaws.services.sqs.model.AddPermissionRequest;
import com.amazonaws.services.sqs.model.AmazonSQSException;
import com.amazonaws.services.sqs.model.BatchResultErrorEntry;
import com.amazonaws.services.sqs.model.CancelMessageMoveTaskRequest;
import com.amazonaws.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry;
import com.amazonaws.services.sqs.model.CreateQueueRequest;
import com.amazonaws.services.sqs.model.DeleteMessageBatchRequestEntry;
import com.amazonaws.services.sqs.model.GetQueueUrlRequest;
import com.amazonaws.services.sqs.model.ListDeadLetterSourceQueuesRequest;
import com.amazonaws.services.sqs.model.ListMessageMoveTasksRequest;
import com.amazonaws.services.sqs.model.ListQueuesRequest;
import com.amazonaws.services.sqs.model.MessageAttributeValue;
import com.amazonaws.services.sqs.model.MessageSystemAttributeValue;
import com.amazonaws.services.sqs.model.PurgeQueueRequest;
import com.amazonaws.services.sqs.model.ReceiveMessageRequest;
import com.amazonaws.services.sqs.model.SendMessageBatchRequestEntry;
import com.amazonaws.services.sqs.model.SendMessageRequest;
import com.amazonaws.services.sqs.model.StartMessageMoveTaskRequest;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** The AWS SDK for Java 1.x, in a version that speaks the query protocol. It verifies the checksums that it is answered. */
final class SqsV1 implements Sqs {
    private final AmazonSQS client;

    SqsV1(String endpoint, String key, String secret, int connections) {
        client = AmazonSQSClientBuilder.standard().withEndpointConfiguration(new AwsClientBuilder.EndpointConfiguration(endpoint, "us-east-1"))
            .withCredentials(new AWSStaticCredentialsProvider(new BasicAWSCredentials(key, secret)))
            .withClientConfiguration(new ClientConfiguration().withMaxConnections(connections).withRetryPolicy(PredefinedRetryPolicies.NO_RETRY_POLICY))
            .build();
    }

    private static Map<String, MessageAttributeValue> values(Map<String, Value> attributes) {
        Map<String, MessageAttributeValue> all = new HashMap<>();
        attributes.forEach((name, v) -> {
            MessageAttributeValue value = new MessageAttributeValue().withDataType(v.type()).withStringValue(v.text());
            all.put(name, v.bytes() == null ? value : value.withBinaryValue(ByteBuffer.wrap(v.bytes())));
        });
        return all;
    }

    private static Value value(MessageAttributeValue v) {
        byte[] bytes = null;
        if (v.getBinaryValue() != null) {
            bytes = new byte[v.getBinaryValue().remaining()];
            v.getBinaryValue().duplicate().get(bytes);
        }
        return new Value(v.getDataType(), v.getStringValue(), bytes);
    }

    private static List<Failed> failed(List<BatchResultErrorEntry> entries) {
        return entries.stream().map(e -> new Failed(e.getId(), e.getCode(), e.isSenderFault())).toList();
    }

    public String create(String name, Map<String, String> attributes, Map<String, String> tags) {
        return client.createQueue(new CreateQueueRequest(name).withAttributes(attributes).withTags(tags)).getQueueUrl();
    }

    public String url(String name, String owner) {
        return client.getQueueUrl(new GetQueueUrlRequest(name).withQueueOwnerAWSAccountId(owner)).getQueueUrl();
    }

    public Page list(String prefix, Integer most, String next) {
        var answer = client.listQueues(new ListQueuesRequest(prefix).withMaxResults(most).withNextToken(next));
        return new Page(answer.getQueueUrls(), answer.getNextToken());
    }

    public void deleteQueue(String url) {
        client.deleteQueue(url);
    }

    public void purge(String url) {
        client.purgeQueue(new PurgeQueueRequest(url));
    }

    public Map<String, String> attributes(String url, List<String> names) {
        return client.getQueueAttributes(url, names).getAttributes();
    }

    public void set(String url, Map<String, String> attributes) {
        client.setQueueAttributes(url, attributes);
    }

    public Sent send(String url, Send m) {
        SendMessageRequest r = new SendMessageRequest(url, m.body()).withDelaySeconds(m.delay()).withMessageGroupId(m.group()).withMessageDeduplicationId(m.dedup())
            .withMessageAttributes(values(m.attributes()));
        if (m.trace() != null) {
            r.addMessageSystemAttributesEntry("AWSTraceHeader", new MessageSystemAttributeValue().withDataType("String").withStringValue(m.trace()));
        }
        var answer = client.sendMessage(r);
        return new Sent(answer.getMessageId(), answer.getSequenceNumber());
    }

    public Batch sendAll(String url, List<String> ids, List<Send> messages) {
        var answer = client.sendMessageBatch(url, IntStream.range(0, ids.size()).mapToObj(i -> {
            Send m = messages.get(i);
            return new SendMessageBatchRequestEntry(ids.get(i), m.body()).withDelaySeconds(m.delay()).withMessageGroupId(m.group()).withMessageDeduplicationId(m.dedup())
                .withMessageAttributes(values(m.attributes()));
        }).toList());
        return new Batch(answer.getSuccessful().stream().map(e -> e.getId()).toList(), failed(answer.getFailed()));
    }

    public List<Message> receive(String url, Receive how) {
        List<Message> got = new ArrayList<>();
        for (var m : client.receiveMessage(new ReceiveMessageRequest(url).withMaxNumberOfMessages(how.most()).withWaitTimeSeconds(how.patience()).withVisibilityTimeout(how.visibility())
            .withReceiveRequestAttemptId(how.attempt()).withAttributeNames(how.system()).withMessageAttributeNames(how.names())).getMessages()) {
            Map<String, Value> attributes = new HashMap<>();
            m.getMessageAttributes().forEach((name, v) -> attributes.put(name, value(v)));
            got.add(new Message(m.getMessageId(), m.getBody(), m.getReceiptHandle(), m.getAttributes(), attributes));
        }
        return got;
    }

    public void delete(String url, String receipt) {
        client.deleteMessage(url, receipt);
    }

    public Batch deleteAll(String url, List<String> receipts) {
        var answer = client.deleteMessageBatch(url, IntStream.range(0, receipts.size()).mapToObj(i -> new DeleteMessageBatchRequestEntry("" + i, receipts.get(i))).toList());
        return new Batch(answer.getSuccessful().stream().map(e -> e.getId()).toList(), failed(answer.getFailed()));
    }

    public void change(String url, String receipt, int seconds) {
        client.changeMessageVisibility(url, receipt, seconds);
    }

    public Batch changeAll(String url, List<String> receipts, int seconds) {
        var answer = client.changeMessageVisibilityBatch(url, IntStream.range(0, receipts.size()).mapToObj(
            i -> new ChangeMessageVisibilityBatchRequestEntry("" + i, receipts.get(i)).withVisibilityTimeout(seconds)).toList());
        return new Batch(answer.getSuccessful().stream().map(e -> e.getId()).toList(), failed(answer.getFailed()));
    }

    public List<String> sources(String dead) {
        return client.listDeadLetterSourceQueues(new ListDeadLetterSourceQueuesRequest().withQueueUrl(dead)).getQueueUrls();
    }

    public String startMove(String arn) {
        return client.startMessageMoveTask(new StartMessageMoveTaskRequest().withSourceArn(arn)).getTaskHandle();
    }

    public String lastMove(String arn) {
        var last = client.listMessageMoveTasks(new ListMessageMoveTasksRequest().withSourceArn(arn)).getResults().get(0);
        return last.getStatus() + " " + last.getApproximateNumberOfMessagesMoved();
    }

    public void cancelMove(String handle) {
        client.cancelMessageMoveTask(new CancelMessageMoveTaskRequest().withTaskHandle(handle));
    }

    public void tag(String url, Map<String, String> tags) {
        client.tagQueue(url, tags);
    }

    public void untag(String url, List<String> keys) {
        client.untagQueue(url, keys);
    }

    public Map<String, String> tags(String url) {
        return client.listQueueTags(url).getTags();
    }

    public void allow(String url, String label, String account, String action) {
        client.addPermission(new AddPermissionRequest(url, label, List.of(account), List.of(action)));
    }

    public void disallow(String url, String label) {
        client.removePermission(url, label);
    }

    public String error(Exception e) {
        if (!(e instanceof AmazonSQSException s)) {
            return null;
        }
        return e.getClass() == AmazonSQSException.class ? s.getErrorCode() : e.getClass().getSimpleName().replaceFirst("Exception$", "");
    }

    public void close() {
        client.shutdown();
    }
}
