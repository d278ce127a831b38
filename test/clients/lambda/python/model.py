"""Spoils every member of every call of Lambda in the client's model, and holds all answers to that model."""

import copy
import json
import os
import re
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "..", "..", "sqs", "python"))
import absent  # noqa: E402
from shapes import of_json  # noqa: E402

MISSING = object()
# What these have been given is gone, so they are done once.
ENDS = {"DeleteFunction", "DeleteResourcePolicy", "RemovePermission", "RemoveLayerVersionPermission"}
# Errors that any call of AWS may be answered with; the model does not list them.
COMMON = {"ValidationException", "SerializationException"}
INVALID, MISTAKEN = {"ValidationException"}, {"SerializationException"}
OTHER_TYPES = {"string": 5, "boolean": "yes", "integer": "5"}
OTHERS = {
    # The service has a text of its own for runtimes, beside its model.
    ("CreateFunction", "Runtime", "Nonsense"): {"InvalidParameterValueException"},
    ("UpdateFunctionConfiguration", "Runtime", "Nonsense"): {"InvalidParameterValueException"},
}


class Watch:
    """Notes what is wrong with the answers to a client."""

    def __init__(self, client):
        self.wrong, self.answers = [], 0
        self.model = client.meta.service_model
        client.meta.events.register("response-received.lambda", self.look)

    def look(self, event_name, response_dict, **_):
        op = self.model.operation_model(event_name.rpartition(".")[2])
        if response_dict is None:
            self.wrong.append(f"{op.name}: the connection ended")
            return
        self.answers += 1
        status = response_dict["status_code"]
        for complaint in self.complaints(op, response_dict, status):
            self.wrong.append(f"{op.name} {status}: {complaint}")

    def complaints(self, op, response, status):
        headers = {k.lower(): v for k, v in response["headers"].items()}
        if "x-amzn-requestid" not in headers:
            yield "there is no request id"
        if status >= 300:
            yield from self.refusal(op, headers, json.loads(response["body"]), status)
            return
        shape = op.output_shape
        if status == 204:  # DryRun and DeleteFunction, too, where the model has 200
            if isinstance(response["body"], bytes) and response["body"]:
                yield f"there is {response['body']!r:.60} where nothing can be"
            return
        if status != op.http.get("responseCode", 200):
            yield f"the model has {op.http.get('responseCode')}"
        if shape is None or "payload" in shape.serialization:
            return
        data = {k: v for k, v in json.loads(response["body"]).items() if v is not None}
        for complaint in of_json(shape, data, ""):
            # Of a function without a code signing configuration the service itself says nothing, against its model.
            # Functions of others may have runtimes that are ours alone.
            unsigned = op.name == "GetFunctionCodeSigningConfig" and complaint.endswith(" is missing")
            if not unsigned and not complaint.startswith(".Functions.Runtime is "):
                yield complaint

    def refusal(self, op, headers, data, status):
        name = headers.get("x-amzn-errortype")
        known = {e.name: e for e in op.error_shapes}
        if name not in known.keys() | COMMON:
            yield f"{name} is no error of this call"
        if status >= 500:
            yield f"{name}: {data}"
        if data.get("Type") != ("User" if status < 500 else "Service"):
            yield f"{name} is the fault of {data.get('Type')}"
        if not (data.get("message") or data.get("Message")):
            yield f"{name} has no message"
        if name in known:
            want = known[name].metadata.get("error", {}).get("httpStatusCode", status)
            if want != status:
                yield f"{name} has the status {want} in the model"
            yield from of_json(known[name], data, name)


def requests(functions, queues, name, role, archive):
    """A request of each call that the door answers, in an order in which all of them are done."""
    url = queues.create_queue(QueueName=name, Attributes={"VisibilityTimeout": "60"})["QueueUrl"]
    queue = queues.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]
    arn = "arn:aws:lambda:us-east-1:000000000000:function:" + name
    f, at1 = {"FunctionName": name}, {"FunctionName": name, "Qualifier": "1"}
    live, policy = {"FunctionName": name, "Qualifier": "live"}, {"ResourceArn": arn + ":live"}
    content = {"ZipFile": archive}
    settings = {
        "Role": role, "Handler": "app.handler", "Description": "d", "Timeout": 60, "MemorySize": 256,
        "Runtime": "python3.11",
        "VpcConfig": {"SubnetIds": [], "SecurityGroupIds": [], "Ipv6AllowedForDualStack": False},
        "DeadLetterConfig": {"TargetArn": queue}, "Environment": {"Variables": {"AB": "b"}}, "KMSKeyArn": "",
        "TracingConfig": {"Mode": "Active"}, "EphemeralStorage": {"Size": 512}, "SnapStart": {"ApplyOn": "None"},
        "LoggingConfig": {"LogFormat": "JSON", "ApplicationLogLevel": "INFO", "SystemLogLevel": "INFO",
                          "LogGroup": "mine"},
    }
    mapping = {"Enabled": False, "BatchSize": 5, "FilterCriteria": {"Filters": [{"Pattern": '{"body":["x"]}'}]},
               "MaximumBatchingWindowInSeconds": 1, "FunctionResponseTypes": ["ReportBatchItemFailures"],
               "ScalingConfig": {"MaximumConcurrency": 5}}
    routing = {"Description": "d", "RoutingConfig": {"AdditionalVersionWeights": {"2": 0.5}}}
    events = {"MaximumRetryAttempts": 1, "MaximumEventAgeInSeconds": 60,
              "DestinationConfig": {"OnSuccess": {"Destination": queue}, "OnFailure": {"Destination": queue}}}
    cors = {"AllowCredentials": True, "AllowHeaders": ["a"], "AllowMethods": ["GET"], "AllowOrigins": ["*"],
            "ExposeHeaders": ["b"], "MaxAge": 1}
    lists = {**f, "MaxItems": 10}
    layer, version = {"LayerName": name}, {"LayerName": name, "VersionNumber": 1}
    at, made, signing = {}, {}, {}
    made["UUID"] = lambda: functions.list_event_source_mappings(FunctionName=name)["EventSourceMappings"][0]["UUID"]
    signing["CodeSigningConfigArn"] = lambda: functions.list_code_signing_configs()[
        "CodeSigningConfigs"][-1]["CodeSigningConfigArn"]
    signed = {"Description": "d", "CodeSigningPolicies": {"UntrustedArtifactOnDeployment": "Warn"},
              "AllowedPublishers": {"SigningProfileVersionArns": [arn.replace("lambda", "signer")]}}
    return [
        ("CreateFunction", {**f, "Code": content, "Architectures": ["x86_64"], "Tags": {"a": "b"}, "PackageType": "Zip",
                            "Publish": True, **settings}),
        ("GetFunction", at1), ("GetFunctionConfiguration", at1),
        ("ListFunctions", {"FunctionVersion": "ALL", "MaxItems": 10}),
        ("UpdateFunctionConfiguration", {**f, **settings, "Description": "e"}),
        ("UpdateFunctionCode", {**f, **content, "Architectures": ["x86_64"], "Publish": True, "DryRun": False}),
        ("PublishVersion", {**f, "Description": "v"}), ("ListVersionsByFunction", lists),
        ("CreateAlias", {**f, "Name": "live", "FunctionVersion": "1", **routing}),
        ("GetAlias", {**f, "Name": "live"}),
        ("UpdateAlias", {**f, "Name": "live", "FunctionVersion": "1", **routing}),
        ("ListAliases", {**lists, "FunctionVersion": "1"}),
        ("Invoke", {**at1, "InvocationType": "DryRun", "LogType": "None", "Payload": b"{}"}),
        ("PutFunctionConcurrency", {**f, "ReservedConcurrentExecutions": 5}), ("GetFunctionConcurrency", f),
        ("PutProvisionedConcurrencyConfig", {**live, "ProvisionedConcurrentExecutions": 1}),
        ("GetProvisionedConcurrencyConfig", live), ("ListProvisionedConcurrencyConfigs", lists),
        ("DeleteProvisionedConcurrencyConfig", live), ("DeleteFunctionConcurrency", f),
        ("PutFunctionEventInvokeConfig", {**at1, **events}), ("UpdateFunctionEventInvokeConfig", {**at1, **events}),
        ("GetFunctionEventInvokeConfig", at1), ("ListFunctionEventInvokeConfigs", lists),
        ("DeleteFunctionEventInvokeConfig", at1),
        ("CreateFunctionUrlConfig", {**live, "AuthType": "NONE", "InvokeMode": "BUFFERED", "Cors": cors}),
        ("UpdateFunctionUrlConfig", {**live, "AuthType": "NONE", "InvokeMode": "BUFFERED", "Cors": cors}),
        ("GetFunctionUrlConfig", live), ("ListFunctionUrlConfigs", lists), ("DeleteFunctionUrlConfig", live),
        ("AddPermission", {**live, "StatementId": "s", "Action": "lambda:InvokeFunction",
                           "Principal": "s3.amazonaws.com",
                           "SourceArn": "arn:aws:s3:::b", "SourceAccount": "000000000000"}),
        ("GetPolicy", live), ("RemovePermission", {**live, "StatementId": "s"}),
        ("PutResourcePolicy", {**policy, "Policy": json.dumps({"Version": "2012-10-17", "Statement": [
            {"Effect": "Allow", "Principal": "*", "Action": "lambda:InvokeFunction", "Resource": arn}]})}),
        ("GetResourcePolicy", policy), ("DeleteResourcePolicy", policy),
        ("GetFunctionCodeSigningConfig", f), ("CreateCodeSigningConfig", {**signed, "Tags": {"a": "b"}}),
        ("UpdateCodeSigningConfig", {**signing, **signed}), ("GetCodeSigningConfig", signing),
        ("ListCodeSigningConfigs", {"MaxItems": 10}), ("PutFunctionCodeSigningConfig", {**f, **signing}),
        ("ListFunctionsByCodeSigningConfig", {**signing, "MaxItems": 10}),
        ("GetFunctionCodeSigningConfig", f), ("DeleteFunctionCodeSigningConfig", f),
        ("DeleteCodeSigningConfig", signing),
        ("PutRuntimeManagementConfig", {**at1, "UpdateRuntimeOn": "Manual",
                                        "RuntimeVersionArn": "arn:aws:lambda:us-east-1::runtime:0123456789"}),
        ("GetRuntimeManagementConfig", at1), ("PutFunctionRecursionConfig", {**f, "RecursiveLoop": "Terminate"}),
        ("GetFunctionRecursionConfig", f),
        ("TagResource", {"Resource": arn, "Tags": {"a": "b"}}), ("ListTags", {"Resource": arn}),
        ("UntagResource", {"Resource": arn, "TagKeys": ["a"]}),
        ("CreateEventSourceMapping", {"EventSourceArn": queue, **f, "Tags": {"a": "b"}, **mapping}),
        ("ListEventSourceMappings", {"EventSourceArn": queue, **lists}), ("GetEventSourceMapping", made),
        ("UpdateEventSourceMapping", {**made, **mapping}), ("DeleteEventSourceMapping", made),
        ("GetAccountSettings", at),
        ("PublishLayerVersion", {**layer, "Description": "d", "Content": content,
                                 "CompatibleRuntimes": ["python3.12"],
                                 "CompatibleArchitectures": ["x86_64"], "LicenseInfo": "MIT"}),
        ("ListLayers", {"CompatibleArchitecture": "x86_64", "MaxItems": 10}),
        ("ListLayerVersions", {**layer, "CompatibleArchitecture": "x86_64", "MaxItems": 10}),
        ("GetLayerVersion", version),
        ("GetLayerVersionByArn", {"Arn": arn.replace("function", "layer") + ":1"}),
        ("AddLayerVersionPermission", {**version, "StatementId": "s", "Action": "lambda:GetLayerVersion",
                                       "Principal": "*",
                                       "OrganizationId": "o-1234567890"}),
        ("GetLayerVersionPolicy", version), ("RemoveLayerVersionPermission", {**version, "StatementId": "s"}),
        ("DeleteLayerVersion", version), ("DeleteAlias", {**f, "Name": "live"}), ("DeleteFunction", f),
    ]


def spoiled(shape, request, path):
    """What can be wrong with the members of a structure: where, the value, and the errors that tell it."""
    for name, member in shape.members.items():
        if name not in request:
            continue
        at, place = (*path, name), member.serialization.get("location")
        if shape.serialization.get("payload") == name:
            continue
        if name in shape.required_members and place != "uri":
            yield at, MISSING, INVALID
        yield from values(member, request[name], at, place)


def values(member, value, at, place):
    kind, limits = member.type_name, member.metadata
    if kind == "string":
        yield from texts(member, at, place)
    elif kind in ("integer", "double"):
        for end, step in ("min", -1), ("max", 1):
            if end in limits:
                yield at, limits[end] + step, INVALID
    elif kind == "list" and value:
        if limits.get("max", 100) <= 20:
            yield at, value * (limits["max"] + 1), INVALID
        if getattr(member.member, "enum", None):
            yield at, ["Nonsense"], INVALID
        elif member.member.type_name == "structure":
            for inner, other, codes in spoiled(member.member, value[0], (*at, 0)):
                yield inner, other, codes
    elif kind == "structure":
        yield from spoiled(member, value, at)
    if place is None and kind in OTHER_TYPES:  # the client writes no other types than these
        yield at, OTHER_TYPES[kind], MISTAKEN


def texts(member, at, place):
    limits = member.metadata
    if getattr(member, "enum", None):
        yield at, "Nonsense", INVALID
        return
    if limits.get("max", 1 << 20) <= 2048:
        yield at, "a" * (limits["max"] + 1), INVALID
    if limits.get("min", 0) > 0 and place is None:
        yield at, "", INVALID
    if "pattern" in limits and not re.fullmatch(limits["pattern"], "a b!") and place != "header":
        yield at, "a b!", INVALID


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


def check(functions, queues, name, role, archive):
    """The client must not check parameters itself. Returns what was wrong."""
    watch, wrong = Watch(functions), []
    for call, request in requests(functions, queues, name, role, archive):
        shape = watch.model.operation_model(call).input_shape
        request = {k: v() if callable(v) else v for k, v in request.items()}
        for at, value, codes in spoiled(shape, request, ()):
            if (call, at, value) == ("CreateFunction", ("Role",), MISSING):
                continue  # a function needs no role here
            got = refusal(functions, call, put(request, at, value))
            if got not in OTHERS.get((call, at[0], str(value)), codes):
                shown = "left out" if value is MISSING else f"{value!r:.60}"
                wrong.append(f"{call} with {'.'.join(map(str, at))} {shown}: {got}")
        if call not in ENDS:
            wrong += absent.check(watch, functions, call, request)
        if got := refusal(functions, call, request):
            wrong.append(f"{call}: {got}")
    wrong += watch.wrong
    known = {call for call, _ in requests(functions, queues, name, role, archive)}
    return watch.answers, wrong + absent.unknown(functions, known | {"InvokeAsync", "InvokeWithResponseStream"})


def refusal(functions, call, request):
    """What a call is refused with; None: it is done."""
    try:
        functions._make_api_call(call, request)
    except functions.exceptions.ClientError as e:
        return e.response["Error"]["Code"]
