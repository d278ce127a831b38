"""Speaks to a running hikyaku with google-cloud-pubsub and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md.
"""

import collections
import concurrent.futures
import datetime
import os
import sys
import threading
import time
import traceback

import grpc
from google.api_core import exceptions
from google.cloud import pubsub_v1
from google.cloud.pubsub_v1.subscriber.exceptions import AcknowledgeError, AcknowledgeStatus
from google.cloud.pubsub_v1.subscriber.scheduler import ThreadScheduler
from google.protobuf import duration_pb2, field_mask_pb2
from google.auth.credentials import AnonymousCredentials
from google.pubsub_v1 import PublisherClient, SubscriberClient
from google.pubsub_v1.services.publisher.transports import PublisherGrpcTransport, PublisherRestTransport
from google.pubsub_v1.services.schema_service.transports import SchemaServiceGrpcTransport
from google.pubsub_v1.services.subscriber.transports import SubscriberRestTransport
from google.pubsub_v1.types import Encoding, Schema

import same

PATIENCE = 60  # seconds that only a broken server needs
SOON = 5  # less than any deadline of the libraries
PROJECT = os.environ["CLIENT_PROJECT"]
TEXT = "こんにちは 🚚 é"
BYTES = bytes(range(256))
OVER_HTTP = {"credentials": AnonymousCredentials(), "host": os.environ["PUBSUB_EMULATOR_HOST"], "url_scheme": "http"}

publisher = pubsub_v1.PublisherClient()
subscriber = pubsub_v1.SubscriberClient()
failed = False


def check(name, body):
    global failed
    try:
        body()
        print("ok", name, flush=True)
    except Exception as e:
        failed = True
        at = traceback.extract_tb(e.__traceback__)[1:2]
        print(f"not ok {name}: {type(e).__name__}: {str(e)[:500]} ({at})".replace("\n", " "), flush=True)


def want(expected, got):
    if got != expected:
        raise AssertionError(f"got {got!r}, wanted {expected!r}"[:500])


def refused(kind, body):
    """Demands that body raises the error."""
    try:
        body()
    except kind:
        return
    raise AssertionError(f"nothing was raised, wanted {kind.__name__}")


def topic(name):
    return f"projects/{PROJECT}/topics/{name}"


def subscription(name):
    return f"projects/{PROJECT}/subscriptions/{name}"


def make(name, **settings):
    """Makes a topic and a subscription of one name."""
    publisher.create_topic(request={"name": topic(name)})
    subscriber.create_subscription(request={"name": subscription(name), "topic": topic(name), **settings})


def numbered(n):
    return [b"message %04d" % i for i in range(n)]


def publish(name, texts, client=publisher, key=""):
    """Publishes all at once, and waits until they are stored."""
    done = [client.publish(topic(name), t, ordering_key=key) for t in texts]
    concurrent.futures.wait(done, PATIENCE)
    return [d.result(0) for d in done]


def receive(name, n, handle):
    """Streams until handle said True for n messages."""
    left = n
    lock, over = threading.Lock(), threading.Event()

    def one(message):
        nonlocal left
        counts = handle(message)
        with lock:
            left -= bool(counts)
            if left == 0:
                over.set()

    stream = subscriber.subscribe(subscription(name), callback=one, await_callbacks_on_shutdown=True,
                                  flow_control=pubsub_v1.types.FlowControl(max_messages=200))
    try:
        if not over.wait(PATIENCE):
            raise AssertionError(f"{left} of {n} messages did not come")
    finally:
        stream.cancel()
        stream.result(PATIENCE)


def received(name, n):
    """Acknowledges n messages and returns them."""
    messages = []

    def one(message):
        messages.append(message)
        message.ack()
        return True

    receive(name, n, one)
    return messages


def data(messages):
    return [m.data for m in messages]


def empty(name):
    """Demands that a subscription has nothing to give."""
    got = subscriber.pull(request={"subscription": subscription(name), "max_messages": 10, "return_immediately": True}).received_messages
    want([], [m.message.data for m in got])


def create():
    make("create", ack_deadline_seconds=20, labels={"team": "couriers"}, retry_policy={"minimum_backoff": duration_pb2.Duration(seconds=1)})
    got = subscriber.get_subscription(request={"subscription": subscription("create")})
    want((topic("create"), 20, {"team": "couriers"}, datetime.timedelta(seconds=1)),
         (got.topic, got.ack_deadline_seconds, dict(got.labels), got.retry_policy.minimum_backoff))
    refused(exceptions.AlreadyExists, lambda: publisher.create_topic(request={"name": topic("create")}))


def update():
    got = publisher.update_topic(request={"topic": {"name": topic("create"), "labels": {"a": "b"}}, "update_mask": field_mask_pb2.FieldMask(paths=["labels"])})
    want({"a": "b"}, dict(got.labels))

    def change(path):
        return subscriber.update_subscription(request={
            "subscription": {"name": subscription("create"), "ack_deadline_seconds": 30}, "update_mask": field_mask_pb2.FieldMask(paths=[path])})

    got = change("ack_deadline_seconds")
    want((30, {"team": "couriers"}), (got.ack_deadline_seconds, dict(got.labels)))
    refused(exceptions.InvalidArgument, lambda: change("no_such_field"))


def errors():
    refused(exceptions.NotFound, lambda: publisher.publish(topic("missing"), b"x").result(PATIENCE))
    refused(exceptions.InvalidArgument, lambda: publisher.create_topic(request={"name": topic("goog-1")}))
    refused(exceptions.NotFound, lambda: subscriber.create_subscription(request={"name": subscription("orphan"), "topic": topic("missing")}))
    refused(exceptions.NotFound, lambda: subscriber.subscribe(subscription("missing"), callback=print).result(PATIENCE))


def publish_plain():
    make("plain")
    name = publisher.publish(topic("plain"), BYTES, text=TEXT, empty="").result(PATIENCE)
    [m] = received("plain", 1)
    want((BYTES, {"text": TEXT, "empty": ""}, name), (m.data, dict(m.attributes), m.message_id))
    now = datetime.datetime.now(datetime.timezone.utc)
    want(True, abs(now - m.publish_time) < datetime.timedelta(minutes=1))
    empty("plain")


def publish_batched():
    make("batched")
    publish("batched", numbered(2500))
    want(numbered(2500), sorted(data(received("batched", 2500))))


def publish_compressed():
    make("compressed")
    channel = grpc.insecure_channel(os.environ["PUBSUB_EMULATOR_HOST"], compression=grpc.Compression.Gzip)
    client = pubsub_v1.PublisherClient(transport=PublisherGrpcTransport(channel=channel))
    text = (TEXT * 10000).encode()
    publish("compressed", [text], client)
    want([text], data(received("compressed", 1)))
    client.stop()
    channel.close()


def publish_ordered():
    make("ordered", enable_message_ordering=True)
    client = pubsub_v1.PublisherClient(publisher_options=pubsub_v1.types.PublisherOptions(enable_message_ordering=True))
    keys = ["a", "b", "飛脚"]
    for key in keys:
        publish("ordered", numbered(100), client, key)
    got = collections.defaultdict(list)
    for m in received("ordered", 300):
        got[m.ordering_key].append(m.data)
    want({key: numbered(100) for key in keys}, dict(got))
    client.stop()


def pull():
    make("pull")
    publish("pull", [b"one"])
    got = subscriber.pull(request={"subscription": subscription("pull"), "max_messages": 10}, timeout=PATIENCE).received_messages
    want([b"one"], [m.message.data for m in got])
    ids = [m.ack_id for m in got]
    subscriber.modify_ack_deadline(request={"subscription": subscription("pull"), "ack_ids": ids, "ack_deadline_seconds": 60})
    subscriber.acknowledge(request={"subscription": subscription("pull"), "ack_ids": ids})
    empty("pull")


def nack():
    make("nack")
    publish("nack", [b"again"])
    seen = collections.Counter()

    def one(message):
        seen[message.message_id] += 1
        if seen[message.message_id] < 3:
            message.nack()
            return False
        message.ack()
        return True

    receive("nack", 1, one)
    want(1, len(seen))
    empty("nack")


def restart():
    """What a subscriber has not answered when it is stopped comes to the next one at once."""
    # The library gives back what no callback has begun; of one that has ended without an answer it says nothing, and its 10 s have to pass.
    make("restart", ack_deadline_seconds=600)
    publish("restart", numbered(20))
    acked, holds, stopped = [], threading.Event(), threading.Event()

    def one(message):
        if len(acked) < 5:
            acked.append(message.data)
            message.ack()
            return
        holds.set()
        stopped.wait(PATIENCE)
        message.nack()

    one_by_one = ThreadScheduler(executor=concurrent.futures.ThreadPoolExecutor(max_workers=1))
    stream = subscriber.subscribe(subscription("restart"), callback=one, scheduler=one_by_one, await_callbacks_on_shutdown=True)
    want(True, holds.wait(PATIENCE))
    stream.cancel()
    stopped.set()
    stream.result(PATIENCE)
    began = time.monotonic()
    want(sorted(set(numbered(20)) - set(acked)), sorted(data(received("restart", 15))))
    want(True, time.monotonic() - began < SOON)


def exactly_once():
    make("once", enable_exactly_once_delivery=True)
    publish("once", numbered(50))
    got, problems = [], []

    def one(message):
        try:
            want(AcknowledgeStatus.SUCCESS, message.ack_with_response().result(PATIENCE))
        except (AcknowledgeError, AssertionError) as e:
            problems.append(e)
        got.append(message.data)
        return True

    receive("once", 50, one)
    want([], problems)
    want(numbered(50), sorted(got))

    publish("once", [b"stale"])
    take = lambda: subscriber.pull(request={"subscription": subscription("once"), "max_messages": 1}, timeout=PATIENCE).received_messages[0].ack_id
    old = take()
    subscriber.modify_ack_deadline(request={"subscription": subscription("once"), "ack_ids": [old], "ack_deadline_seconds": 0})
    new = take()
    refused(exceptions.InvalidArgument, lambda: subscriber.acknowledge(request={"subscription": subscription("once"), "ack_ids": [old]}))
    subscriber.acknowledge(request={"subscription": subscription("once"), "ack_ids": [new]})
    empty("once")


def dead_letter():
    make("dead")
    make("alive", dead_letter_policy={"dead_letter_topic": topic("dead"), "max_delivery_attempts": 5})
    publish("alive", [b"poison"])
    attempts = []

    def one(message):
        attempts.append(message.delivery_attempt)
        message.nack()
        return True

    receive("alive", 5, one)
    want([1, 2, 3, 4, 5], attempts)
    [letter] = received("dead", 1)
    want((b"poison", "alive"), (letter.data, letter.attributes["CloudPubSubDeadLetterSourceSubscription"]))
    empty("alive")


def seek_time():
    make("past", retain_acked_messages=True, message_retention_duration=duration_pb2.Duration(seconds=3600))
    publish("past", numbered(20))
    received("past", 20)
    empty("past")

    def seek(**later):
        at = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(**later)
        subscriber.seek(request={"subscription": subscription("past"), "time": at})

    seek(hours=-1)
    want(numbered(20), sorted(data(received("past", 20))))
    publish("past", [b"never seen"])
    seek(minutes=1)
    empty("past")


def seek_snapshot():
    make("shot", enable_message_ordering=True)
    client = pubsub_v1.PublisherClient(publisher_options=pubsub_v1.types.PublisherOptions(enable_message_ordering=True))
    publish("shot", numbered(10), client, "k")
    client.stop()
    snapshot = f"projects/{PROJECT}/snapshots/shot"
    subscriber.create_snapshot(request={"name": snapshot, "subscription": subscription("shot")})
    for _ in range(2):
        want(numbered(10), data(received("shot", 10)))
        subscriber.seek(request={"subscription": subscription("shot"), "snapshot": snapshot})
    subscriber.delete_snapshot(request={"snapshot": snapshot})


def seek_other():
    """A snapshot of one subscription is a place in another one of the topic, too."""
    make("others")
    subscriber.create_subscription(request={"name": subscription("sought"), "topic": topic("others"), "retain_acked_messages": True})
    publish("others", numbered(10)[:4])
    received("others", 4)
    publish("others", numbered(10)[4:])
    snapshot = f"projects/{PROJECT}/snapshots/others"
    subscriber.create_snapshot(request={"name": snapshot, "subscription": subscription("others")})
    want(numbered(10), sorted(data(received("sought", 10))))
    for client in subscriber, SubscriberClient(transport=SubscriberRestTransport(**OVER_HTTP)):
        empty("sought")
        client.seek(request={"subscription": subscription("sought"), "snapshot": snapshot})
        want(numbered(10)[4:], sorted(data(received("sought", 6))))
    subscriber.delete_snapshot(request={"snapshot": snapshot})


def filtered():
    make("filter", filter='attributes.lang = "ja" OR (attributes:id AND NOT hasPrefix(attributes.id, "x"))')
    for i, attributes in enumerate([{"lang": "ja"}, {"lang": "en"}, {"id": "y"}, {"id": "xy"}, {"other": ""}]):
        publisher.publish(topic("filter"), b"%d" % i, **attributes).result(PATIENCE)
    want([b"0", b"2"], sorted(data(received("filter", 2))))
    empty("filter")
    refused(exceptions.InvalidArgument, lambda: subscriber.create_subscription(
        request={"name": subscription("unfiltered"), "topic": topic("filter"), "filter": "attributes.lang = ja"}))


def schema():
    # The client for schemas knows nothing of PUBSUB_EMULATOR_HOST.
    channel = grpc.insecure_channel(os.environ["PUBSUB_EMULATOR_HOST"])
    schemas = pubsub_v1.SchemaServiceClient(transport=SchemaServiceGrpcTransport(channel=channel))
    made = schemas.create_schema(request={"parent": f"projects/{PROJECT}", "schema_id": "seen", "schema": Schema(
        type_=Schema.Type.PROTOCOL_BUFFER, definition='syntax = "proto3"; message Seen { string who = 1; }')})
    publisher.create_topic(request={"name": topic("schema"), "schema_settings": {"schema": made.name, "encoding": Encoding.JSON}})
    publish("schema", [b'{"who": "Ken"}'])
    refused(exceptions.InvalidArgument, lambda: publish("schema", [b'{"who": 5}']))
    schemas.commit_schema(request={"name": made.name, "schema": Schema(
        name=made.name, type_=Schema.Type.PROTOCOL_BUFFER, definition='syntax = "proto3"; message Seen { string who = 1; int64 at = 2; }')})
    publish("schema", [b'{"who": "Ken", "at": "5"}'])
    channel.close()


def rest():
    """The transports that speak JSON over HTTP."""
    topics = PublisherClient(transport=PublisherRestTransport(**OVER_HTTP))
    subscriptions = SubscriberClient(transport=SubscriberRestTransport(**OVER_HTTP))
    topics.create_topic(request={"name": topic("rest")})
    made = subscriptions.create_subscription(request={"name": subscription("rest"), "topic": topic("rest")})
    want("ACTIVE", made.state.name)
    ids = topics.publish(request={"topic": topic("rest"), "messages": [{"data": b"one"}]}).message_ids
    got = subscriptions.pull(request={"subscription": subscription("rest"), "max_messages": 10}, timeout=PATIENCE).received_messages
    want([(ids[0], b"one")], [(m.message.message_id, m.message.data) for m in got])
    subscriptions.acknowledge(request={"subscription": subscription("rest"), "ack_ids": [m.ack_id for m in got]})
    refused(exceptions.NotFound, lambda: topics.get_topic(request={"topic": topic("nothing")}))


def transform():
    """A function of the topic and one of the subscription, over REST."""
    topics = PublisherClient(transport=PublisherRestTransport(**OVER_HTTP))
    subscriptions = SubscriberClient(transport=SubscriberRestTransport(**OVER_HTTP))

    def function(name, body):
        code = "function %s(message, metadata) { %s }" % (name, body)
        return {"javascript_udf": {"function_name": name, "code": code}}

    topics.create_topic(request={"name": topic("transform"), "message_transforms": [
        function("drop", "return message.data === 'no' ? null : message;"),
        function("fail", "if (message.data === 'bad') throw new Error('so bad'); return message;")]})
    subscriptions.create_subscription(request={
        "name": subscription("transform"), "topic": topic("transform"),
        "message_transforms": [function("louder", "return {data: message.data + '!', attributes: {seen: metadata.message_id}};")]})
    ids = topics.publish(request={"topic": topic("transform"), "messages": [{"data": b"no"}, {"data": TEXT.encode()}]}).message_ids
    refused(exceptions.BadRequest, lambda: topics.publish(request={"topic": topic("transform"), "messages": [{"data": b"bad"}]}))
    got = subscriptions.pull(request={"subscription": subscription("transform"), "max_messages": 10}, timeout=PATIENCE).received_messages
    want([(ids[1], TEXT + "!", ids[1])], [(m.message.message_id, m.message.data.decode(), m.message.attributes["seen"]) for m in got])
    subscriptions.acknowledge(request={"subscription": subscription("transform"), "ack_ids": [m.ack_id for m in got]})
    refused(exceptions.BadRequest, lambda: topics.create_topic(request={
        "name": topic("transform-wrong"), "message_transforms": [function("f", "return (")]}))


def delete():
    names = [s.name for s in subscriber.list_subscriptions(request={"project": f"projects/{PROJECT}", "page_size": 3})]
    want(True, len(names) >= 10)
    for t in list(publisher.list_topics(request={"project": f"projects/{PROJECT}"})):
        publisher.delete_topic(request={"topic": t.name})
    want("_deleted-topic_", subscriber.get_subscription(request={"subscription": subscription("create")}).topic)
    for name in names:
        subscriber.delete_subscription(request={"subscription": name})
    refused(exceptions.NotFound, lambda: subscriber.get_subscription(request={"subscription": subscription("create")}))


def endure():
    """Publishes and receives while the server is killed, until it is told to stop, and then until all has come."""
    signals = os.environ["CLIENT_SIGNALS"]
    received, confirmed, doubled = set(), set(), []
    results = []

    def one(message):
        if message.message_id in confirmed:
            doubled.append(message.message_id)
        try:
            if message.ack_with_response().result(2 * PATIENCE) == AcknowledgeStatus.SUCCESS:
                confirmed.add(message.message_id)
        except AcknowledgeError:
            pass  # it comes again
        received.add(message.data)
        open(os.path.join(signals, PROJECT), "w").close()

    def publish_all():
        while not os.path.exists(os.path.join(signals, "stop")):
            results.append(publisher.publish(topic("endure"), b"%d" % len(results)))
            time.sleep(0.02)
        for r in results:
            r.result(2 * PATIENCE)

    def all_came():
        late = time.monotonic() + 2 * PATIENCE
        while len(received) < len(results):
            if time.monotonic() > late:
                raise AssertionError(f"{len(results) - len(received)} of {len(results)} did not come")
            time.sleep(0.02)
        stream.cancel()
        stream.result(PATIENCE)

    make("endure", enable_exactly_once_delivery=True)
    # A message that was on its way when the server was killed comes again after that long; the library's own choice is a minute.
    shortest = pubsub_v1.types.FlowControl(min_duration_per_lease_extension=10, max_duration_per_lease_extension=10)
    stream = subscriber.subscribe(subscription("endure"), callback=one, flow_control=shortest, await_callbacks_on_shutdown=True)
    check("all-published", publish_all)
    check("nothing-lost", all_came)
    check("nothing-doubled", lambda: want([], doubled))


def everything():
    check("create", create)
    check("update", update)
    check("errors", errors)
    check("publish-plain", publish_plain)
    check("publish-batched", publish_batched)
    check("publish-compressed", publish_compressed)
    check("publish-ordered", publish_ordered)
    check("pull", pull)
    check("nack", nack)
    check("restart", restart)
    check("exactly-once", exactly_once)
    check("dead-letter", dead_letter)
    check("seek-time", seek_time)
    check("seek-snapshot", seek_snapshot)
    check("seek-other", seek_other)
    check("filter", filtered)
    check("schema", schema)
    check("rest", rest)
    check("same", lambda: want([], same.check(os.environ["PUBSUB_EMULATOR_HOST"], PROJECT)))
    check("transform", transform)
    check("delete", delete)


if sys.argv[1:] == ["endure"]:
    endure()
else:
    everything()
publisher.stop()
subscriber.close()
sys.exit(failed)
