"""Speaks to a running hikyaku with boto3 and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md. It works with a boto3 of the JSON protocol and with one of the query protocol.
"""

import base64
import hashlib
import json
import os
import struct
import sys
import threading
import time
import urllib.request

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

import fields
from shapes import Watch

PREFIX = os.environ["CLIENT_PREFIX"]
ACCOUNT = "000000000000"
TEXT = "こんにちは 🚚 é <&> \"'\t\r\n"
PATIENCE = 60  # seconds that only a broken server needs
WAITING = 200

failed = False


def client(endpoint, key="any", secret="thing", **more):
    config = Config(max_pool_connections=WAITING + 10, read_timeout=60, retries={"max_attempts": 1}, **more)
    return boto3.client("sqs", endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=key,
                        aws_secret_access_key=secret, config=config)


sqs = client(os.environ["SQS_ENDPOINT"])
watches = [Watch(sqs)]


def check(name, body):
    global failed
    try:
        body()
        print(f"ok {name}", flush=True)
    except Exception as e:
        failed = True
        why = " ".join(f"{type(e).__name__}: {e} (line {e.__traceback__.tb_next and e.__traceback__.tb_next.tb_lineno})".split())
        print(f"not ok {name}: {why[:500]}", flush=True)


def want(expected, got):
    if expected != got:
        raise AssertionError(f"got {got!r:.300}, wanted {expected!r:.300}")


def refused(error, call, **args):
    """Demands that a call fails with an error: a class of the client's, or a code for which it has none."""
    try:
        call(**args)
    except ClientError as e:
        if isinstance(error, str):
            want(error, e.response["Error"]["Code"])
        else:
            want(error.__name__, type(e).__name__)
        return
    raise AssertionError(f"nothing was raised, wanted {error}")


def queue(name, **attributes):
    return sqs.create_queue(QueueName=f"{PREFIX}-{name}", Attributes=attributes)["QueueUrl"]


def send(url, body, **more):
    return sqs.send_message(QueueUrl=url, MessageBody=body, **more)


def receive(url, most=10, wait=0, **more):
    return sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=most, WaitTimeSeconds=wait, **more).get("Messages", [])


def bodies(messages):
    return [m["Body"] for m in messages]


def delete(url, messages):
    for m in messages:
        sqs.delete_message(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"])


def drain(url, n, **more):
    """Receives and deletes n messages, in the order in which they come."""
    got = []
    late = time.monotonic() + PATIENCE
    while len(got) < n:
        some = receive(url, wait=2, **more)
        delete(url, some)
        got += some
        if time.monotonic() > late:
            raise AssertionError(f"{len(got)} of {n} messages came: {bodies(got)}")
    return got


def attribute(url, *names):
    got = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=list(names))["Attributes"]
    return [got.get(n) for n in names]


def eventually(expected, ask):
    late = time.monotonic() + PATIENCE
    while (got := ask()) != expected:
        if time.monotonic() > late:
            want(expected, got)
        time.sleep(0.05)


def md5(text):
    return hashlib.md5(text.encode()).hexdigest()


def attributes_md5(attributes):
    """What Amazon's guide says: of each attribute, in the order of the names, lengths and texts of name and type, a byte for the kind, and the value."""
    def part(b):
        return struct.pack(">I", len(b)) + b

    h = hashlib.md5()
    for name in sorted(attributes):
        a = attributes[name]
        binary = "BinaryValue" in a
        h.update(part(name.encode()) + part(a["DataType"].encode()) + (b"\2" if binary else b"\1") + part(a["BinaryValue"] if binary else a["StringValue"].encode()))
    return h.hexdigest()


def string(value, kind="String"):
    return {"DataType": kind, "StringValue": value}


def queues():
    url = queue("queues", VisibilityTimeout="45", DelaySeconds="0")
    want(f"/{ACCOUNT}/{PREFIX}-queues", url[url.index("/", 8):])
    want(url, queue("queues", VisibilityTimeout="45"))
    want(url, queue("queues"))
    want(url, sqs.get_queue_url(QueueName=f"{PREFIX}-queues", QueueOwnerAWSAccountId=ACCOUNT)["QueueUrl"])
    refused(sqs.exceptions.QueueNameExists, queue, name="queues", VisibilityTimeout="46")
    refused("InvalidParameterValue", queue, name="not a name")
    urls = [queue(f"page-{i}") for i in range(5)]
    pages, more = [], {}
    while True:
        page = sqs.list_queues(QueueNamePrefix=f"{PREFIX}-page-", MaxResults=2, **more)
        pages.append(page["QueueUrls"])
        if "NextToken" not in page:
            break
        more = {"NextToken": page["NextToken"]}
    want([2, 2, 1], [len(p) for p in pages])
    want(urls, sorted(sum(pages, [])))
    want(None, sqs.list_queues(QueueNamePrefix=f"{PREFIX}-none").get("QueueUrls"))


def attributes():
    policy = json.dumps({"Version": "2012-10-17", "Statement": []})
    given = {"VisibilityTimeout": "33", "DelaySeconds": "0", "MaximumMessageSize": "2048", "MessageRetentionPeriod": "3600", "ReceiveMessageWaitTimeSeconds": "0",
             "Policy": policy, "KmsMasterKeyId": "alias/some", "KmsDataKeyReusePeriodSeconds": "600"}
    url = queue("attributes", **given)
    all_of = sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["All"])["Attributes"]
    want(given, {name: all_of.get(name) for name in given})
    want(f":{ACCOUNT}:{PREFIX}-attributes", all_of["QueueArn"][-len(f":{ACCOUNT}:{PREFIX}-attributes"):])
    want(True, abs(time.time() - int(all_of["CreatedTimestamp"])) < 60)
    sqs.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "44", "Policy": ""})
    want(["44", None], attribute(url, "VisibilityTimeout", "Policy"))
    send(url, "one")
    send(url, "two")
    send(url, "three", DelaySeconds=600)
    want(1, len(receive(url, 1)))
    want(["1", "1", "1"], attribute(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible", "ApproximateNumberOfMessagesDelayed"))
    refused(sqs.exceptions.InvalidAttributeName, sqs.get_queue_attributes, QueueUrl=url, AttributeNames=["Colour"])
    refused(sqs.exceptions.InvalidAttributeName, sqs.set_queue_attributes, QueueUrl=url, Attributes={"Colour": "red"})
    refused("InvalidAttributeValue", sqs.set_queue_attributes, QueueUrl=url, Attributes={"VisibilityTimeout": "43201"})
    refused("InvalidParameterValue", send, url=url, body="x" * 2049)


TRACE = "Root=1-3152b799-8954dae64eda91bc9a23a7e8;Parent=7fa8c0f79203be72;Sampled=1"


def traced(request, **_):
    request.headers["X-Amzn-Trace-Id"] = TRACE


def send_receive():
    url = queue("send")
    given = {"lang": string("ja"), "price": string("12.50", "Number"), "colour": string("赤", "String.name"), "big": string("123456789012345678901234567890", "Number"),
             "bytes": {"DataType": "Binary", "BinaryValue": bytes(range(256))}, "picture": {"DataType": "Binary.png", "BinaryValue": b"\x89PNG"}}
    trace = {"AWSTraceHeader": string("Root=1-5759e988-bd862e3fe1be46a994272793")}
    sent = send(url, TEXT, MessageAttributes=given, MessageSystemAttributes=trace)
    want([md5(TEXT), attributes_md5(given), attributes_md5(trace)], [sent[n] for n in ("MD5OfMessageBody", "MD5OfMessageAttributes", "MD5OfMessageSystemAttributes")])
    got = receive(url, wait=20, AttributeNames=["All"], MessageAttributeNames=["All"])
    want(1, len(got))
    m = got[0]
    want([TEXT, md5(TEXT), sent["MessageId"], given, attributes_md5(given)], [m[n] for n in ("Body", "MD5OfBody", "MessageId", "MessageAttributes", "MD5OfMessageAttributes")])
    want(["1", trace["AWSTraceHeader"]["StringValue"]], [m["Attributes"][n] for n in ("ApproximateReceiveCount", "AWSTraceHeader")])
    want(True, abs(time.time() * 1000 - int(m["Attributes"]["SentTimestamp"])) < 60_000 and "SenderId" in m["Attributes"])
    want(True, int(m["Attributes"]["ApproximateFirstReceiveTimestamp"]) >= int(m["Attributes"]["SentTimestamp"]))
    delete(url, got)
    delete(url, got)  # twice is no error
    send(url, "some", MessageAttributes={"a.x": string("1"), "a.y": string("2"), "b": string("3"), "c": string("4")})
    m = receive(url, wait=20, AttributeNames=["SentTimestamp"], MessageAttributeNames=["a.*", "c"])[0]
    want([["SentTimestamp"], ["a.x", "a.y", "c"]], [sorted(m["Attributes"]), sorted(m["MessageAttributes"])])
    want(attributes_md5(m["MessageAttributes"]), m["MD5OfMessageAttributes"])
    sqs.meta.events.register("before-send.sqs.SendMessage", traced)
    send(url, "traced", MessageAttributes={"色.größe": string("赤")})
    sqs.meta.events.unregister("before-send.sqs.SendMessage", traced)
    m = receive(url, wait=20, AttributeNames=["AWSTraceHeader"], MessageAttributeNames=["*"])[0]
    want([{"AWSTraceHeader": TRACE}, {"色.größe": string("赤")}], [m["Attributes"], m["MessageAttributes"]])
    send(url, "plain")
    m = receive(url, wait=20, AttributeNames=[], MessageAttributeNames=[])[0]
    want([None, None], [m.get("Attributes"), m.get("MessageAttributes")])
    large = "飛" * (1 << 18)  # three bytes each
    want(md5(large), send(url, large)["MD5OfMessageBody"])
    want([large], bodies(drain(url, 1)))
    refused("InvalidParameterValue", send, url=url, body="x" * ((1 << 20) + 1))
    refused(sqs.exceptions.InvalidMessageContents, send, url=url, body="a\x01b")
    refused("InvalidParameterValue", send, url=url, body="x", MessageAttributes={"n": string("12a", "Number")})


def batches():
    url = queue("batch")
    r = sqs.send_message_batch(QueueUrl=url, Entries=[
        {"Id": "good", "MessageBody": "good", "MessageAttributes": {"n": string("1", "Number")}}, {"Id": "late", "MessageBody": "late", "DelaySeconds": 901},
        {"Id": "fine", "MessageBody": "fine"}])
    want([["fine", "good"], [("late", True)]], [sorted(e["Id"] for e in r["Successful"]), [(e["Id"], e["SenderFault"]) for e in r["Failed"]]])
    want({md5("good"), md5("fine")}, {e["MD5OfMessageBody"] for e in r["Successful"]})
    got = []
    while len(got) < 2:
        got += receive(url, wait=20, VisibilityTimeout=30)
    r = sqs.change_message_visibility_batch(QueueUrl=url, Entries=[
        {"Id": "a", "ReceiptHandle": got[0]["ReceiptHandle"], "VisibilityTimeout": 60}, {"Id": "b", "ReceiptHandle": "nonsense", "VisibilityTimeout": 60}])
    want([["a"], [("b", "ReceiptHandleIsInvalid", True)]], [[e["Id"] for e in r["Successful"]], [(e["Id"], e["Code"], e["SenderFault"]) for e in r["Failed"]]])
    r = sqs.delete_message_batch(QueueUrl=url, Entries=[{"Id": str(i), "ReceiptHandle": h} for i, h in enumerate([got[0]["ReceiptHandle"], "nonsense", got[1]["ReceiptHandle"]])])
    want([["0", "2"], [("1", "ReceiptHandleIsInvalid")]], [[e["Id"] for e in r["Successful"]], [(e["Id"], e["Code"]) for e in r["Failed"]]])
    want([], receive(url))

    def entries(*ids, body="x"):
        return {"QueueUrl": url, "Entries": [{"Id": i, "MessageBody": body} for i in ids]}

    refused(sqs.exceptions.EmptyBatchRequest, sqs.send_message_batch, **entries())
    refused(sqs.exceptions.TooManyEntriesInBatchRequest, sqs.send_message_batch, **entries(*"abcdefghijk"))
    refused(sqs.exceptions.BatchEntryIdsNotDistinct, sqs.send_message_batch, **entries("a", "b", "a"))
    refused(sqs.exceptions.InvalidBatchEntryId, sqs.send_message_batch, **entries("a b"))
    refused(sqs.exceptions.BatchRequestTooLong, sqs.send_message_batch, **entries("a", "b", body="x" * 600_000))


def long_poll():
    url = queue("poll", ReceiveMessageWaitTimeSeconds="1")
    began = time.monotonic()
    want([], sqs.receive_message(QueueUrl=url).get("Messages", []))  # the queue says how long
    want(True, time.monotonic() - began > 0.9)
    got = []
    t = threading.Thread(target=lambda: got.extend(receive(url, wait=20)))
    t.start()
    time.sleep(0.2)
    began = time.monotonic()
    send(url, "now")
    t.join()
    want([["now"], True], [bodies(got), time.monotonic() - began < 15])


def many_waiting():
    url = queue("waiting", VisibilityTimeout="600")
    got, lock = [], threading.Lock()

    def wait():
        some = receive(url, 1, 6)
        with lock:
            got.extend(bodies(some))

    threads = [threading.Thread(target=wait) for _ in range(WAITING)]
    for t in threads:
        t.start()
    time.sleep(1)
    send(url, "one of you")
    for t in threads:
        t.join()
    want(["one of you"], got)


def visibility():
    url = queue("visibility", VisibilityTimeout="1")
    send(url, "again")
    began = time.monotonic()
    first = receive(url, wait=20, AttributeNames=["All"])
    second = receive(url, wait=20, AttributeNames=["All"], VisibilityTimeout=600)  # after a second
    want([["again"], True], [bodies(second), time.monotonic() - began > 0.9])
    want([], receive(url))
    want(["1", "2"], [m["Attributes"]["ApproximateReceiveCount"] for m in first + second])
    want(first[0]["Attributes"]["ApproximateFirstReceiveTimestamp"], second[0]["Attributes"]["ApproximateFirstReceiveTimestamp"])
    want(False, first[0]["ReceiptHandle"] == second[0]["ReceiptHandle"])
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=second[0]["ReceiptHandle"], VisibilityTimeout=0)
    third = receive(url, wait=20, VisibilityTimeout=600)
    want(["again"], bodies(third))
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=first[0]["ReceiptHandle"], VisibilityTimeout=0)  # an older handle is as good, as AWS has it
    third = receive(url, wait=20, VisibilityTimeout=600)
    want(["again"], bodies(third))
    delete(url, third)
    refused("InvalidParameterValue", sqs.change_message_visibility, QueueUrl=url, ReceiptHandle=third[0]["ReceiptHandle"], VisibilityTimeout=43201)
    refused(sqs.exceptions.ReceiptHandleIsInvalid, sqs.change_message_visibility, QueueUrl=url, ReceiptHandle="nonsense", VisibilityTimeout=5)


def dead_letters(name):
    dead = queue(name + "-dead")
    arn = attribute(dead, "QueueArn")[0]
    url = queue(name, VisibilityTimeout="600", RedrivePolicy=json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 2}))
    return url, dead, arn


def fail(url, n):
    """Receives n messages and gives them back, as often as they may be received."""
    for _ in range(2 * n):
        for m in receive(url, 1, 5):
            sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"], VisibilityTimeout=0)
    want([], receive(url))


def dead_letter():
    url, dead, arn = dead_letters("redrive")
    want([url], sqs.list_dead_letter_source_queues(QueueUrl=dead)["queueUrls"])
    sent = send(url, "poison", MessageAttributes={"k": string("v")})
    fail(url, 1)
    got = receive(dead, wait=20, AttributeNames=["All"], MessageAttributeNames=["All"])
    want([["poison"], sent["MessageId"], {"k": string("v")}], [bodies(got), got[0]["MessageId"], got[0]["MessageAttributes"]])
    want([attribute(url, "QueueArn")[0], "3"], [got[0]["Attributes"][n] for n in ("DeadLetterQueueSourceArn", "ApproximateReceiveCount")])
    want({"deadLetterTargetArn": arn, "maxReceiveCount": 2}, json.loads(attribute(url, "RedrivePolicy")[0]))


def move():
    url, dead, arn = dead_letters("move")
    for body in ("one", "two"):
        send(url, body)
    fail(url, 2)
    eventually(["2"], lambda: attribute(dead, "ApproximateNumberOfMessages"))
    want(True, bool(sqs.start_message_move_task(SourceArn=arn, DestinationArn=attribute(url, "QueueArn")[0], MaxNumberOfMessagesPerSecond=100)["TaskHandle"]))
    eventually(("COMPLETED", 2), lambda: [(r["Status"], r.get("ApproximateNumberOfMessagesMoved")) for r in sqs.list_message_move_tasks(SourceArn=arn)["Results"]][0])
    want(["one", "two"], sorted(bodies(drain(url, 2))))
    refused(sqs.exceptions.ResourceNotFoundException, sqs.start_message_move_task, SourceArn=arn + "-not-there")
    for source in (arn, arn + "-not-there"):
        handle = base64.b64encode(json.dumps({"taskId": "10f57157-fc38-4da9-a113-4de7e12d05dd", "sourceArn": source}).encode()).decode()
        refused(sqs.exceptions.ResourceNotFoundException, sqs.cancel_message_move_task, TaskHandle=handle)
    refused("InvalidParameterValue", sqs.cancel_message_move_task, TaskHandle="nonsense")
    sqs.set_queue_attributes(QueueUrl=dead, Attributes={"RedrivePolicy": json.dumps({"deadLetterTargetArn": arn, "maxReceiveCount": 1})})
    want({"deadLetterTargetArn": arn, "maxReceiveCount": 1}, json.loads(attribute(dead, "RedrivePolicy")[0]))


def delay():
    url = queue("delay", DelaySeconds="1")
    began = time.monotonic()
    send(url, "as the queue says")
    send(url, "at once", DelaySeconds=0)
    want(["at once"], bodies(drain(url, 1)))
    want(["as the queue says"], bodies(drain(url, 1)))
    want(True, time.monotonic() - began > 0.9)


def purge():
    url = queue("purge")
    for _ in range(3):
        sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": str(i), "MessageBody": "x"} for i in range(10)])
    receive(url)
    sqs.purge_queue(QueueUrl=url)
    eventually(["0", "0"], lambda: attribute(url, "ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"))
    want([], receive(url))
    refused(sqs.exceptions.PurgeQueueInProgress, sqs.purge_queue, QueueUrl=url)


def tags():
    url = sqs.create_queue(QueueName=f"{PREFIX}-tags", tags={"team": "couriers"})["QueueUrl"]
    sqs.tag_queue(QueueUrl=url, Tags={"cost": "none", "色": "赤"})
    want({"team": "couriers", "cost": "none", "色": "赤"}, sqs.list_queue_tags(QueueUrl=url)["Tags"])
    sqs.untag_queue(QueueUrl=url, TagKeys=["cost", "team"])
    want({"色": "赤"}, sqs.list_queue_tags(QueueUrl=url)["Tags"])


def permission():
    url = queue("permission")
    sqs.add_permission(QueueUrl=url, Label="let-them", AWSAccountIds=["111122223333"], Actions=["SendMessage"])
    statements = json.loads(attribute(url, "Policy")[0])["Statement"]
    want([("let-them", "arn:aws:iam::111122223333:root", "SQS:SendMessage")], [(s["Sid"], s["Principal"]["AWS"], s["Action"]) for s in statements])
    sqs.remove_permission(QueueUrl=url, Label="let-them")
    refused("InvalidParameterValue", sqs.remove_permission, QueueUrl=url, Label="let-them")


def fifo():
    url = queue("order.fifo", FifoQueue="true", VisibilityTimeout="600")
    for i in range(20):
        r = sqs.send_message_batch(QueueUrl=url, Entries=[
            {"Id": g, "MessageBody": f"{g}{i:02}", "MessageGroupId": g, "MessageDeduplicationId": f"{g}{i}"} for g in "abc"])
        want(3, len(r["Successful"]))
    held = receive(url, 1)  # its group stands still, the others do not
    group = held[0]["Body"][0]
    others = [b for b in bodies(drain(url, 40))]
    for g in set("abc") - {group}:
        want([f"{g}{i:02}" for i in range(20)], [b for b in others if b[0] == g])
    want([], receive(url))
    delete(url, held)
    got = drain(url, 19, AttributeNames=["All"])
    want([f"{group}{i:02}" for i in range(1, 20)], bodies(got))
    numbers = [int(m["Attributes"]["SequenceNumber"]) for m in got]
    want(sorted(set(numbers)), numbers)
    want([group, f"{group}19"], [got[-1]["Attributes"][n] for n in ("MessageGroupId", "MessageDeduplicationId")])
    refused("MissingParameter", send, url=url, body="x", MessageDeduplicationId="x")
    delete(url, got)
    for i in range(3):
        for g in "ab":
            send(url, f"{g}{i}", MessageGroupId=g, MessageDeduplicationId=f"again-{g}{i}")
    mine, others = receive(url, 3), receive(url, 3)
    want([["a0", "a1", "a2"], ["b0", "b1", "b2"]], [bodies(mine), bodies(others)])  # all it can of one group
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=mine[0]["ReceiptHandle"], VisibilityTimeout=0)
    back = receive(url)
    want(["a0"], bodies(back))  # the others of its group stay in flight,
    delete(url, mine[1:] + back)  # and can be deleted
    want(["3"], attribute(url, "ApproximateNumberOfMessagesNotVisible"))  # those of b
    whole = {"Id": "whole", "MessageBody": "x", "MessageGroupId": "c", "MessageDeduplicationId": "whole"}
    for missing in ("MessageGroupId", "MessageDeduplicationId"):
        entry = {k: v for k, v in whole.items() if k != missing} | {"Id": "lacking"}
        refused("InvalidParameterValue", sqs.send_message_batch, QueueUrl=url, Entries=[whole, entry])
    want([], receive(url))
    refused("InvalidParameterValue", queue, name="no-ending", FifoQueue="true")


def dedup():
    url = queue("dedup.fifo", FifoQueue="true", ContentBasedDeduplication="true")
    one = send(url, "same", MessageGroupId="g")
    two = send(url, "same", MessageGroupId="g")
    want([one[n] for n in ("MessageId", "SequenceNumber")], [two[n] for n in ("MessageId", "SequenceNumber")])
    named = send(url, "same", MessageGroupId="g", MessageDeduplicationId="own")
    want(False, one["MessageId"] == named["MessageId"])
    got = receive(url, wait=20, ReceiveRequestAttemptId="try-1")
    want(["same", "same"], bodies(got))
    again = receive(url, ReceiveRequestAttemptId="try-1")  # whoever lost the answer gets it again
    want([m["MessageId"] for m in got], [m["MessageId"] for m in again])
    delete(url, again)
    want(one["MessageId"], send(url, "same", MessageGroupId="g")["MessageId"])
    want([], receive(url))
    sqs.purge_queue(QueueUrl=url)
    want(False, one["MessageId"] == send(url, "same", MessageGroupId="g")["MessageId"])  # a purge forgets the ids
    bare = queue("bare.fifo", FifoQueue="true")
    refused("InvalidParameterValue", send, url=bare, body="x", MessageGroupId="g")


def errors():
    url = queue("errors")
    missing = url + "-missing"
    gone = sqs.exceptions.QueueDoesNotExist
    refused(gone, sqs.get_queue_url, QueueName=f"{PREFIX}-errors-missing")
    refused(gone, send, url=missing, body="x")
    refused(gone, receive, url=missing)
    refused(gone, sqs.delete_queue, QueueUrl=missing)
    refused(sqs.exceptions.ReceiptHandleIsInvalid, sqs.delete_message, QueueUrl=url, ReceiptHandle="nonsense")
    refused("InvalidParameterValue", receive, url=url, most=11)
    refused("InvalidParameterValue", receive, url=url, wait=21)
    send(url, "soon gone")
    got = receive(url, wait=20)
    delete(url, got)
    refused("InvalidParameterValue", sqs.change_message_visibility, QueueUrl=url, ReceiptHandle=got[0]["ReceiptHandle"], VisibilityTimeout=5)


def where():
    url = queue("where", VisibilityTimeout="600")
    for body, lang, priority in [("a", "ja", 1), ("b", "ja", 5), ("c", "en", 7), ("d", "ja", 9)]:
        send(url, body, MessageAttributes={"lang": string(lang), "priority": string(str(priority), "Number")})
    got = receive(url, MessageAttributeNames=["hikyaku.where:lang = 'ja' and priority >= 3", "lang"])
    want([["b", "d"], ["lang"]], [bodies(got), sorted(got[0]["MessageAttributes"])])
    want([], receive(url, MessageAttributeNames=["hikyaku.where:lang = 'fr'"]))
    want(["c"], bodies(receive(url, MessageAttributeNames=["hikyaku.where:lang <> 'ja'"])))
    refused("InvalidParameterValue", receive, url=url, MessageAttributeNames=["hikyaku.where:lang = "])


def shared():
    url = queue("shared", VisibilityTimeout="600")

    def post(path, **body):
        r = urllib.request.Request(f"{os.environ['HTTP_ENDPOINT']}/default/{path}", json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(r, timeout=PATIENCE) as answer:
            return json.load(answer)

    put = post(f"queues/{PREFIX}-shared/messages", body=TEXT, attributes={"lang": "ja", "priority": 5, "raw": {"base64": "AP8="}})
    m = receive(url, wait=20, MessageAttributeNames=["All", "hikyaku.where:priority = 5"])[0]
    want([TEXT, put["id"], {"lang": string("ja"), "priority": string("5", "Number"), "raw": {"DataType": "Binary", "BinaryValue": b"\0\xff"}}],
         [m["Body"], m["MessageId"], m["MessageAttributes"]])
    delete(url, [m])
    sent = send(url, "back", MessageAttributes={"lang": string("en"), "priority": string("7", "Number")})
    send(url, "other", MessageAttributes={"lang": string("en"), "priority": string("1", "Number")})
    got = post(f"queues/{PREFIX}-shared/claim", where="priority > 6 and lang = 'en'", max=10)["messages"]
    want([("back", sent["MessageId"])], [(g["body"], g["id"]) for g in got])
    post("settle", settlements=[{"token": got[0]["token"], "as": "done"}])
    want(["other"], bodies(receive(url)))


def signed():
    endpoint = os.environ["SIGNED_ENDPOINT"]
    name = f"{PREFIX}-signed"
    url = client(endpoint, "couriers", "run-and-relay").create_queue(QueueName=name)["QueueUrl"]
    good = client(endpoint, "couriers", "run-and-relay")
    good.send_message(QueueUrl=url, MessageBody=TEXT)
    want([TEXT], bodies(good.receive_message(QueueUrl=url)["Messages"]))
    refused("SignatureDoesNotMatch", client(endpoint, "couriers", "wrong").send_message, QueueUrl=url, MessageBody="x")
    refused("InvalidClientTokenId", client(endpoint, "nobody", "run-and-relay").send_message, QueueUrl=url, MessageBody="x")
    refused("AccessDenied", client(endpoint, "reader", "may-only-take").send_message, QueueUrl=url, MessageBody="x")


def deletion():
    url = queue("delete")
    send(url, "x")
    sqs.delete_queue(QueueUrl=url)
    refused(sqs.exceptions.QueueDoesNotExist, receive, url=url)
    want(None, sqs.list_queues(QueueNamePrefix=f"{PREFIX}-delete").get("QueueUrls"))
    refused(sqs.exceptions.QueueDeletedRecently, queue, name="delete")


def every_field():
    spoiling = client(os.environ["SQS_ENDPOINT"], parameter_validation=False)
    watches.append(Watch(spoiling))
    want([], fields.check(spoiling, PREFIX))


def shapes():
    """All answers of the checks before, as they came, are what the client's model says."""
    want(True, all(w.answers > 300 for w in watches))
    want([], sorted({wrong for w in watches for wrong in w.wrong}))


CHECKS = {
    "queues": queues, "attributes": attributes, "send-receive": send_receive, "batches": batches, "long-poll": long_poll, "many-waiting": many_waiting,
    "visibility": visibility, "dead-letter": dead_letter, "move": move, "delay": delay, "purge": purge, "tags": tags, "permission": permission,
    "fifo": fifo, "dedup": dedup, "errors": errors, "where": where, "shared": shared, "signed": signed, "delete": deletion,
    "fields": every_field, "shapes": shapes,
}
for name, body in CHECKS.items():
    check(name, body)
sys.exit(failed)
