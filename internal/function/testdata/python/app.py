"""Handlers for the loader's tests."""

import datetime
import json
import os
import sys

count = 0


def handler(event, context):
    global count
    count += 1
    return {"event": event, "id": context.aws_request_id, "name": context.function_name, "count": count,
            "left": context.get_remaining_time_in_millis() > 0}


def prints(event, context):
    print("hello")
    print("to stderr", file=sys.stderr)
    return "printed ✓"


def compiled(event, context):
    return {"prefix": sys.pycache_prefix, "writes": not sys.dont_write_bytecode, "library": os.path.exists(json.__cached__)}


def raises(event, context):
    raise ValueError("not this")


def leaves(event, context):
    sys.exit(3)


def date(event, context):
    return datetime.date(2026, 1, 1)
