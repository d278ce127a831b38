"""The functions of the bench in Python: those of a field report on AWS Lambda, and one that answers its event.

WAIT_MS says how long those that wait do, INIT_MS how long the start takes, N which Fibonacci number is wanted, WARM=no that it is wanted once.
"""

import os
import socket
import sys
import threading
import time
import traceback

ORIGIN = time.monotonic()
HANDLER = os.environ.get("_HANDLER", "")
counter = 0


def since():
    return int((time.monotonic() - ORIGIN) * 1000)


def wait():
    print("Before wait:", since(), flush=True)
    time.sleep(int(os.environ.get("WAIT_MS", "10000")) / 1000)
    print("After wait:", since(), flush=True)


# Where the report's classes have their constructor.
if HANDLER in ("app.wait2", "app.wait3"):
    wait()
if HANDLER == "app.nap":
    time.sleep(int(os.environ.get("INIT_MS", "0")) / 1000)


def echo(event, context):
    return event


def pid(event, context):
    global counter
    counter += 1
    print(f"Name: {os.getpid()}@{socket.gethostname()}")
    print(f"Count: {counter}")
    return "SUCCESS"


def stacktrace(event, context):
    frames = sys._current_frames()
    for thread in threading.enumerate():
        print(f'"{thread.name}" Id={thread.ident}')
        print("".join(traceback.format_stack(frames[thread.ident])))
    return "SUCCESS"


def wait1(event, context):
    wait()
    return "SUCCESS"


def wait2(event, context):
    print("Called:", since())
    return "SUCCESS"


wait3 = wait2


def nap(event, context):
    time.sleep(event / 1000)
    return "SUCCESS"


def fibonacci(n):
    return n if n < 2 else fibonacci(n - 1) + fibonacci(n - 2)


def fib(event, context):
    """Does the work twice, as in the report's benchmark: once to warm up, unless it is told not to."""
    n = int(os.environ["N"])
    if os.environ.get("WARM") != "no":
        fibonacci(n)
    began = time.monotonic()
    result = fibonacci(n)
    print("Took:", int((time.monotonic() - began) * 1000))
    return result
