"""What a team keeps of queues and functions, as tasks of Ansible's modules. Done again, they have to change nothing."""

import importlib
import io
import json
import sys
from contextlib import redirect_stdout

from ansible.module_utils import basic

QUEUES = "ansible_collections.community.aws.plugins.modules."
FUNCTIONS = "ansible_collections.amazon.aws.plugins.modules."
ACCOUNT = "000000000000"


def tasks(prefix, archive, there, size, batch, version):
    """Names, modules and arguments. There: whether it is to be there; the others are what is changed of it."""
    arn, state = f"arn:aws:sqs:us-east-1:{ACCOUNT}:{prefix}", "present" if there else "absent"
    function, layer = prefix + "-function", prefix + "-layer"
    statement = {"Effect": "Allow", "Principal": "*", "Action": "sqs:SendMessage", "Resource": arn + "-work"}
    yield "dead letters", QUEUES + "sqs_queue", {"name": prefix + "-dead", "state": state}
    yield "queue", QUEUES + "sqs_queue", {
        "name": prefix + "-work", "state": state, "visibility_timeout": size, "message_retention_period": 3600,
        "maximum_message_size": 2048, "delay_seconds": 1, "receive_message_wait_time_seconds": 2,
        "redrive_policy": {"maxReceiveCount": 5, "deadLetterTargetArn": arn + "-dead"},
        "policy": {"Version": "2012-10-17", "Statement": statement}, "kms_master_key_id": "alias/MyAlias",
        "kms_data_key_reuse_period_seconds": 300, "tags": {"team": f"team {size}"}}
    yield "fifo queue", QUEUES + "sqs_queue", {
        "name": prefix + "-work", "state": state, "queue_type": "fifo", "content_based_deduplication": True,
        "deduplication_scope": "messageGroup", "fifo_throughput_limit": "perMessageGroupId"}
    source = {"source_arn": arn + "-work", "enabled": True, "batch_size": batch}
    mapping = "mapping", FUNCTIONS + "lambda_event", {
        "lambda_function_arn": function, "alias": "live", "event_source": "sqs", "state": state,
        "source_params": source}
    if not there:
        yield mapping
        yield "function", FUNCTIONS + "lambda", {"name": function, "state": state}
        yield "layer", FUNCTIONS + "lambda_layer", {"name": layer, "state": state, "version": -1}
        return
    # Each is a new version, also with the service.
    yield "layer", FUNCTIONS + "lambda_layer", {
        "name": layer, "description": f"size {size}", "content": {"zip_file": archive}, "license_info": "MIT",
        "compatible_runtimes": ["python3.11", "python3.12"]}
    yield "function", FUNCTIONS + "lambda", {
        "name": function, "runtime": "python3.11", "role": f"arn:aws:iam::{ACCOUNT}:role/r", "handler": "app.handler",
        "zip_file": archive, "description": "one", "timeout": size, "memory_size": 256, "architecture": "x86_64",
        "environment_variables": {"SIZE": f"size {size}"}, "dead_letter_arn": arn + "-dead", "tracing_mode": "Active",
        "layers": [{"layer_name": layer, "version": 1}], "tags": {"team": f"team {size}"}}
    yield "alias", FUNCTIONS + "lambda_alias", {
        "function_name": function, "name": "live", "description": f"size {size}", "function_version": version}
    yield "permission", FUNCTIONS + "lambda_policy", {
        "function_name": function, "alias": "live", "statement_id": "s3", "action": "lambda:InvokeFunction",
        "principal": "s3.amazonaws.com", "source_arn": "arn:aws:s3:::bucket", "source_account": ACCOUNT}
    yield mapping


def done(module, arguments, plan):
    """Runs a module as Ansible does it, in this process, and returns whether it has changed something."""
    keys = {"region": "us-east-1", "access_key": "x", "secret_key": "x", "_ansible_check_mode": plan}
    basic._ANSIBLE_ARGS = json.dumps({"ANSIBLE_MODULE_ARGS": {**keys, **arguments}}).encode()
    basic._ANSIBLE_PROFILE = "legacy"
    sys.argv = [module]
    said = io.StringIO()
    try:
        with redirect_stdout(said):
            importlib.import_module(module).main()
    except SystemExit:
        pass
    answer = json.loads(said.getvalue())
    if answer.get("failed"):
        raise AssertionError(f"{module}: {answer}")
    return answer["changed"]
