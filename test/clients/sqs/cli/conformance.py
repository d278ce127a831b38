"""Speaks to a running hikyaku with Amazon's command line and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md. The first check runs the program aws itself. To start it takes half a second of a processor, so the
others load it once and fork for each command: from there on it is the same, from the arguments to what is printed.
"""

import hashlib
import json
import os
import subprocess
import sys
import threading

import awscli.clidriver

PREFIX = os.environ["CLIENT_PREFIX"]
TEXT = 'こんにちは 🚚 é <&> "quoted"'
HOW_MANY = "length(Messages || `[]`)"

os.environ.update({
    "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "thing", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1", "AWS_PAGER": "",
    "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "PYTHONIOENCODING": "utf-8",
})
failed = False


def check(name, body):
    global failed
    try:
        body()
        print(f"ok {name}", flush=True)
    except Exception as e:
        failed = True
        print(f"not ok {name}: {' '.join(str(e).split())[:500]}", flush=True)


def want(expected, got):
    if expected != got:
        raise AssertionError(f"got {got!r:.300}, wanted {expected!r:.300}")


def arguments(command, endpoint):
    return ["--endpoint-url", endpoint or os.environ["SQS_ENDPOINT"], "--output", "text", "sqs", *command]


def forked(args, env):
    """Runs the program in a fork of this one: its status and what it printed, on both outputs."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(write, 1)
        os.dup2(write, 2)
        os.environ.update(env)
        sys.argv = ["aws", *args]
        status = 255
        try:
            status = awscli.clidriver.main()
        finally:
            sys.stdout.flush()
            os._exit(status or 0)
    os.close(write)
    with os.fdopen(read, "rb") as out:
        printed = out.read().decode()
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), printed.strip()


def sqs(*command, endpoint=None, **env):
    """The words that a command printed."""
    status, out = forked(arguments(command, endpoint), env)
    want((0, out), (status, out))
    return out.split("\t") if "\n" not in out else out.split()


def refused(code, *command, endpoint=None, **env):
    status, out = forked(arguments(command, endpoint), env)
    if status == 0 or f"({code})" not in out:
        raise AssertionError(f"got {status} {out:.300}, wanted {code}")


def name(n):
    return f"{PREFIX}-{n}"


def url(n, endpoint=None):
    return f"{endpoint or os.environ['SQS_ENDPOINT']}/000000000000/{name(n)}"


def queue(n, *more, endpoint=None, **env):
    """Makes a queue, whose URL is known."""
    want([url(n, endpoint)], sqs("create-queue", "--query", "QueueUrl", "--queue-name", name(n), *more, endpoint=endpoint, **env))
    return "--queue-url", url(n, endpoint)


def queues():
    program = [os.environ["AWS"], *arguments(["create-queue", "--query", "QueueUrl", "--queue-name", name("queues"), "--attributes", "VisibilityTimeout=45"], None)]
    want(url("queues"), subprocess.run(program, check=True, capture_output=True, text=True).stdout.strip())
    refused("QueueAlreadyExists", "create-queue", "--queue-name", name("queues"), "--attributes", "VisibilityTimeout=46")
    want([url("queues")], sqs("get-queue-url", "--queue-name", name("queues"), "--query", "QueueUrl"))
    want([url("queues")], sqs("list-queues", "--queue-name-prefix", name("queues"), "--query", "QueueUrls[]"))
    refused("AWS.SimpleQueueService.NonExistentQueue", "send-message", "--queue-url", url("missing"), "--message-body", "x")


def attributes():
    q = queue("attributes")
    sqs("set-queue-attributes", *q, "--attributes", "VisibilityTimeout=44,DelaySeconds=3")
    want(["44", "3"], sqs("get-queue-attributes", *q, "--attribute-names", "All", "--query", "Attributes.[VisibilityTimeout, DelaySeconds]"))
    sqs("add-permission", *q, "--label", "let-them", "--aws-account-ids", "111122223333", "--actions", "SendMessage")
    sqs("remove-permission", *q, "--label", "let-them")


def tags():
    q = queue("tags", "--tags", "team=couriers")
    sqs("tag-queue", *q, "--tags", "cost=none")
    sqs("untag-queue", *q, "--tag-keys", "team")
    want(["none"], sqs("list-queue-tags", *q, "--query", "Tags.*"))


def send_receive():
    q = queue("send", "--attributes", "VisibilityTimeout=600")
    given = {"lang": {"DataType": "String", "StringValue": "ja"}, "priority": {"DataType": "Number", "StringValue": "5"}}
    want([hashlib.md5(TEXT.encode()).hexdigest()], sqs("send-message", *q, "--message-body", TEXT, "--message-attributes", json.dumps(given), "--query", "MD5OfMessageBody"))
    want(["0"], sqs("receive-message", *q, "--message-attribute-names", "hikyaku.where:priority > 5", "--query", HOW_MANY))
    got = sqs("receive-message", *q, "--wait-time-seconds", "20", "--attribute-names", "All", "--message-attribute-names", "hikyaku.where:priority = 5", "All",
              "--query", "Messages[].[Body, MessageAttributes.lang.StringValue, Attributes.ApproximateReceiveCount, ReceiptHandle]")
    want([TEXT, "ja", "1"], got[:3])
    sqs("change-message-visibility", *q, "--receipt-handle", got[3], "--visibility-timeout", "60")
    sqs("delete-message", *q, "--receipt-handle", got[3])
    refused("ReceiptHandleIsInvalid", "delete-message", *q, "--receipt-handle", "nonsense")


def batches():
    q = queue("batch", "--attributes", "VisibilityTimeout=600")
    want(["good", "late"], sqs("send-message-batch", *q, "--query", "[Successful[].Id, Failed[].Id]", "--entries", json.dumps(
        [{"Id": "good", "MessageBody": "good"}, {"Id": "late", "MessageBody": "late", "DelaySeconds": 901}])))
    receipt = sqs("receive-message", *q, "--wait-time-seconds", "20", "--query", "Messages[].ReceiptHandle")[0]
    want(["0"], sqs("change-message-visibility-batch", *q, "--query", "Successful[].Id", "--entries", json.dumps([{"Id": "0", "ReceiptHandle": receipt, "VisibilityTimeout": 60}])))
    want(["0", "1"], sqs("delete-message-batch", *q, "--query", "[Successful[].Id, Failed[].Id]", "--entries", json.dumps(
        [{"Id": "0", "ReceiptHandle": receipt}, {"Id": "1", "ReceiptHandle": "nonsense"}])))


def long_poll():
    q = queue("poll")
    got = []
    poll = threading.Thread(target=lambda: got.extend(sqs("receive-message", *q, "--wait-time-seconds", "20", "--query", "Messages[].Body")))
    poll.start()
    sqs("send-message", *q, "--message-body", "now")
    poll.join()
    want(["now"], got)
    sqs("purge-queue", *q)


def fifo():
    q = queue("order.fifo", "--attributes", "FifoQueue=true,ContentBasedDeduplication=true")
    send = ["send-message", *q, "--message-body", "same", "--message-group-id", "g", "--query", "[MessageId, SequenceNumber]"]
    want(sqs(*send), sqs(*send))
    want(["same", "g"], sqs("receive-message", *q, "--wait-time-seconds", "20", "--attribute-names", "All", "--query", "Messages[].[Body, Attributes.MessageGroupId]"))


def move():
    dead = queue("move-dead")
    arn = sqs("get-queue-attributes", *dead, "--attribute-names", "QueueArn", "--query", "Attributes.QueueArn")[0]
    q = queue("move", "--attributes", json.dumps({"VisibilityTimeout": "0", "RedrivePolicy": json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})}))
    want([url("move")], sqs("list-dead-letter-source-queues", *dead, "--query", "queueUrls[]"))
    sqs("send-message", *q, "--message-body", "poison")
    receive = ["receive-message", *q, "--wait-time-seconds", "20", "--query", "Messages[].Body"]
    want(["poison"], sqs(*receive))
    want(["0"], sqs("receive-message", *q, "--query", HOW_MANY))
    while sqs("get-queue-attributes", *dead, "--attribute-names", "ApproximateNumberOfMessages", "--query", "Attributes.ApproximateNumberOfMessages") != ["1"]:
        pass
    task = sqs("start-message-move-task", "--source-arn", arn, "--query", "TaskHandle")[0]
    while sqs("list-message-move-tasks", "--source-arn", arn, "--query", "Results[0].Status") != ["COMPLETED"]:
        pass
    want(["poison"], sqs(*receive))
    refused("AWS.SimpleQueueService.UnsupportedOperation", "cancel-message-move-task", "--task-handle", task)


def signed():
    endpoint = os.environ["SIGNED_ENDPOINT"]
    as_one = {"endpoint": endpoint, "AWS_ACCESS_KEY_ID": "couriers"}
    q = queue("signed", AWS_SECRET_ACCESS_KEY="run-and-relay", **as_one)
    refused("SignatureDoesNotMatch", "send-message", *q, "--message-body", "x", AWS_SECRET_ACCESS_KEY="wrong", **as_one)


def deletion():
    q = queue("delete")
    sqs("delete-queue", *q)
    refused("AWS.SimpleQueueService.NonExistentQueue", "receive-message", *q)


CHECKS = {"queues": queues, "attributes": attributes, "tags": tags, "send-receive": send_receive, "batches": batches, "long-poll": long_poll, "fifo": fifo, "move": move, "signed": signed,
          "delete": deletion}
for title, body in CHECKS.items():
    check(title, body)
sys.exit(failed)
