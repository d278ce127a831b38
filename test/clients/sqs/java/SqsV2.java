import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import software.amazon.awssdk.auth.credentials.AwsBasicCredentials;
import software.amazon.awssdk.auth.credentials.StaticCredentialsProvider;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.http.apache.ApacheHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.DefaultRetryStrategy;
import software.amazon.awssdk.services.sqs.SqsClient;
import software.amazon.awssdk.services.sqs.model.BatchResultErrorEntry;
import software.amazon.awssdk.services.sqs.model.MessageAttributeValue;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeNameForSends;
import software.amazon.awssdk.services.sqs.model.MessageSystemAttributeValue;
import software.amazon.awssdk.services.sqs.model.QueueAttributeName;
import software.amazon.awssdk.services.sqs.model.SqsException;

/** The AWS SDK for Java 2.x. It speaks JSON, and verifies the checksums that it is answered. */
final class SqsV2 implements Sqs {
    private final SqsClient client;

    SqsV2(String endpoint, String key, String secret, int connections) {
        client = SqsClient.builder().endpointOverride(URI.create(endpoint)).region(Region.US_EAST_1)
            .credentialsProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create(key, secret)))
            .httpClientBuilder(ApacheHttpClient.builder().maxConnections(connections))
            .overrideConfiguration(c -> c.retryStrategy(DefaultRetryStrategy.doNotRetry()))
            .build();
    }

    private static MessageAttributeValue value(Value v) {
        MessageAttributeValue.Builder b = MessageAttributeValue.builder().dataType(v.type());
        return v.bytes() == null ? b.stringValue(v.text()).build() : b.binaryValue(SdkBytes.fromByteArray(v.bytes())).build();
    }

    private static Map<String, MessageAttributeValue> values(Map<String, Value> attributes) {
        return attributes.entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey, e -> value(e.getValue())));
    }

    private static List<Failed> failed(List<BatchResultErrorEntry> entries) {
        return entries.stream().map(e -> new Failed(e.id(), e.code(), e.senderFault())).toList();
    }

    public String create(String name, Map<String, String> attributes, Map<String, String> tags) {
        return client.createQueue(r -> r.queueName(name).attributesWithStrings(attributes).tags(tags)).queueUrl();
    }

    public String url(String name, String owner) {
        return client.getQueueUrl(r -> r.queueName(name).queueOwnerAWSAccountId(owner)).queueUrl();
    }

    public Page list(String prefix, Integer most, String next) {
        var answer = client.listQueues(r -> r.queueNamePrefix(prefix).maxResults(most).nextToken(next));
        return new Page(answer.queueUrls(), answer.nextToken());
    }

    public void deleteQueue(String url) {
        client.deleteQueue(r -> r.queueUrl(url));
    }

    public void purge(String url) {
        client.purgeQueue(r -> r.queueUrl(url));
    }

    public Map<String, String> attributes(String url, List<String> names) {
        return client.getQueueAttributes(r -> r.queueUrl(url).attributeNamesWithStrings(names)).attributesAsStrings();
    }

    public void set(String url, Map<String, String> attributes) {
        client.setQueueAttributes(r -> r.queueUrl(url).attributesWithStrings(attributes));
    }

    public Sent send(String url, Send m) {
        var answer = client.sendMessage(r -> {
            r.queueUrl(url).messageBody(m.body()).delaySeconds(m.delay()).messageGroupId(m.group()).messageDeduplicationId(m.dedup()).messageAttributes(values(m.attributes()));
            if (m.trace() != null) {
                r.messageSystemAttributes(Map.of(MessageSystemAttributeNameForSends.AWS_TRACE_HEADER,
                    MessageSystemAttributeValue.builder().dataType("String").stringValue(m.trace()).build()));
            }
        });
        return new Sent(answer.messageId(), answer.sequenceNumber());
    }

    public Batch sendAll(String url, List<String> ids, List<Send> messages) {
        var answer = client.sendMessageBatch(r -> r.queueUrl(url).entries(IntStream.range(0, ids.size()).mapToObj(i -> {
            Send m = messages.get(i);
            return software.amazon.awssdk.services.sqs.model.SendMessageBatchRequestEntry.builder().id(ids.get(i)).messageBody(m.body()).delaySeconds(m.delay())
                .messageGroupId(m.group()).messageDeduplicationId(m.dedup()).messageAttributes(values(m.attributes())).build();
        }).toList()));
        return new Batch(answer.successful().stream().map(e -> e.id()).toList(), failed(answer.failed()));
    }

    public List<Message> receive(String url, Receive how) {
        List<Message> got = new ArrayList<>();
        for (var m : client.receiveMessage(r -> r.queueUrl(url).maxNumberOfMessages(how.most()).waitTimeSeconds(how.patience()).visibilityTimeout(how.visibility())
            .receiveRequestAttemptId(how.attempt()).messageSystemAttributeNamesWithStrings(how.system()).messageAttributeNames(how.names())).messages()) {
            Map<String, Value> attributes = m.messageAttributes().entrySet().stream().collect(Collectors.toMap(Map.Entry::getKey,
                e -> new Value(e.getValue().dataType(), e.getValue().stringValue(), e.getValue().binaryValue() == null ? null : e.getValue().binaryValue().asByteArray())));
            got.add(new Message(m.messageId(), m.body(), m.receiptHandle(), m.attributesAsStrings(), attributes));
        }
        return got;
    }

    public void delete(String url, String receipt) {
        client.deleteMessage(r -> r.queueUrl(url).receiptHandle(receipt));
    }

    public Batch deleteAll(String url, List<String> receipts) {
        var answer = client.deleteMessageBatch(r -> r.queueUrl(url).entries(IntStream.range(0, receipts.size()).mapToObj(
            i -> software.amazon.awssdk.services.sqs.model.DeleteMessageBatchRequestEntry.builder().id("" + i).receiptHandle(receipts.get(i)).build()).toList()));
        return new Batch(answer.successful().stream().map(e -> e.id()).toList(), failed(answer.failed()));
    }

    public void change(String url, String receipt, int seconds) {
        client.changeMessageVisibility(r -> r.queueUrl(url).receiptHandle(receipt).visibilityTimeout(seconds));
    }

    public Batch changeAll(String url, List<String> receipts, int seconds) {
        var answer = client.changeMessageVisibilityBatch(r -> r.queueUrl(url).entries(IntStream.range(0, receipts.size()).mapToObj(
            i -> software.amazon.awssdk.services.sqs.model.ChangeMessageVisibilityBatchRequestEntry.builder().id("" + i).receiptHandle(receipts.get(i)).visibilityTimeout(seconds).build())
            .toList()));
        return new Batch(answer.successful().stream().map(e -> e.id()).toList(), failed(answer.failed()));
    }

    public List<String> sources(String dead) {
        return client.listDeadLetterSourceQueues(r -> r.queueUrl(dead)).queueUrls();
    }

    public String startMove(String arn) {
        return client.startMessageMoveTask(r -> r.sourceArn(arn)).taskHandle();
    }

    public String lastMove(String arn) {
        var last = client.listMessageMoveTasks(r -> r.sourceArn(arn)).results().get(0);
        return last.status() + " " + last.approximateNumberOfMessagesMoved();
    }

    public void cancelMove(String handle) {
        client.cancelMessageMoveTask(r -> r.taskHandle(handle));
    }

    public void tag(String url, Map<String, String> tags) {
        client.tagQueue(r -> r.queueUrl(url).tags(tags));
    }

    public void untag(String url, List<String> keys) {
        client.untagQueue(r -> r.queueUrl(url).tagKeys(keys));
    }

    public Map<String, String> tags(String url) {
        return client.listQueueTags(r -> r.queueUrl(url)).tags();
    }

    public void allow(String url, String label, String account, String action) {
        client.addPermission(r -> r.queueUrl(url).label(label).awsAccountIds(account).actions(action));
    }

    public void disallow(String url, String label) {
        client.removePermission(r -> r.queueUrl(url).label(label));
    }

    public String error(Exception e) {
        if (!(e instanceof SqsException s)) {
            return null;
        }
        return e.getClass() == SqsException.class ? s.awsErrorDetails().errorCode() : e.getClass().getSimpleName().replaceFirst("Exception$", "");
    }

    public void close() {
        client.close();
    }
}
