"""Greets whoever a message names. It gets up to ten messages at once, and says which of them failed: only those come again."""


def handler(event, context):
    greetings, failures = [], []
    for record in event["Records"]:
        if not record["body"].strip():
            failures.append({"itemIdentifier": record["messageId"]})
            continue
        greetings.append(f"hello {record['body']}")
    print(f"{len(greetings)} greeted, {len(failures)} failed")
    return {"batchItemFailures": failures, "greetings": greetings}
