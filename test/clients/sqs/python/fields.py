"""Spoils every member of every call in the client's model: left out, empty, too long, out of range, of another type."""

import copy
import json

from botocore.exceptions import ClientError

MISSING = object()
BATCH = "AWS.SimpleQueueService."
STRING = {"DataType": "String", "StringValue": "x"}
# Values of an attribute that cannot be, whatever its type.
ATTRIBUTES = [
    {}, {"DataType": "String"}, {"StringValue": "x"}, {**STRING, "DataType": ""}, {**STRING, "DataType": "Text"},
    {**STRING, "DataType": "Number"}, {**STRING, "DataType": "Binary"}, {"DataType": "String", "BinaryValue": b"x"},
    {**STRING, "BinaryValue": b"x"}, {**STRING, "StringValue": ""},
]
# Attributes of queues that are numbers, with the least and the most.
BOUNDS = {
    "DelaySeconds": (0, 900), "KmsDataKeyReusePeriodSeconds": (60, 86400), "MaximumMessageSize": (1024, 1048576),
    "MessageRetentionPeriod": (60, 1209600), "ReceiveMessageWaitTimeSeconds": (0, 20), "VisibilityTimeout": (0, 43200),
}
# Values that the others of a standard queue cannot have.
WRONG = {
    "ContentBasedDeduplication": ["true"], "DeduplicationScope": ["queue"], "FifoThroughputLimit": ["perQueue"],
    "FifoQueue": ["true", "false", "x"], "Policy": ["x", "{", "5", "[]", '"x"', "null"], "QueueArn": ["x"],
    "CreatedTimestamp": ["1"], "ApproximateNumberOfMessages": ["1"], "SqsManagedSseEnabled": ["", "1", "yes"],
    "RedrivePolicy": ["x", "5", "[]", "{}", '{"deadLetterTargetArn": "x", "maxReceiveCount": 1}'],
    "RedriveAllowPolicy": ["x", "5", "[]", "{}", '{"redrivePermission": "some"}'], "KmsMasterKeyId": ["k" * 2049],
}


def requests(sqs, prefix):
    """A request of each call that does no harm to the others, with all members that its queue can have."""
    def queue(name, **attributes):
        return sqs.create_queue(QueueName=f"{prefix}-{name}", Attributes=attributes)["QueueUrl"]

    def arn(name):
        return f"arn:aws:sqs:us-east-1:000000000000:{prefix}-{name}"

    url, dead = queue("fields"), queue("fields-dead")
    queue("fields-source", RedrivePolicy=json.dumps({"deadLetterTargetArn": arn("fields-dead"), "maxReceiveCount": 1}))
    sqs.send_message(QueueUrl=url, MessageBody="x")
    handle = sqs.receive_message(QueueUrl=url, WaitTimeSeconds=20)["Messages"][0]["ReceiptHandle"]
    to, entry = {"QueueUrl": url}, {"Id": "a", "ReceiptHandle": handle}
    message = {"MessageBody": "b", "DelaySeconds": 0, "MessageAttributes": {"n": STRING},
               "MessageSystemAttributes": {"AWSTraceHeader": STRING}, "MessageGroupId": "g"}
    return {
        "AddPermission": {**to, "Label": "l", "AWSAccountIds": ["111111111111"], "Actions": ["SendMessage"]},
        "ChangeMessageVisibility": {**to, "ReceiptHandle": handle, "VisibilityTimeout": 100},
        "ChangeMessageVisibilityBatch": {**to, "Entries": [{**entry, "VisibilityTimeout": 100}]},
        "CreateQueue": {"QueueName": f"{prefix}-fields-new", "Attributes": {"DelaySeconds": "1"}, "tags": {"a": "b"}},
        "DeleteMessage": {**to, "ReceiptHandle": handle},
        "DeleteMessageBatch": {**to, "Entries": [entry]},
        "DeleteQueue": {"QueueUrl": url + "-none"},
        "GetQueueAttributes": {**to, "AttributeNames": ["All"]},
        "GetQueueUrl": {"QueueName": f"{prefix}-fields", "QueueOwnerAWSAccountId": "000000000000"},
        "ListDeadLetterSourceQueues": {"QueueUrl": dead, "MaxResults": 10},
        "ListMessageMoveTasks": {"SourceArn": arn("fields-dead"), "MaxResults": 1},
        "ListQueueTags": to,
        "ListQueues": {"QueueNamePrefix": f"{prefix}-fields", "MaxResults": 10},
        "PurgeQueue": {"QueueUrl": url + "-none"},
        "ReceiveMessage": {**to, "AttributeNames": ["All"], "MessageAttributeNames": ["All"], "MaxNumberOfMessages": 1,
                           "MessageSystemAttributeNames": ["All"], "VisibilityTimeout": 1, "WaitTimeSeconds": 0},
        "RemovePermission": {**to, "Label": "l"},
        "SendMessage": {**to, **message},
        "SendMessageBatch": {**to, "Entries": [{"Id": "a", **message}]},
        "SetQueueAttributes": {**to, "Attributes": {"DelaySeconds": "1"}},
        "StartMessageMoveTask": {"SourceArn": arn("fields-dead"), "DestinationArn": arn("fields"),
                                 "MaxNumberOfMessagesPerSecond": 500},
        "CancelMessageMoveTask": {"TaskHandle": "none"},
        "TagQueue": {**to, "Tags": {"a": "b"}},
        "UntagQueue": {**to, "TagKeys": ["a"]},
    }


def others(all_requests, prefix):
    """Requests with the members that those have not: where each is, values that are good, and others with their codes."""
    fifo = all_requests["SendMessage"]["QueueUrl"] + ".fifo"
    names = ["", "a b", "é", "x" * 129]
    ids = {value: {"InvalidParameterValue"} for value in names}
    tokens = {value: {"InvalidParameterValue"} for value in ("x", "é", "x" * 3000)}
    group = {"MessageBody": "b", "MessageGroupId": "g"}
    batch = [{"Id": "a", **group, "MessageDeduplicationId": "d"}]
    return [
        ("SendMessage", {"QueueUrl": fifo, **group}, ("MessageDeduplicationId",), ["d", "x" * 128], ids),
        ("SendMessageBatch", {"QueueUrl": fifo, "Entries": batch}, ("Entries", 0, "MessageDeduplicationId"), ["e"],
         ids),
        ("ReceiveMessage", {"QueueUrl": fifo}, ("ReceiveRequestAttemptId",), ["a", "x" * 128], ids),
        ("ListQueues", {"MaxResults": 1}, ("NextToken",), [], tokens),
        ("ListDeadLetterSourceQueues", all_requests["ListDeadLetterSourceQueues"], ("NextToken",), [], tokens),
        *((call, all_requests[call], (*at, *inner, lists), [[]], {one: {BATCH + "UnsupportedOperation"}})
          for call, at in (("SendMessage", ()), ("SendMessageBatch", ("Entries", 0)))
          for inner in (("MessageAttributes", "n"), ("MessageSystemAttributes", "AWSTraceHeader"))
          for lists, one in (("StringListValues", ("a",)), ("BinaryListValues", (b"a",)))),
    ]


def spoiled(shape, request, path, typed):
    """What can be wrong with the members of a structure: where, the value, and the codes that tell it.

    Codes of None: it may pass. typed: the protocol carries types.
    """
    for name, member in shape.members.items():
        if name not in request:
            continue
        at, kind = (*path, name), member.type_name
        if name in shape.required_members:
            yield at, MISSING, {"MissingParameter", BATCH + "EmptyBatchRequest", BATCH + "InvalidBatchEntryId",
                                "ReceiptHandleIsInvalid", "InvalidParameterValue"}
        if kind == "string":
            yield at, "", None
            yield at, "x" * 3000, None
            yield at, "a b\u0001é/*", None
            if typed:
                for value in 5, ["x"], {"x": "y"}:
                    yield at, value, {"MalformedInput"}
        elif kind == "integer":
            yield at, -1, {"InvalidParameterValue"}
            yield at, 10**6, {"InvalidParameterValue"}
            yield at, 2**40, {"MalformedInput", "InvalidParameterValue"}
            if typed:
                yield at, "5", {"MalformedInput"}
                yield at, 1.5, {"MalformedInput"}
        elif kind == "list":
            yield from spoiled_list(member.member, request[name], at, typed)
        elif kind == "map":
            yield from spoiled_map(member.value, at)


def spoiled_list(shape, values, at, typed):
    yield at, [], None
    if shape.type_name == "structure":
        yield from spoiled(shape, values[0], (*at, 0), typed)
        yield at, [{**values[0], "Id": f"i{i}"} for i in range(11)], {BATCH + "TooManyEntriesInBatchRequest"}
        yield at, values * 2, {BATCH + "BatchEntryIdsNotDistinct"}
    else:
        for value in [""], ["Nonsense"], [f"a{i}" for i in range(60)]:
            yield at, value, None


def spoiled_map(shape, at):
    yield at, {}, None
    if shape.type_name == "structure":
        for value in ATTRIBUTES:
            yield at, {"AWSTraceHeader" if "System" in at[-1] else "n": value}, {"InvalidParameterValue"}
        for names in [""], ["AWS.x"], ["a..b"], [".a"], ["a" * 257], [f"k{i}" for i in range(11)]:
            yield at, {n: STRING for n in names}, {"InvalidParameterValue"}
    elif at[-1] == "Attributes":
        yield at, {"Nonsense": "1"}, {"InvalidAttributeName"}
        for name, (least, most) in BOUNDS.items():
            for value in "", "x", "1.5", " 1", str(least - 1), str(most + 1), str(2**70):
                yield at, {name: value}, {"InvalidAttributeValue"}
        for name, values in WRONG.items():
            for value in values:
                yield at, {name: value}, {"InvalidAttributeName", "InvalidAttributeValue", "InvalidParameterValue"}
    else:
        yield at, {"": "x"}, {"InvalidParameterValue"}


def put(request, at, value):
    request = copy.deepcopy(request)
    inner = request
    for step in at[:-1]:
        inner = inner[step]
    if value is MISSING:
        del inner[at[-1]]
    else:
        inner[at[-1]] = value
    return request


def code(sqs, call, request):
    """What a call is refused with, or the one entry of a batch; None: it is done."""
    try:
        answer = sqs._make_api_call(call, request)
    except ClientError as e:
        if e.response["ResponseMetadata"]["HTTPStatusCode"] >= 500:
            raise
        return e.response["Error"]["Code"]
    return answer["Failed"][0]["Code"] if answer.get("Failed") else None


def check(sqs, prefix):
    """The client must not check parameters itself. Returns what was wrong."""
    model, wrong = sqs.meta.service_model, []
    typed = model.metadata["protocol"] == "json"
    all_requests = requests(sqs, prefix)
    for call in model.operation_names:
        shape = model.operation_model(call).input_shape
        request = {k: v for k, v in all_requests[call].items() if k in shape.members}
        for at, value, codes in spoiled(shape, request, (), typed):
            got = code(sqs, call, put(request, at, value))
            if codes is not None and got not in codes:
                shown = "left out" if value is MISSING else f"{value!r:.80}"
                wrong.append(f"{call} with {'.'.join(map(str, at))} {shown}: {got}")
    sqs.create_queue(QueueName=f"{prefix}-fields.fifo", Attributes={"FifoQueue": "true"})
    for call, request, at, good, bad in others(all_requests, prefix):
        for value, codes in [*((value, {None}) for value in good), *bad.items()]:
            got = code(sqs, call, put(request, at, list(value) if isinstance(value, tuple) else value))
            if got not in codes:
                wrong.append(f"{call} with {'.'.join(map(str, at))} {value!r:.80}: {got}")
    return wrong
