"""What the tests ask of a function beside what the bench does."""


class TooFar(Exception):
    pass


def fail(event, context):
    raise TooFar("too far")


def about(event, context):
    return {"id": context.aws_request_id, "arn": context.invoked_function_arn, "left": context.get_remaining_time_in_millis() > 0}
