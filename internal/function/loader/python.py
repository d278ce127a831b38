"""Runs a Lambda function in Python: asks the Runtime API for events, calls the handler, sends back what it gives.

Started as `python3 python.py module.function` with the variables that every runtime finds.
"""

import importlib
import json
import logging
import os
import socket
import sys
import time
import traceback

BASE = "/2018-06-01/runtime/"
current = ""  # the id of the invocation that runs


def keep_log():
    """Gives the root logger a handler, as the provider's client does: without one, Python drops what is less than a warning."""
    handler = logging.StreamHandler(sys.stdout)
    lines = logging.Formatter("[%(levelname)s]\t%(asctime)s.%(msecs)03dZ\t%(aws_request_id)s\t%(message)s", "%Y-%m-%dT%H:%M:%S")
    lines.converter = time.gmtime
    handler.setFormatter(lines)
    handler.addFilter(name_invocation)
    logging.getLogger().addHandler(handler)


def name_invocation(record):
    record.aws_request_id = current
    return True


class Line:
    """The line to the Runtime API: one connection, one request at a time."""

    def __init__(self, address):
        host, port = address.rsplit(":", 1)
        self.address = address
        self.socket = socket.create_connection((host, int(port)))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.input = self.socket.makefile("rb", 65536)

    def ask(self, method, target, headers=None, body=None):
        head = [f"{method} {BASE}{target} HTTP/1.1", f"Host: {self.address}"]
        for name, value in (headers or {}).items():
            head.append(f"{name}: " + " ".join(str(value).splitlines()))
        if body is not None:
            head.append(f"Content-Length: {len(body)}")
        data = ("\r\n".join(head) + "\r\n\r\n").encode("latin-1", "replace")
        self.socket.sendall(data if body is None else data + body)
        first = self.input.readline()
        if not first:
            raise ConnectionError("the Runtime API has closed the connection")
        status = int(first[9:12])
        found = {}
        while True:
            line = self.input.readline()
            if line in (b"\r\n", b"\n", b""):
                break
            name, _, value = line.decode("latin-1").partition(":")
            found[name.lower()] = value.strip()
        length = int(found.get("content-length", 0))
        return status, found, self.input.read(length) if length else b""


class Record:
    """Values under names, None for those that are not there."""

    def __init__(self, values):
        self.__dict__.update(values)

    def __getattr__(self, name):
        return None

    def __repr__(self):
        return f"{type(self).__name__}({self.__dict__})"


class Context:
    """What a handler is told about its invocation."""

    def __init__(self, headers):
        env = os.environ
        self.aws_request_id = headers.get("lambda-runtime-aws-request-id")
        self.invoked_function_arn = headers.get("lambda-runtime-invoked-function-arn")
        self.function_name = env.get("AWS_LAMBDA_FUNCTION_NAME")
        self.function_version = env.get("AWS_LAMBDA_FUNCTION_VERSION")
        self.memory_limit_in_mb = env.get("AWS_LAMBDA_FUNCTION_MEMORY_SIZE")
        self.log_group_name = env.get("AWS_LAMBDA_LOG_GROUP_NAME")
        self.log_stream_name = env.get("AWS_LAMBDA_LOG_STREAM_NAME")
        self._deadline = int(headers.get("lambda-runtime-deadline-ms", 0))
        who = json.loads(headers.get("lambda-runtime-cognito-identity") or "{}")
        self.identity = Record({"cognito_identity_id": who.get("cognitoIdentityId"), "cognito_identity_pool_id": who.get("cognitoIdentityPoolId")})
        client = headers.get("lambda-runtime-client-context")
        self.client_context = None
        if client:
            told = json.loads(client)
            self.client_context = Record({**told, "client": Record(told.get("client") or {})})

    def get_remaining_time_in_millis(self):
        return max(0, self._deadline - int(time.time() * 1000))

    def log(self, text):
        sys.stdout.write(str(text))


class Problem(Exception):
    """What the loader itself finds wrong, with the provider's name for it."""

    def __init__(self, kind, message):
        super().__init__(message)
        self.kind = kind


def describe(error, skip=0):
    if isinstance(error, Problem):
        return {"errorMessage": str(error), "errorType": error.kind, "requestId": current, "stackTrace": []}
    frames = traceback.extract_tb(error.__traceback__)[skip:]
    return {"errorMessage": str(error), "errorType": type(error).__name__, "requestId": current, "stackTrace": traceback.format_list(frames)}


def load(name):
    module_name, dot, function_name = name.rpartition(".")
    if not dot or not module_name:
        raise Problem("Runtime.MalformedHandlerName", f"Bad handler '{name}': write it as module.function")
    module_name = module_name.replace("/", ".")
    try:
        module = importlib.import_module(module_name)
    except ImportError as e:
        raise Problem("Runtime.ImportModuleError", f"Unable to import module '{module_name}': {e}") from e
    except SyntaxError as e:
        raise Problem("Runtime.UserCodeSyntaxError", f"Syntax error in module '{module_name}': {e}") from e
    try:
        return getattr(module, function_name)
    except AttributeError:
        raise Problem("Runtime.HandlerNotFound", f"Handler '{function_name}' missing on module '{module_name}'") from None


def unknown(value):
    raise TypeError(f"Object of type {type(value).__name__} is not JSON serializable")


def report(line, target, what):
    print(f"[ERROR] {what['errorType']}: {what['errorMessage']}")
    for frame in what["stackTrace"]:
        print(frame.rstrip())
    sys.stdout.flush()
    headers = {"Content-Type": "application/json", "Lambda-Runtime-Function-Error-Type": what["errorType"]}
    line.ask("POST", target, headers, json.dumps(what).encode())


def serve(line, handler, headers, body):
    global current
    current = headers["lambda-runtime-aws-request-id"]
    target = f"invocation/{current}/"
    trace = headers.get("lambda-runtime-trace-id")
    if trace:
        os.environ["_X_AMZN_TRACE_ID"] = trace
    else:
        os.environ.pop("_X_AMZN_TRACE_ID", None)
    try:
        try:
            event = json.loads(body)
        except ValueError as e:
            raise Problem("Runtime.UnmarshalError", f"Unable to unmarshal input: {e}") from e
        value = handler(event, Context(headers))
        try:
            text = json.dumps(value, default=unknown, ensure_ascii=False).encode("utf-8", "surrogatepass")
        except (TypeError, ValueError) as e:
            raise Problem("Runtime.MarshalError", f"Unable to marshal response: {e}") from e
    except Exception as e:  # a handler may raise anything
        report(line, target + "error", describe(e, skip=1))
        return
    sys.stdout.flush()
    line.ask("POST", target + "response", {"Content-Type": "application/json"}, text)


def main():
    line = Line(os.environ["AWS_LAMBDA_RUNTIME_API"])
    root = os.environ.get("LAMBDA_TASK_ROOT", os.getcwd())
    sys.path[0] = root  # not the loader's folder
    keep_log()
    try:
        handler = load(sys.argv[1] if len(sys.argv) > 1 else os.environ["_HANDLER"])
    except BaseException as e:  # also what asks Python to exit
        report(line, "init/error", describe(e, skip=1))
        sys.exit(1)
    while True:
        status, headers, body = line.ask("GET", "invocation/next")
        if status != 200:
            raise ConnectionError(f"the Runtime API refuses: {status} {body!r}")
        serve(line, handler, headers, body)


if __name__ == "__main__":
    main()
