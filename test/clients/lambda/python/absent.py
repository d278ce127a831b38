"""Adds to each request the members of the client's model that it does not have, one at a time: good and spoiled."""

import re

import model

# Texts of which one is of the form that a member has.
TEXTS = ("a", "abc", "1", "/mnt/x", "us-east-1", "o-0123456789", "host:9092", "00000000-0000-0000-0000-000000000000",
         *("arn:aws:lambda:us-east-1:000000000000:" + text for text in (
             "layer:absent:1", "code-signing-config:csc-0123456789abcdef0", "capacity-provider:x", "runtime/0123456789",
             "function:absent")),
         "arn:aws:elasticfilesystem:us-east-1:000000000000:access-point/fsap-0123456789abcdef0")
REFUSED = "InvalidParameterValueException"
STREAMS = ("LoggingConfig", "ParallelizationFactor", "StartingPosition", "StartingPositionTimestamp",
           "DestinationConfig", "MaximumRecordAgeInSeconds", "BisectBatchOnFunctionError", "MaximumRetryAttempts",
           "TumblingWindowInSeconds", "Topics", "Queues", "SourceAccessConfigurations", "SelfManagedEventSource",
           "AmazonManagedKafkaEventSourceConfig", "SelfManagedKafkaEventSourceConfig", "DocumentDBEventSourceConfig")
# What good ones are answered, where it is not that the call is done: other things have to be there, or nothing stands
# behind them here.
ANSWERS = {
    "TenancyConfig": REFUSED, "CapacityProviderConfig": REFUSED, "DurableConfig": REFUSED, "RuntimeConfig": REFUSED,
    "AcceleratorConfig": REFUSED, "ImageConfig": REFUSED, "PublishTo": REFUSED, "TenantId": REFUSED,
    "DurableExecutionName": REFUSED, "Layers": REFUSED, "ImageUri": REFUSED, "S3Bucket": REFUSED, "S3Key": REFUSED,
    "CodeSigningConfigArn": "CodeSigningConfigNotFoundException", "CodeSha256": REFUSED,
    "ClientContext": "InvalidRequestContentException", "Marker": REFUSED, "RevisionId": "PreconditionFailedException",
    "FunctionName": "ResourceNotFoundException",  # of a mapping that is changed
    **{name: REFUSED for name in STREAMS},
}
# Those that are shown as they were sent, or as a part of what is shown.
SHOWN = {"FileSystemConfigs", "KMSKeyArn", "MetricsConfig", "ProvisionedPollerConfig", "EventSourceToken",
         "PrincipalOrgID"}
# Calls that the door does not have.
NAMED = "CapacityProvider|DurableExecution|FunctionScalingConfig"
# Each would be a second one of what can be there once.
AGAIN = {"AddPermission": ("RemovePermission", "StatementId"), "CreateFunction": ("DeleteFunction", "FunctionName")}


def sample(member):
    """A value that fits."""
    kind, limits = member.type_name, member.metadata
    if kind == "structure":
        return {name: sample(inner) for name, inner in member.members.items()}
    if kind == "list":
        return [sample(member.member)]
    if kind == "map":
        return {sample(member.key): sample(member.value)}
    if kind != "string":
        return {"boolean": True, "blob": b"x", "timestamp": 1700000000}.get(kind, limits.get("min", 1))
    if getattr(member, "enum", None):
        return member.enum[0]
    form = limits.get("pattern", ".*")
    return next((t for t in TEXTS if re.fullmatch(form, t) and len(t) >= limits.get("min", 0)), "x")


def members(shape, request, path=()):
    """Those that a request does not have."""
    for name, member in shape.members.items():
        if shape.serialization.get("payload") == name:
            continue
        if name not in request:
            yield (*path, name), member
        elif member.type_name == "structure":
            yield from members(member, request[name], (*path, name))


def spoiled(member, value, at, place):
    """What can be wrong with a member, as model.values has it, and further in."""
    yield from model.values(member, value, at, place)
    if member.type_name == "list":
        least, kind = member.metadata.get("min", 0), member.member.type_name
        if least:
            yield at, [], model.INVALID
        if kind == "string":
            for _, text, codes in model.texts(member.member, (), None):
                yield at, [text], codes
    if member.type_name == "map":
        for _, text, codes in model.texts(member.key, (), None):
            yield at, {text: sample(member.value)}, codes


def check(watch, functions, call, request):
    """Returns what was wrong."""
    shape, wrong = watch.model.operation_model(call).input_shape, []
    for at, member in members(shape, request):
        good = sample(member)
        whole, place = model.put(request, at, good), member.serialization.get("location")
        for inner, value, codes in spoiled(member, good, at, place):
            got = model.refusal(functions, call, model.put(whole, inner, value))
            if got not in codes:
                wrong.append(f"{call} with {'.'.join(map(str, inner))} {value!r:.60}: {got}")
        want = ANSWERS.get(at[-1])
        before = len(watch.wrong)
        got, answer = outcome(functions, call, whole)
        if got != want or (got is None and at[-1] in SHOWN and str(at[-1]) not in str(answer)):
            wrong.append(f"{call} with {'.'.join(at)} {good!r:.60}: {got}, wanted {want}; {answer!r:.200}")
        if got is None:
            undo(functions, call, request, answer)
        del watch.wrong[before:]  # an answer that the model of a function without it would not have
    return wrong


def unknown(functions, known):
    """Returns what was wrong with the answers to calls that the door does not have. docs/functions.md names them."""
    service, wrong = functions.meta.service_model, []
    for call in sorted(set(service.operation_names) - known):
        shape = service.operation_model(call).input_shape
        got = model.refusal(functions, call, {name: sample(shape.members[name]) for name in shape.required_members})
        if got != "UnknownOperationException" or not re.search(NAMED, call):
            wrong.append(f"{call}: {got}")
    return wrong


def outcome(functions, call, request):
    try:
        return None, functions._make_api_call(call, request)
    except functions.exceptions.ClientError as e:
        return e.response["Error"]["Code"], None


def undo(functions, call, request, answer):
    """Takes away what a call has made, so that the next one can make it."""
    if call == "CreateEventSourceMapping":
        functions.delete_event_source_mapping(UUID=answer["UUID"])
    elif call in AGAIN:
        back, name = AGAIN[call]
        kept = {k: v for k, v in request.items() if k in (name, "FunctionName", "Qualifier")}
        functions._make_api_call(back, kept)
