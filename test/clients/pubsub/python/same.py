"""Makes every call of Pub/Sub with every field, once over gRPC and once over REST, and compares the answers."""

import datetime
import re

from google.api_core import exceptions
from google.api_core.retry import Retry
from google.auth.credentials import AnonymousCredentials
from google.cloud.pubsub_v1 import types
from google.iam.v1 import iam_policy_pb2
from google.protobuf import descriptor, json_format
from google.pubsub_v1 import PublisherClient, SchemaServiceClient, SubscriberClient
from google.pubsub_v1.services import publisher, schema_service, subscriber
from google.pubsub_v1.types import pubsub, schema

SERVICES = publisher, subscriber, schema_service
NAMES = "Publisher", "Subscriber", "SchemaService"
CLIENTS = PublisherClient, SubscriberClient, SchemaServiceClient
# What changes from run to run.
VOLATILE = {"ack_id", "message_id", "message_ids", "publish_time", "expire_time", "etag", "revision_id",
            "revision_create_time", "next_page_token"}
# Refused with UNIMPLEMENTED; docs/pubsub.md names them.
MISSING = {"ingestion_data_source_settings", "bigquery_config", "cloud_storage_config", "bigtable_config",
           "compression", "ai_inference"}
AVRO = '{"type": "record", "name": "R", "fields": [{"name": "a", "type": "string"}%s]}'
MORE = ', {"name": "b", "type": "int", "default": 5}'
CODE = "function f(message, metadata) { return message; }"


class Side:
    """One protocol's clients, what they were answered, and which fields they have sent."""

    def __init__(self, kind, options, project):
        transports = [getattr(s.transports, n + kind + "Transport")(**options) for s, n in zip(SERVICES, NAMES)]
        self.clients = [c(transport=t) for c, t in zip(CLIENTS, transports)]
        self.project, self.rest = project, kind == "Rest"
        self.answers, self.calls, self.fields = [], set(), set()

    def call(self, method, **request):
        """Notes what a call is answered, and returns that answer."""
        client = next(c for c in self.clients if hasattr(c, method))
        self.calls.add(method)
        self.note(method, request)
        try:
            answer = getattr(client, method)(request=request, retry=None, timeout=30)
            if method.startswith("list"):
                answer = [page for page in answer.pages][0]
        except exceptions.GoogleAPICallError as e:
            self.answers.append((method, request, self.refusal(e)))
            return None
        self.answers.append((method, request, self.plain(as_dict(answer))))
        return answer

    def note(self, method, request):
        name = "".join(part.capitalize() for part in method.split("_"))
        for file in pubsub, schema:
            for kind in name + "Request", name.removeprefix("Create"), name + "PushConfig":
                if hasattr(file, kind):
                    self.walk(getattr(file, kind).pb().DESCRIPTOR, request)
                    return

    def walk(self, kind, value):
        for name, inner in value.items():
            field = kind.fields_by_name[name.removesuffix("_") if name not in kind.fields_by_name else name]
            self.fields.add(field.full_name)
            for one in inner if isinstance(inner, (list, tuple)) else [inner]:
                if field.message_type and isinstance(one, dict) and not field.message_type.GetOptions().map_entry:
                    self.walk(field.message_type, one)

    def refusal(self, error):
        message, details = error.message, error.details
        if self.rest:
            status = error.response.json()["error"]["status"]
            message = re.sub(r"^[A-Z]+ http\S+: ", "", message)
        else:
            status = error.grpc_status_code.name
            details = [{"@type": "type.googleapis.com/" + d.DESCRIPTOR.full_name, **json_format.MessageToDict(d)}
                       for d in details]
        return self.plain({"status": status, "code": int(error.code), "message": message, "details": details})

    def plain(self, value):
        if isinstance(value, dict):
            return {k: bool(v) if k in VOLATILE else self.plain(v) for k, v in value.items()}
        if isinstance(value, list):
            return [self.plain(v) for v in value]
        if isinstance(value, str):
            return re.sub("@[0-9a-f]{8}$", "@REVISION", value.replace(self.project, "P"))
        return value


def as_dict(answer):
    if answer is None:
        return None
    pb = type(answer).pb(answer) if hasattr(type(answer), "pb") else answer
    return json_format.MessageToDict(pb, preserving_proto_field_name=True)


def seconds(n):
    return datetime.timedelta(seconds=n)


def everything(side):
    """Calls all, in an order in which they are possible, and some that are refused."""
    call, project = side.call, f"projects/{side.project}"
    names = {k: f"{project}/{k}s/" for k in ("topic", "subscription", "snapshot", "schema")}
    news, readers, old = names["topic"] + "news", names["subscription"] + "readers", names["snapshot"] + "old"
    form = names["schema"] + "form"
    schemas(side, project, form)
    settings = {"labels": {"a": "b"}, "message_retention_duration": seconds(3600.5),
                "kms_key_name": "projects/p/locations/l/keyRings/r/cryptoKeys/k",
                "message_storage_policy": {"allowed_persistence_regions": ["asia-northeast1"],
                                           "enforce_in_transit": True},
                "tags": {"1/a": "b"}, "satisfies_pzs": True, "state": "ACTIVE",
                "message_transforms": [{"javascript_udf": {"function_name": "f", "code": CODE}, "disabled": True,
                                        "enabled": False}]}
    call("create_topic", name=news, **settings)
    call("create_topic", name=news)
    call("create_topic", name=names["topic"] + "x", ingestion_data_source_settings={"aws_kinesis": {"stream_arn": "s"}})
    call("create_topic", name=names["topic"] + "formed", schema_settings={
        "schema": form, "encoding": "JSON", "first_revision_id": "", "last_revision_id": ""})
    call("create_topic", name=names["topic"] + "dead é %2F")
    call("create_topic", name=names["topic"] + "dead%25.x~y")
    call("create_topic", name=names["topic"] + "dead")
    call("update_topic", topic={"name": news, "labels": {"c": "d"}, "message_retention_duration": seconds(7200)},
         update_mask={"paths": ["labels", "message_retention_duration"]})
    call("update_topic", topic={"name": news}, update_mask={"paths": ["kms_key_name", "message_storage_policy"]})
    call("update_topic", topic={"name": news}, update_mask={"paths": ["nonsense"]})
    call("update_topic", topic={"name": news})
    call("get_topic", topic=news)
    call("get_topic", topic=names["topic"] + "nothing")
    call("create_subscription", name=readers, topic=news, ack_deadline_seconds=15, retain_acked_messages=True,
         message_retention_duration=seconds(1200), labels={"a": "b"}, enable_message_ordering=True,
         expiration_policy={"ttl": seconds(86400 * 2)}, filter='attributes.a != "nobody"',
         enable_exactly_once_delivery=True,
         dead_letter_policy={"dead_letter_topic": names["topic"] + "dead", "max_delivery_attempts": 7},
         retry_policy={"minimum_backoff": seconds(1.25), "maximum_backoff": seconds(20)}, detached=True, state="ACTIVE",
         topic_message_retention_duration=seconds(5), tags={"1/a": "b"},
         analytics_hub_subscription_info={"listing": "l", "subscription": "s"},
         message_transforms=[{"javascript_udf": {"function_name": "f", "code": CODE}, "disabled": True}])
    push = {"push_endpoint": "http://127.0.0.1:1/", "attributes": {"x-goog-version": "v1"},
            "oidc_token": {"service_account_email": "a@b.c", "audience": "d"}}
    pushed = names["subscription"] + "pushed"
    call("create_subscription", name=pushed, topic=news, push_config={**push, "pubsub_wrapper": {}})
    call("modify_push_config", subscription=pushed, push_config={**push, "no_wrapper": {"write_metadata": True}})
    call("get_subscription", subscription=pushed)
    call("modify_push_config", subscription=pushed, push_config={})
    call("create_subscription", name=names["subscription"] + "q", topic=news, bigquery_config={"table": "a.b.c"})
    call("create_subscription", name=names["subscription"] + "q", topic=news, cloud_storage_config={"bucket": "abc"})
    call("create_subscription", name=names["subscription"] + "q", topic=news, filter="nonsense(")
    call("create_subscription", name=names["subscription"] + "q", topic=news, ack_deadline_seconds=5)
    call("create_subscription", name=readers, topic=news)
    call("get_subscription", subscription=readers)
    call("update_subscription", subscription={
        "name": readers, "ack_deadline_seconds": 20, "retry_policy": {"maximum_backoff": seconds(30)}, "labels": {}},
        update_mask={"paths": ["ack_deadline_seconds", "retry_policy.maximum_backoff", "labels"]})
    call("update_subscription", subscription={"name": readers, "filter": "x"}, update_mask={"paths": ["filter"]})
    for size, token in (2, ""), (1, "nonsense"), (-1, ""), (0, ""):
        call("list_topics", project=project, page_size=size, page_token=token)
        call("list_subscriptions", project=project, page_size=size, page_token=token)
        call("list_topic_subscriptions", topic=news, page_size=size, page_token=token)
    messages(side, names, news, readers)
    call("create_snapshot", name=old, subscription=readers, labels={"a": "b"}, tags={"1/a": "b"})
    call("create_snapshot", name=old, subscription=readers)
    call("get_snapshot", snapshot=old)
    call("update_snapshot", snapshot={"name": old, "labels": {"c": "d"}, "topic": "t",
                                      "expire_time": datetime.datetime(2030, 1, 1)}, update_mask={"paths": ["labels"]})
    call("update_snapshot", snapshot={"name": old}, update_mask={"paths": ["topic"]})
    for size, token in (5, ""), (1, "nonsense"):
        call("list_snapshots", project=project, page_size=size, page_token=token)
        call("list_topic_snapshots", topic=news, page_size=size, page_token=token)
    call("seek", subscription=readers, snapshot=old)
    call("seek", subscription=readers, time=datetime.datetime(2020, 1, 1, 1, 2, 3, 456789))
    call("seek", subscription=readers)
    call("delete_snapshot", snapshot=old)
    call("delete_snapshot", snapshot=old)
    policies(side, news, readers)
    call("detach_subscription", subscription=readers)
    call("pull", subscription=readers, max_messages=1)
    call("delete_subscription", subscription=readers)
    call("delete_topic", topic=news)
    call("get_subscription", subscription=pushed)
    for name in "dead%25.x~y", "dead", "formed":
        call("delete_topic", topic=names["topic"] + name)
    call("delete_subscription", subscription=pushed)
    call("delete_schema", name=form)


def messages(side, names, news, readers):
    call = side.call
    call("publish", topic=news, messages=[
        {"data": bytes(range(256)), "attributes": {"a": "こ\u2028\\\"</", "": ""}, "ordering_key": "k/é",
         "message_id": "5", "publish_time": datetime.datetime(2020, 1, 1)}, {"data": b"two"}])
    call("publish", topic=news, messages=[
        {"data": bytes(range(256)), "attributes": {"a": "こ\u2028\\\"</", "b": ""}, "ordering_key": "k/é",
         "message_id": "5", "publish_time": datetime.datetime(2020, 1, 1)}, {"data": b"two"}])
    for bad in [], [{}], [{"attributes": {"goog": "x"}}], [{"data": b"x"}] * 1001:
        call("publish", topic=news, messages=bad)
    call("publish", topic=names["topic"] + "formed", messages=[{"data": b'{"a": 5}'}])
    call("publish", topic=names["topic"] + "nothing", messages=[{"data": b"x"}])
    got = call("pull", subscription=readers, max_messages=10, return_immediately=False)
    ids = [m.ack_id for m in got.received_messages] if got else []
    call("modify_ack_deadline", subscription=readers, ack_ids=ids, ack_deadline_seconds=30)
    call("modify_ack_deadline", subscription=readers, ack_ids=ids, ack_deadline_seconds=601)
    call("modify_ack_deadline", subscription=readers, ack_ids=[], ack_deadline_seconds=0)
    call("acknowledge", subscription=readers, ack_ids=ids)
    call("acknowledge", subscription=readers, ack_ids=ids)
    call("acknowledge", subscription=readers, ack_ids=["nonsense"])
    call("pull", subscription=readers, max_messages=10, return_immediately=True)
    call("pull", subscription=readers, max_messages=0)


def schemas(side, project, form):
    call = side.call
    first = {"name": "", "type_": "AVRO", "definition": AVRO % ""}
    made = call("create_schema", parent=project, schema_id="form", schema={
        **first, "revision_id": "x", "revision_create_time": datetime.datetime(2020, 1, 1)})
    call("create_schema", parent=project, schema=first, schema_id="form")
    call("create_schema", parent=project, schema={**first, "definition": "nonsense"}, schema_id="wrong")
    call("create_schema", parent=project, schema={"type_": "PROTOCOL_BUFFER", "definition": "message M {}"},
         schema_id="old")
    call("create_schema", parent=project, schema_id="compiled", schema={
        "type_": "PROTOCOL_BUFFER", "compiled_proto_schema": {"compiled_bytes": b"x", "root_message": "M"}})
    second = call("commit_schema", name=form, schema={"name": form, "type_": "AVRO", "definition": AVRO % MORE})
    call("commit_schema", name=form, schema={"name": form, "type_": "AVRO", "definition": "nonsense"})
    for view in "BASIC", "FULL", "SCHEMA_VIEW_UNSPECIFIED":
        call("get_schema", name=form, view=view)
        call("list_schemas", parent=project, view=view, page_size=1, page_token="")
        call("list_schema_revisions", name=form, view=view, page_size=1, page_token="")
    call("list_schemas", parent=project, page_token="nonsense")
    call("get_schema", name=form + "@nonsense")
    if made:
        call("get_schema", name=f"{form}@{made.revision_id}")
        call("rollback_schema", name=form, revision_id=made.revision_id)
    if second:
        call("delete_schema_revision", name=f"{form}@{second.revision_id}", revision_id=second.revision_id)
    call("validate_schema", parent=project, schema={"name": form, **first, "name": "x"})
    call("validate_schema", parent=project, schema={"type_": "AVRO", "definition": "nonsense"})
    call("validate_message", parent=project, name=form, message=b'{"a": "x"}', encoding="JSON")
    call("validate_message", parent=project, schema=first, message=b"\x02x", encoding="BINARY")
    call("validate_message", parent=project, name=form, message=b'{"a": 5}', encoding="JSON")
    call("validate_message", parent=project, name=form, message=b"\xff\xfe", encoding="BINARY")


def policies(side, *resources):
    for resource in resources:
        policy = {"version": 1, "bindings": [{"role": "roles/pubsub.viewer", "members": ["user:a@b.c"]}]}
        side.call("set_iam_policy", resource=resource, policy=policy)
        side.call("set_iam_policy", resource=resource, policy={**policy, "etag": b"old"})
        side.call("get_iam_policy", resource=resource, options={"requested_policy_version": 3})
        side.call("test_iam_permissions", resource=resource, permissions=["pubsub.topics.get", "pubsub.topics.publish"])
        side.call("test_iam_permissions", resource=resource, permissions=["pubsub.*"])
        side.call("get_iam_policy", resource=resource + "-nothing")


def unsent(side):
    """The calls and the fields that a client could have sent and has not."""
    def walk(kind, seen):
        for field in kind.fields:
            if field.name in MISSING or field.full_name in seen:
                continue
            seen.add(field.full_name)
            if field.message_type and field.message_type.file.package == "google.pubsub.v1":
                if not field.message_type.GetOptions().map_entry:
                    walk(field.message_type, seen)
        return seen

    possible = set()
    for file in pubsub, schema:
        for name in file.__all__:
            if name.endswith("Request") and name != "StreamingPullRequest" or name in ("Topic", "Subscription"):
                walk(getattr(file, name).pb().DESCRIPTOR, possible)
    calls = {m for c in CLIENTS for m in vars(c) if m[0] != "_" and (
        m in vars(c._transport_registry["grpc"]) or "iam" in m)}
    return (calls - {"streaming_pull"} - side.calls) | (possible - side.fields)


def check(address, project):
    """Returns what was wrong."""
    import grpc
    sides = [
        Side("Grpc", {"channel": grpc.insecure_channel(address)}, project + "-grpc"),
        Side("Rest", {"credentials": AnonymousCredentials(), "host": address, "url_scheme": "http"}, project + "-rest"),
    ]
    for side in sides:
        everything(side)
    by_grpc, by_rest = (s.answers for s in sides)
    wrong = [f"{len(by_grpc)} calls over gRPC, {len(by_rest)} over REST"] if len(by_grpc) != len(by_rest) else []
    for (method, request, one), (_, _, other) in zip(by_grpc, by_rest):
        if one != other:
            wrong.append(f"{method} {request!r:.150}: {one!r:.400} over gRPC, {other!r:.400} over REST")
    return wrong + [f"{name} was not sent" for name in sorted(unsent(sides[0]))]


if __name__ == "__main__":
    import os
    for line in check(os.environ["PUBSUB_EMULATOR_HOST"], os.environ["CLIENT_PROJECT"]):
        print(line)
