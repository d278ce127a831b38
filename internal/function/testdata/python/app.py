"""Handlers for the loader's tests."""

import datetime
import json
import logging
import os
import sys
import time

count = 0
log = logging.getLogger()
log.setLevel("INFO")
log.info("it starts")


def handler(event, context):
    global count
    count += 1
    return {"event": event, "id": context.aws_request_id, "name": context.function_name, "count": count,
            "left": context.get_remaining_time_in_millis() > 0}


def prints(event, context):
    print("hello")
    print("to stderr", file=sys.stderr)
    return "printed ✓"


def logs(event, context):
    log.info("for %s", event["a"])
    logging.getLogger("deep").warning("two\nlines")
    return "logged"


def forks(event, context):
    kept = bytearray(b"x") * (60 << 20)
    for _ in range(3):
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
    return len(kept)


def compiled(event, context):
    return {"prefix": sys.pycache_prefix, "writes": not sys.dont_write_bytecode, "library": os.path.exists(json.__cached__)}


def raises(event, context):
    raise ValueError("not this")


def leaves(event, context):
    sys.exit(3)


def date(event, context):
    return datetime.date(2026, 1, 1)
