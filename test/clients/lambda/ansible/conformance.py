"""Lets Ansible's modules for SQS and Lambda make, keep, change and remove what resources.py says.

It prints a line a check: "ok NAME" or "not ok NAME: why".
The checks and the variables that say where the server is: ../README.md.
"""

import os
import sys
import tempfile
import zipfile

from resources import QUEUES, done, tasks

FIRST = {"there": True, "size": 30, "batch": 5, "version": 1}
SECOND = {"there": True, "size": 60, "batch": 7, "version": 0}
GONE = {**SECOND, "there": False}
MADE = {"dead letters", "queue", "fifo queue", "layer", "function", "alias", "permission", "mapping"}
CHANGED = {"queue", "layer", "function", "alias", "mapping"}
REMOVED = MADE - {"alias", "permission"}
failed = False


def check(name, wanted, settings, plan=False):
    """Demands that the tasks of those names, and no others, have changed something; plan: would change something."""
    global failed
    try:
        changed = set()
        for task, module, arguments in tasks(os.environ["CLIENT_PREFIX"], archive, **settings):
            door = "SQS_ENDPOINT" if module.startswith(QUEUES) else "LAMBDA_ENDPOINT"
            if done(module, {**arguments, "endpoint_url": os.environ[door]}, plan):
                changed.add(task)
        if changed != wanted:
            raise AssertionError(f"changed {changed!r}, wanted {wanted!r}")
        print("ok", name, flush=True)
    except (Exception, SystemExit) as e:
        failed = True
        print(f"not ok {name}: {type(e).__name__}: {str(e)[:1000]}".replace("\n", " "), flush=True)


with tempfile.TemporaryDirectory() as folder:
    archive = os.path.join(folder, "app.zip")
    entry = zipfile.ZipInfo("app.py")
    entry.external_attr = 0o644 << 16
    with zipfile.ZipFile(archive, "w") as z:
        z.writestr(entry, "def handler(event, context): return event\n")
    check("make", MADE, FIRST)
    check("keep", {"layer"}, FIRST)  # each is a new version
    check("plan", CHANGED, SECOND, plan=True)
    check("change", CHANGED, SECOND)
    check("remove", REMOVED, GONE)
sys.exit(failed)
