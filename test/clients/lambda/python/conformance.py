"""Speaks to a running hikyaku with boto3 and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md.
"""

import base64
import io
import json
import os
import sys
import time
import urllib.request
import zipfile

import boto3
import botocore.config
import botocore.exceptions

import model

PREFIX = os.environ["CLIENT_PREFIX"]
ROLE = "arn:aws:iam::000000000000:role/any"
PATIENCE = 60  # seconds that only a broken server needs
PROGRAM = """
import os
def handler(event, context):
    if event.get("fail"): raise ValueError(event["fail"])
    if event.get("version") == "2.0": return {"statusCode": 418, "body": "called " + event["rawPath"]}
    if event.get("Records"):
        return {"batchItemFailures": [{"itemIdentifier": r["messageId"]} for r in event["Records"] if r["body"] == "bad"]}
    print("hello from the function")
    context_of_client = context.client_context.custom if context.client_context else None
    return {"event": event, "version": context.function_version, "said": "%s", "greeting": os.environ.get("GREETING"), "custom": context_of_client}
"""
failed = False


def check(name, body):
    global failed
    try:
        body()
        print(f"ok {name}", flush=True)
    except Exception as e:
        failed = True
        print(f"not ok {name}: {type(e).__name__}: {' '.join(str(e).split())[:500]}", flush=True)


def want(expected, got):
    if expected != got:
        raise AssertionError(f"got {got!r:.300}, wanted {expected!r:.300}")


def refused(error, body):
    try:
        body()
    except botocore.exceptions.ClientError as e:
        return want(error, e.response["Error"]["Code"])
    raise AssertionError(f"this was to be refused as {error}")


def eventually(expected, ask):
    end = time.monotonic() + PATIENCE
    while (got := ask()) != expected:
        if time.monotonic() > end:
            want(expected, got)
        time.sleep(0.05)  # between two looks


def client(service="lambda", endpoint=os.environ["LAMBDA_ENDPOINT"], key="any", secret="thing", **more):
    return boto3.client(service, endpoint_url=endpoint, region_name="us-east-1", aws_access_key_id=key, aws_secret_access_key=secret,
                        config=botocore.config.Config(retries={"max_attempts": 0}, read_timeout=PATIENCE, **more))


def packed(said, name="app.py", program=PROGRAM):
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as z:
        z.writestr(name, program.replace("%s", said))
    return buffer.getvalue()


functions = client()
queues = client("sqs", os.environ["SQS_ENDPOINT"])
NAME = PREFIX + "-f"


def invoke(qualifier=None, **event):
    more = {"Qualifier": qualifier} if qualifier else {}
    answer = functions.invoke(FunctionName=NAME, Payload=json.dumps(event), **more)
    return json.loads(answer["Payload"].read())


def deploy():
    made = functions.create_function(FunctionName=NAME, Runtime="python3.11", Role=ROLE, Handler="app.handler", Code={"ZipFile": packed("one")}, Timeout=60,
                                     Environment={"Variables": {"GREETING": "こんにちは"}}, Tags={"team": "couriers"}, MemorySize=256, Description="a test's")
    want(["Active", "$LATEST", 256], [made["State"], made["Version"], made["MemorySize"]])
    functions.get_waiter("function_active_v2").wait(FunctionName=NAME)
    functions.get_waiter("function_updated_v2").wait(FunctionName=NAME)
    got = functions.get_function(FunctionName=made["FunctionArn"])
    want([made["CodeSha256"], {"team": "couriers"}], [got["Configuration"]["CodeSha256"], got["Tags"]])
    with urllib.request.urlopen(got["Code"]["Location"]) as archive:
        want(packed("one")[:4], archive.read()[:4])
    want(True, NAME in [f["FunctionName"] for page in functions.get_paginator("list_functions").paginate() for f in page["Functions"]])
    refused("ResourceConflictException", lambda: functions.create_function(FunctionName=NAME, Runtime="python3.11", Role=ROLE, Handler="app.handler", Code={"ZipFile": packed("one")}))


def invocation():
    context = base64.b64encode(json.dumps({"custom": {"a": "b"}}).encode()).decode()
    answer = functions.invoke(FunctionName=NAME, Payload=json.dumps({"色": "赤"}), LogType="Tail", ClientContext=context)
    got = json.loads(answer["Payload"].read())
    want([200, "$LATEST", {"色": "赤"}, "こんにちは", {"a": "b"}], [answer["StatusCode"], answer["ExecutedVersion"], got["event"], got["greeting"], got["custom"]])
    log = base64.b64decode(answer["LogResult"]).decode()
    want([True, True], ["hello from the function" in log, "REPORT RequestId: " in log])
    want(204, functions.invoke(FunctionName=NAME, InvocationType="DryRun")["StatusCode"])
    answer = functions.invoke(FunctionName=NAME, Payload=json.dumps({"fail": "on purpose"}))
    want(["Unhandled", "ValueError"], [answer["FunctionError"], json.loads(answer["Payload"].read())["errorType"]])


def stream():
    answer = functions.invoke_with_response_stream(FunctionName=NAME, Payload=json.dumps({"a": 1}), LogType="Tail")
    events = list(answer["EventStream"])
    body = b"".join(e["PayloadChunk"]["Payload"] for e in events if "PayloadChunk" in e)
    want([{"a": 1}, True], [json.loads(body)["event"], "LogResult" in events[-1]["InvokeComplete"]])
    events = list(functions.invoke_with_response_stream(FunctionName=NAME, Payload=json.dumps({"fail": "x"}))["EventStream"])
    want("Unhandled", events[-1]["InvokeComplete"]["ErrorCode"])


def versions():
    one = functions.publish_version(FunctionName=NAME, Description="the first")
    want(["1", "1"], [one["Version"], functions.publish_version(FunctionName=NAME)["Version"]])
    functions.update_function_code(FunctionName=NAME, ZipFile=packed("two"))
    functions.update_function_configuration(FunctionName=NAME, Environment={"Variables": {"GREETING": "hello"}}, Timeout=61)
    functions.get_waiter("function_updated_v2").wait(FunctionName=NAME)
    two = functions.update_function_code(FunctionName=NAME, ZipFile=packed("two"), Publish=True)
    want("2", two["Version"])
    want([["one", "こんにちは", "1"], ["two", "hello", "2"]], [[(a := invoke(q))["said"], a["greeting"], a["version"]] for q in ("1", "2")])
    made = functions.create_alias(FunctionName=NAME, Name="live", FunctionVersion="1")
    want(True, made["AliasArn"].endswith(":live"))
    want("one", invoke("live")["said"])
    functions.update_alias(FunctionName=NAME, Name="live", FunctionVersion="2", RoutingConfig={"AdditionalVersionWeights": {"1": 1.0}})
    want("one", invoke("live")["said"])
    functions.update_alias(FunctionName=NAME, Name="live", RoutingConfig={"AdditionalVersionWeights": {}})
    want("two", invoke("live")["said"])
    want(["live"], [a["Name"] for a in functions.list_aliases(FunctionName=NAME)["Aliases"]])
    want(["$LATEST", "1", "2"], [v["Version"] for v in functions.list_versions_by_function(FunctionName=NAME)["Versions"]])
    refused("ResourceConflictException", lambda: functions.delete_function(FunctionName=NAME, Qualifier="2"))
    refused("PreconditionFailedException", lambda: functions.update_function_configuration(FunctionName=NAME, Timeout=5, RevisionId="no"))


def received(url):
    got = queues.receive_message(QueueUrl=url, WaitTimeSeconds=20, MessageAttributeNames=["All"]).get("Messages", [])
    for m in got:
        queues.delete_message(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"])
    return got


def events():
    url = queues.create_queue(QueueName=PREFIX + "-outcomes")["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    functions.put_function_event_invoke_config(FunctionName=NAME, MaximumRetryAttempts=0, MaximumEventAgeInSeconds=600,
                                               DestinationConfig={"OnSuccess": {"Destination": arn}, "OnFailure": {"Destination": arn}})
    for event, condition in (({"a": 1}, "Success"), ({"fail": "x"}, "RetriesExhausted")):
        want(202, functions.invoke(FunctionName=NAME, InvocationType="Event", Payload=json.dumps(event))["StatusCode"])
        record = json.loads(received(url)[0]["Body"])
        want([condition, event], [record["requestContext"]["condition"], record["requestPayload"]])
    want(0, functions.get_function_event_invoke_config(FunctionName=NAME)["MaximumRetryAttempts"])
    functions.delete_function_event_invoke_config(FunctionName=NAME)


def concurrency():
    functions.put_function_concurrency(FunctionName=NAME, ReservedConcurrentExecutions=0)
    refused("TooManyRequestsException", lambda: functions.invoke(FunctionName=NAME))
    want(0, functions.get_function_concurrency(FunctionName=NAME)["ReservedConcurrentExecutions"])
    functions.delete_function_concurrency(FunctionName=NAME)
    want("two", invoke()["said"])


def mapping():
    dead = queues.create_queue(QueueName=PREFIX + "-work-dead")["QueueUrl"]
    url = queues.create_queue(QueueName=PREFIX + "-work", Attributes={"VisibilityTimeout": "60", "RedrivePolicy": json.dumps(
        {"maxReceiveCount": 2, "deadLetterTargetArn": "arn:aws:sqs:us-east-1:000000000000:" + PREFIX + "-work-dead"})})["QueueUrl"]
    arn = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    refused("InvalidParameterValueException", lambda: functions.create_event_source_mapping(EventSourceArn=arn, FunctionName=NAME))  # which may take 61 s
    queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "61"})
    made = functions.create_event_source_mapping(EventSourceArn=arn, FunctionName=NAME, BatchSize=5, FunctionResponseTypes=["ReportBatchItemFailures"], Tags={"team": "riders"})
    # A second message that fails would be a second dead letter, if it passed the filter.
    skipping = {"Filters": [{"Pattern": json.dumps({"messageAttributes": {"skip": {"stringValue": [{"exists": False}]}}})}]}
    want(skipping, functions.update_event_source_mapping(UUID=made["UUID"], FilterCriteria=skipping)["FilterCriteria"])
    refused("InvalidParameterValueException", lambda: functions.update_event_source_mapping(UUID=made["UUID"], FilterCriteria={"Filters": [{"Pattern": '{"body":[]}'}]}))
    tagged = made["EventSourceMappingArn"]
    functions.tag_resource(Resource=tagged, Tags={"stage": "test"})
    functions.untag_resource(Resource=tagged, TagKeys=["team"])
    want({"stage": "test"}, functions.list_tags(Resource=tagged)["Tags"])
    want("Enabled", functions.get_event_source_mapping(UUID=made["UUID"])["State"])
    refused("ResourceConflictException", lambda: functions.create_event_source_mapping(EventSourceArn=arn, FunctionName=NAME))
    queues.set_queue_attributes(QueueUrl=url, Attributes={"VisibilityTimeout": "1"})
    skipped = {"Id": "skipped", "MessageBody": "bad", "MessageAttributes": {"skip": {"DataType": "String", "StringValue": "yes"}}}
    queues.send_message_batch(QueueUrl=url, Entries=[skipped] + [{"Id": str(i), "MessageBody": b} for i, b in enumerate(["good", "bad", "better"])])
    lost = received(dead)[0]
    want(["bad", None], [lost["Body"], lost.get("MessageAttributes")])
    names = ["ApproximateNumberOfMessages", "ApproximateNumberOfMessagesNotVisible"]
    eventually(["0", "0"], lambda: [queues.get_queue_attributes(QueueUrl=url, AttributeNames=names)["Attributes"][n] for n in names])
    want(["0", "0"], [queues.get_queue_attributes(QueueUrl=dead, AttributeNames=names)["Attributes"][n] for n in names])
    want([made["UUID"]], [m["UUID"] for m in functions.list_event_source_mappings(FunctionName=NAME)["EventSourceMappings"]])
    want("Disabled", functions.update_event_source_mapping(UUID=made["UUID"], Enabled=False)["State"])
    functions.delete_event_source_mapping(UUID=made["UUID"])
    refused("ResourceNotFoundException", lambda: functions.get_event_source_mapping(UUID=made["UUID"]))


def url():
    made = functions.create_function_url_config(FunctionName=NAME, AuthType="NONE")
    functions.add_permission(FunctionName=NAME, StatementId="all", Action="lambda:InvokeFunctionUrl", Principal="*", FunctionUrlAuthType="NONE")
    want(True, "InvokeFunctionUrl" in functions.get_policy(FunctionName=NAME)["Policy"])
    try:
        urllib.request.urlopen(made["FunctionUrl"] + "tea")
        raise AssertionError("the status is not the function's")
    except urllib.error.HTTPError as e:
        want([418, "called /tea"], [e.code, e.read().decode()])
    functions.remove_permission(FunctionName=NAME, StatementId="all")
    functions.delete_function_url_config(FunctionName=NAME)


def tags():
    arn = functions.get_function_configuration(FunctionName=NAME)["FunctionArn"]
    functions.tag_resource(Resource=arn, Tags={"色": "赤", "cost": "none"})
    functions.untag_resource(Resource=arn, TagKeys=["cost", "team"])
    want({"色": "赤"}, functions.list_tags(Resource=arn)["Tags"])


def layers():
    one, two = (packed(text, "python/worded.py", program="text = '%s'") for text in ("one", "two"))
    first = functions.publish_layer_version(LayerName=PREFIX + "-words", Content={"ZipFile": one}, CompatibleRuntimes=["python3.12"], LicenseInfo="MIT")
    again = functions.publish_layer_version(LayerName=PREFIX + "-words", Content={"ZipFile": two})
    want([1, 2], [first["Version"], again["Version"]])
    want(first["Content"]["CodeSha256"], functions.get_layer_version_by_arn(Arn=first["LayerVersionArn"])["Content"]["CodeSha256"])
    want(one, urllib.request.urlopen(functions.get_layer_version(LayerName=first["LayerArn"], VersionNumber=1)["Content"]["Location"]).read())
    want([2, 1], [v["Version"] for v in functions.list_layer_versions(LayerName=PREFIX + "-words")["LayerVersions"]])
    want([1], [l["LatestMatchingVersion"]["Version"] for l in functions.list_layers(CompatibleRuntime="python3.12")["Layers"] if l["LayerName"] == PREFIX + "-words"])
    refused("InvalidParameterValueException", lambda: functions.get_layer_version(LayerName=PREFIX + "-words", VersionNumber=0))
    functions.add_layer_version_permission(LayerName=PREFIX + "-words", VersionNumber=1, StatementId="all", Action="lambda:GetLayerVersion", Principal="*")
    want("all", json.loads(functions.get_layer_version_policy(LayerName=PREFIX + "-words", VersionNumber=1)["Policy"])["Statement"][0]["Sid"])
    functions.remove_layer_version_permission(LayerName=PREFIX + "-words", VersionNumber=1, StatementId="all")
    layered = PREFIX + "-layered"
    made = functions.create_function(FunctionName=layered, Runtime="python3.11", Role=ROLE, Handler="app.handler", Timeout=60, Layers=[first["LayerVersionArn"]],
                                     Code={"ZipFile": packed("", program="import worded%s\ndef handler(event, context): return worded.text\n")})
    want([{"Arn": first["LayerVersionArn"], "CodeSize": len(one)}], made["Layers"])
    functions.delete_layer_version(LayerName=PREFIX + "-words", VersionNumber=1)
    refused("ResourceNotFoundException", lambda: functions.get_layer_version(LayerName=PREFIX + "-words", VersionNumber=1))
    want("one", json.loads(functions.invoke(FunctionName=layered, Payload="{}")["Payload"].read()))
    functions.update_function_configuration(FunctionName=layered, Layers=[again["LayerVersionArn"]])
    want("two", json.loads(functions.invoke(FunctionName=layered, Payload="{}")["Payload"].read()))
    functions.delete_function(FunctionName=layered)
    functions.delete_layer_version(LayerName=PREFIX + "-words", VersionNumber=2)


def objects():
    store = client("s3", os.environ["S3_ENDPOINT"])
    bucket, key = PREFIX + "-code", "新しい folder/code+1.zip"
    store.create_bucket(Bucket=bucket)
    store.put_bucket_versioning(Bucket=bucket, VersioningConfiguration={"Status": "Enabled"})
    old = store.put_object(Bucket=bucket, Key=key, Body=packed("of s3"))["VersionId"]
    store.put_object(Bucket=bucket, Key=key, Body=packed("of s3, newer"))
    store.put_object(Bucket=bucket, Key="layer.zip", Body=packed("from a layer", "python/worded.py", program="text = '%s'"))
    words = functions.publish_layer_version(LayerName=PREFIX + "-stored", Content={"S3Bucket": bucket, "S3Key": "layer.zip"})["LayerVersionArn"]
    stored = PREFIX + "-stored"
    functions.create_function(FunctionName=stored, Runtime="python3.11", Role=ROLE, Handler="app.handler", Timeout=60, Code={"S3Bucket": bucket, "S3Key": key})
    said = lambda: json.loads(functions.invoke(FunctionName=stored, Payload="{}")["Payload"].read())["said"]
    want("of s3, newer", said())
    functions.update_function_code(FunctionName=stored, S3Bucket=bucket, S3Key=key, S3ObjectVersion=old)
    want("of s3", said())
    functions.update_function_code(FunctionName=stored, ZipFile=packed("", program="import worded%s\ndef handler(event, context): return {'said': worded.text}\n"))
    functions.update_function_configuration(FunctionName=stored, Layers=[words])
    want("from a layer", said())
    for where, code in ((bucket, "NoSuchKey"), (bucket + "-absent", "NoSuchBucket")):
        try:
            functions.update_function_code(FunctionName=stored, S3Bucket=where, S3Key="absent")
            raise AssertionError("there is no such object")
        except functions.exceptions.InvalidParameterValueException as e:
            said_of_s3 = "Error occurred while GetObject. S3 Error Code: " + code + ". S3 Error Message: "
            want(said_of_s3, e.response["Error"]["Message"][:len(said_of_s3)])
    want("from a layer", said())
    functions.delete_function(FunctionName=stored)


def errors():
    other = PREFIX + "-bad"
    make = lambda code: functions.create_function(FunctionName=other, Runtime="python3.11", Role=ROLE, Handler="app.handler", Code=code)
    refused("ResourceNotFoundException", lambda: functions.invoke(FunctionName=other))
    refused("InvalidParameterValueException", lambda: make({"ZipFile": packed("x", "../../app.py")}))
    refused("InvalidParameterValueException", lambda: make({"ZipFile": b"no archive"}))
    refused("InvalidParameterValueException", lambda: make({"S3Bucket": "absent", "S3Key": "key"}))
    refused("RequestTooLargeException", lambda: functions.invoke(FunctionName=NAME, Payload=json.dumps("x" * (6 << 20))))
    refused("InvalidRequestContentException", lambda: functions.invoke(FunctionName=NAME, Payload="{"))
    refused("ResourceNotFoundException", lambda: functions.get_function(FunctionName=other))
    want("two", invoke()["said"])


def signed():
    endpoint = os.environ["SIGNED_ENDPOINT"]
    good = client(endpoint=endpoint, key="couriers", secret="run-and-relay")
    good.create_function(FunctionName=NAME, Runtime="python3.11", Role=ROLE, Handler="app.handler", Code={"ZipFile": packed("signed")}, Timeout=60)
    want("signed", json.loads(good.invoke(FunctionName=NAME, Payload="{}")["Payload"].read())["said"])
    for key, secret, error in (("couriers", "wrong", "InvalidSignatureException"), ("nobody", "run-and-relay", "UnrecognizedClientException"), ("reader", "may-only-take", "AccessDeniedException")):
        refused(error, lambda: client(endpoint=endpoint, key=key, secret=secret).invoke(FunctionName=NAME))


def delete():
    functions.delete_alias(FunctionName=NAME, Name="live")
    functions.delete_function(FunctionName=NAME, Qualifier="1")
    refused("ResourceNotFoundException", lambda: functions.invoke(FunctionName=NAME, Qualifier="1"))
    functions.delete_function(FunctionName=NAME)
    refused("ResourceNotFoundException", lambda: functions.invoke(FunctionName=NAME))


def held_to_the_model():
    answers, wrong = model.check(client(parameter_validation=False), queues, PREFIX + "-model", ROLE, packed("model"))
    want([], wrong)
    want(True, answers > 900)


check("deploy", deploy)
check("invoke", invocation)
check("stream", stream)
check("versions", versions)
check("events", events)
check("concurrency", concurrency)
check("mapping", mapping)
check("url", url)
check("tags", tags)
check("layers", layers)
check("objects", objects)
check("errors", errors)
check("model", held_to_the_model)
check("signed", signed)
check("delete", delete)
sys.exit(1 if failed else 0)
