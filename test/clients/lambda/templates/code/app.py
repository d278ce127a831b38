"""Says of each message of a batch what it was, in its answer and its log."""
import os

import words


def handler(event, context):
    said = [os.environ["GREETING"] + " " + words.NAME + " " + r["body"] for r in event.get("Records", [])]
    for line in said:
        print(line)
    return said or os.environ["GREETING"] + " " + words.NAME
