"""Holds what a server sent, not what the client makes of it, to the model that a boto3 client of SQS has."""

import json
import re
import xml.etree.ElementTree as ET

# Errors that any call of AWS may be answered with; the model does not list them.
COMMON = {
    "AccessDenied", "InvalidAction", "InvalidAddress", "InvalidClientTokenId", "InvalidParameterValue",
    "MalformedInput", "MalformedQueryString", "MissingParameter", "SignatureDoesNotMatch",
    # The service has these, too, and older models do not list them everywhere.
    "AWS.SimpleQueueService.NonExistentQueue", "InvalidAttributeName", "InvalidAttributeValue",
}
QUERY = "{http://queue.amazonaws.com/doc/2012-11-05/}"


class Watch:
    """Notes what is wrong with the answers to a client."""

    def __init__(self, client):
        self.wrong, self.answers = [], 0
        self.model = client.meta.service_model
        client.meta.events.register("response-received.sqs", self.look)

    def look(self, event_name, response_dict, **_):
        if response_dict is None:
            return  # the connection broke
        self.answers += 1
        operation_model = self.model.operation_model(event_name.rpartition(".")[2])
        body, status = response_dict["body"], response_dict["status_code"]
        headers = {k.lower(): v for k, v in response_dict["headers"].items()}
        reader = self.json if operation_model.service_model.metadata["protocol"] == "json" else self.xml
        for complaint in reader(operation_model, body, status, headers):
            self.wrong.append(f"{operation_model.name} {status}: {complaint}")

    def json(self, op, body, status, headers):
        if headers.get("content-type") != "application/x-amz-json-1.0":
            yield f"the type is {headers.get('content-type')}"
        if "x-amzn-requestid" not in headers:
            yield "there is no request id"
        data = json.loads(body) if body else None
        if status < 300:
            if op.output_shape is None:
                if data:
                    yield f"there is {body!r} where the model has nothing"
                return
            yield from of_json(op.output_shape, data, "")
            return
        code, _, fault = headers.get("x-amzn-query-error", "").partition(";")
        name = data["__type"].partition("#")[2]
        if name not in {e.name for e in op.error_shapes} and code not in COMMON:
            yield f"{name}, {code} is no error of this call"
        if fault != ("Sender" if status < 500 else "Receiver"):
            yield f"{code} is the fault of {fault!r}"
        if not isinstance(data.get("message"), str) or not data["message"]:
            yield f"{code} has no message"

    def xml(self, op, body, status, headers):
        if not headers.get("content-type", "").startswith("text/xml"):
            yield f"the type is {headers.get('content-type')}"
        root = ET.fromstring(body)
        if status >= 300:
            yield from error_of_xml(op, root, status)
            return
        if root.tag != f"{QUERY}{op.name}Response":
            yield f"the root is {root.tag}"
        want = [f"{QUERY}ResponseMetadata"]
        if op.output_shape is not None:
            want.insert(0, QUERY + op.output_shape.serialization["resultWrapper"])
        if [e.tag for e in root] != want:
            yield f"the root holds {[e.tag for e in root]}"
            return
        if not root[-1].findtext(f"{QUERY}RequestId"):
            yield "there is no request id"
        if op.output_shape is not None:
            yield from of_xml(op.output_shape, root[0], "")


def error_of_xml(op, root, status):
    if root.tag != f"{QUERY}ErrorResponse":
        yield f"the root is {root.tag}"
    code = root.findtext(f"{QUERY}Error/{QUERY}Code")
    known = {e.metadata.get("error", {}).get("code", e.name) for e in op.error_shapes}
    if code not in known | COMMON:
        yield f"{code} is no error of this call"
    fault = root.findtext(f"{QUERY}Error/{QUERY}Type")
    if fault != ("Sender" if status < 500 else "Receiver"):
        yield f"{code} is the fault of {fault!r}"
    if not root.findtext(f"{QUERY}Error/{QUERY}Message"):
        yield f"{code} has no message"
    if not root.findtext(f"{QUERY}RequestId"):
        yield "there is no request id"


FORMS = {"integer": re.compile("-?[0-9]+"), "long": re.compile("-?[0-9]+"), "boolean": re.compile("true|false")}
TYPES = {"string": (str,), "integer": (int,), "long": (int,), "boolean": (bool,), "blob": (str,), "double": (int, float),
         "timestamp": (int, float)}


def of_json(shape, value, at):
    if shape.type_name == "structure":
        for name in shape.required_members:
            if name not in value and shape.members[name].type_name != "list":  # an empty one is left out
                yield f"{at}.{name} is missing"
        for name, member in value.items():
            if name not in shape.members:
                yield f"{at}.{name} is not in the model"
            else:
                yield from of_json(shape.members[name], member, f"{at}.{name}")
    elif shape.type_name == "list":
        for member in value:
            yield from of_json(shape.member, member, at)
    elif shape.type_name == "map":
        for key, member in value.items():
            yield from of_json(shape.key, key, at)
            yield from of_json(shape.value, member, f"{at}.{key}")
    elif type(value) not in TYPES[shape.type_name]:
        yield f"{at} is {value!r:.60}, no {shape.type_name}"
    elif getattr(shape, "enum", None) and value not in shape.enum:
        yield f"{at} is {value!r:.60}, not of {shape.enum}"


def of_xml(shape, element, at):
    """The members of a structure; lists and maps are flattened, as SQS has them."""
    tags = {}
    for name, member in shape.members.items():
        inner = member.member if member.type_name == "list" else member
        tag = inner.serialization.get("name") or member.serialization.get("name") or name
        tags[QUERY + tag] = (name, member)
    for child in element:
        if child.tag not in tags:
            yield f"{at}.{child.tag.replace(QUERY, '')} is not in the model"
            continue
        name, member = tags[child.tag]
        yield from value_of_xml(member.member if member.type_name == "list" else member, child, f"{at}.{name}")
    there = {tags[child.tag][0] for child in element if child.tag in tags}
    for name in shape.required_members:
        if name not in there and shape.members[name].type_name != "list":
            yield f"{at}.{name} is missing"


def value_of_xml(shape, element, at):
    text = element.text or ""
    if shape.type_name == "structure":
        yield from of_xml(shape, element, at)
    elif shape.type_name == "map":
        parts = (shape.key, "key"), (shape.value, "value")
        want = [QUERY + part.serialization.get("name", usual) for part, usual in parts]
        if [e.tag for e in element] != want:
            yield f"{at} holds {[e.tag for e in element]}"
        elif shape.value.type_name == "structure":
            yield from of_xml(shape.value, element[1], at)
    elif len(element):
        yield f"{at} holds {[e.tag for e in element]}"
    elif shape.type_name in FORMS and not FORMS[shape.type_name].fullmatch(text):
        yield f"{at} is {text!r:.60}, no {shape.type_name}"
    elif getattr(shape, "enum", None) and text not in shape.enum:
        yield f"{at} is {text!r:.60}, not of {shape.enum}"
