"""Sends to FCM's sandbox with Google's own library, firebase-admin, as a server of somebody's would: unchanged. A check
is a line of JSON on standard output, with its name and what was wrong. The arguments are the account's file, a token
that is good and one that is gone."""

import json
import sys
import traceback

import firebase_admin
from firebase_admin import credentials, messaging

account, good, gone = sys.argv[1:]
firebase_admin.initialize_app(credentials.Certificate(account))


def message(token=None, **more):
    return messaging.Message(
        notification=messaging.Notification(title="News", body="hello"), data={"id": "1"}, token=token, **more
    )


def a_message_is_sent():
    name = messaging.send(message(good))
    assert name.startswith("projects/news/messages/"), name


def every_kind_of_settings_is_taken():
    name = messaging.send(
        message(
            good,
            android=messaging.AndroidConfig(collapse_key="k", priority="high", ttl=3600),
            apns=messaging.APNSConfig(headers={"apns-priority": "5"}),
            webpush=messaging.WebpushConfig(headers={"TTL": "60"}),
            fcm_options=messaging.FCMOptions(analytics_label="winter"),
        )
    )
    assert name, name


def topics_and_conditions_are_targets():
    assert messaging.send(message(topic="weather"))
    assert messaging.send(message(condition="'weather' in topics && 'news' in topics"))


def a_dry_run_sends_nothing():
    assert messaging.send(message(good), dry_run=True)


def a_device_that_is_gone_is_unregistered():
    try:
        messaging.send(message(gone))
    except messaging.UnregisteredError as e:
        assert e.code == "NOT_FOUND", e.code
    else:
        raise AssertionError("it was sent")


def a_token_that_is_none_is_an_invalid_argument():
    try:
        messaging.send(message("none"))
    except firebase_admin.exceptions.InvalidArgumentError:
        return
    raise AssertionError("it was sent")


def many_are_sent_at_once():
    many = messaging.send_each([message(gone if i % 10 == 0 else good) for i in range(100)])
    assert (many.success_count, many.failure_count) == (90, 10), (many.success_count, many.failure_count)
    assert isinstance(many.responses[0].exception, messaging.UnregisteredError), many.responses[0].exception


def an_installation_is_a_target():
    assert messaging.send(messaging.Message(data={"id": "2"}, fid="cx0mHBlDR4-y_ZEWDqvXb1"))


def devices_join_a_topic_and_leave_it():
    for change in messaging.subscribe_to_topic, messaging.unsubscribe_from_topic:
        changed = change([good, "none", gone], "weather")
        assert (changed.success_count, changed.failure_count) == (2, 1), (changed.success_count, changed.errors)
        assert changed.errors[0].index == 1, changed.errors[0].reason


for check in [
    a_message_is_sent,
    every_kind_of_settings_is_taken,
    topics_and_conditions_are_targets,
    a_dry_run_sends_nothing,
    a_device_that_is_gone_is_unregistered,
    a_token_that_is_none_is_an_invalid_argument,
    many_are_sent_at_once,
    an_installation_is_a_target,
    devices_join_a_topic_and_leave_it,
]:
    wrong = ""
    try:
        check()
    except BaseException:
        wrong = traceback.format_exc()
    print(json.dumps({"check": check.__name__.replace("_", " "), "wrong": wrong}), flush=True)
