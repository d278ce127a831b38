"""Speaks to a running hikyaku with Amazon's command line, with curl on the path of the runtime interface emulator, and with hikyaku's own command, and
prints a line a check: "ok NAME" or "not ok NAME: why". The checks and the variables that say where the server is: ../README.md.
"""

import json
import os
import subprocess
import sys
import tempfile
import zipfile

NAME = os.environ["CLIENT_PREFIX"] + "-f"
ENDPOINT = os.environ["LAMBDA_ENDPOINT"]
PROGRAM = 'def handler(event, context):\n    print("printed")\n    return {"hello": event.get("name")}\n'

os.environ.update({
    "AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "thing", "AWS_DEFAULT_REGION": "us-east-1", "AWS_MAX_ATTEMPTS": "1", "AWS_PAGER": "",
    "AWS_CONFIG_FILE": "/dev/null", "AWS_SHARED_CREDENTIALS_FILE": "/dev/null", "PYTHONIOENCODING": "utf-8", "HIKYAKU_LAMBDA_URL": ENDPOINT,
})
failed = False
folder = tempfile.TemporaryDirectory()
os.chdir(folder.name)


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


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=100)
    if done.returncode != 0:
        raise AssertionError(f"{command[0]} ended with {done.returncode}: {done.stderr} {done.stdout}")
    return done.stdout


def aws(*command):
    return run(os.environ["AWS"], "--endpoint-url", ENDPOINT, "--output", "json", "lambda", *command)


def deploy():
    with zipfile.ZipFile("code.zip", "w") as z:
        z.writestr("app.py", PROGRAM)
    made = json.loads(aws("create-function", "--function-name", NAME, "--runtime", "python3.11", "--role", "arn:aws:iam::000000000000:role/any", "--handler", "app.handler",
                          "--timeout", "60", "--zip-file", "fileb://code.zip"))
    want(NAME, made["FunctionName"])


def invoke():
    told = json.loads(aws("invoke", "--function-name", NAME, "--payload", '{"name": "world"}', "answer.json"))
    with open("answer.json") as answer:
        want([200, {"hello": "world"}], [told["StatusCode"], json.load(answer)])


def emulator():
    path = "/2015-03-31/functions/" + NAME + "/invocations"  # with one function alone, its name is function
    want({"hello": "curl"}, json.loads(run("curl", "-sS", "-d", '{"name": "curl"}', ENDPOINT + path)))


def hikyaku():
    ours = os.environ["HIKYAKU"]
    os.mkdir("code")
    with open("code/app.py", "w") as f:
        f.write(PROGRAM.replace("hello", "again"))
    run(ours, "function", "deploy", NAME, "--code", "code", "--timeout", "61")
    want({"again": "us"}, json.loads(run(ours, "function", "invoke", NAME, "--payload", '{"name": "us"}')))
    want(True, "printed" in run(ours, "function", "logs", NAME))
    mine = [f for f in json.loads(run(ours, "function", "ls", "--json")) if f["name"] == NAME][0]
    want([1, "idle"], [mine["invokes"], mine["instances"][0]["state"]])
    want(True, NAME in run(ours, "function", "ls"))
    run(ours, "function", "deploy", NAME, "--memory", "256")  # what is not named stays, also in a folder with other things
    want({"again": "us"}, json.loads(run(ours, "function", "invoke", NAME, "--payload", '{"name": "us"}')))
    want([256, "python3.11"], [json.loads(aws("get-function-configuration", "--function-name", NAME))[k] for k in ("MemorySize", "Runtime")])
    for runtime, warned in (("python3.99", True), ("python3.11", False)):  # said where it is deployed, and as long as it is so
        done = subprocess.run([ours, "function", "deploy", NAME, "--runtime", runtime], capture_output=True, text=True, timeout=100, check=True)
        listed = [line for line in run(ours, "function", "ls").splitlines() if " asks for python 3.99, and it runs on python 3." in line]
        want([warned, warned], ["warning: python3.99 asks for python 3.99, and it runs on python 3." in done.stderr, any(line.startswith(NAME + ": ") for line in listed)])
    os.mkdir("program")
    with open("program/bootstrap", "w") as f:
        f.write("#!/bin/sh\nexit 7\n")
    os.chmod("program/bootstrap", 0o755)
    run(ours, "function", "deploy", NAME, "--runtime", "provided", "--code", "program")  # code and runtime at once
    for command, says in (("invoke", "(Runtime.ExitError)"), ("deploy", "a new one needs its code")):
        name, more = (NAME, []) if command == "invoke" else (NAME + "-absent", ["--memory", "256"])
        done = subprocess.run([ours, "function", command, name, *more], capture_output=True, text=True, timeout=100)
        want([1, True], [done.returncode, says in done.stderr])


def delete():
    run(os.environ["HIKYAKU"], "function", "rm", NAME)
    gone = subprocess.run([os.environ["AWS"], "--endpoint-url", ENDPOINT, "lambda", "get-function", "--function-name", NAME], capture_output=True, text=True)
    want(True, gone.returncode != 0 and "(ResourceNotFoundException)" in gone.stderr)


check("deploy", deploy)
check("invoke", invoke)
check("emulator", emulator)
check("hikyaku", hikyaku)
check("delete", delete)
sys.exit(1 if failed else 0)
