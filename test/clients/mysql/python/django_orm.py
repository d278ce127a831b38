"""Speaks to a running hikyaku with Django (on PyMySQL) and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md.
"""

import datetime
import sys
import traceback
from decimal import Decimal

import pymysql

import settings

pymysql.version_info = (2, 2, 8, "final", 0)  # of the driver whose place it takes
pymysql.install_as_MySQLdb()

import django  # noqa: E402: the driver comes first
from django.conf import settings as of_django  # noqa: E402

of_django.configure(
    DATABASES={"default": {
        "ENGINE": "django.db.backends.mysql", "HOST": settings.HOST, "PORT": settings.PORT, "NAME": settings.DATABASE,
        "USER": settings.USER, "PASSWORD": settings.PASSWORD.encode(), "CONN_HEALTH_CHECKS": True, "CONN_MAX_AGE": None,
    }},
    USE_TZ=False, INSTALLED_APPS=[], DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
)
django.setup()

from django.db import connection, models, transaction  # noqa: E402: they read the settings
from django.db.models import Avg, Count, Q, Sum  # noqa: E402
from django.db.utils import IntegrityError, ProgrammingError  # noqa: E402

failed = False


class Job(models.Model):
    n = models.IntegerField(primary_key=True)  # only to Django: a queue has no keys
    kind = models.CharField(max_length=10, null=True)
    payload = models.TextField()
    price = models.DecimalField(max_digits=8, decimal_places=2, null=True)
    at = models.DateTimeField(null=True)

    class Meta:
        app_label = "clients"
        db_table = "django_jobs"
        managed = False


def check(name, body):
    global failed
    try:
        body()
        print("ok", name, flush=True)
    except Exception as e:  # noqa: BLE001: whatever goes wrong is told
        failed = True
        at = traceback.extract_tb(e.__traceback__)[-1:]
        print(f"not ok {name}: {' '.join(repr(e).split())[:500]} ({at})", flush=True)


def want(expected, got):
    if got != expected:
        raise AssertionError(f"got {got!r}, wanted {expected!r}")


def value(sql, args=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, args)
        return cursor.fetchone()[0]


def run(sql):
    with connection.cursor() as cursor:
        cursor.execute(sql)


def create():
    run("DROP TABLE IF EXISTS django_jobs")
    run("CREATE TABLE django_jobs (n int NOT NULL, kind varchar(10), payload longtext NOT NULL, price decimal(8,2),"
        " at datetime(6)) ENGINE=QUEUE")


def show():
    with connection.cursor() as cursor:
        look = connection.introspection
        want(True, "django_jobs" in look.table_names(cursor))
        columns = look.get_table_description(cursor, "django_jobs")
        want(["n", "kind", "payload", "price", "at"], [c.name for c in columns])
        want(["IntegerField", "CharField", "TextField", "DecimalField", "DateTimeField"],
             [look.get_field_type(c.type_code, c) for c in columns])
        want([False, True, False, True, True], [bool(c.null_ok) for c in columns])
        want({}, look.get_constraints(cursor, "django_jobs"))
        want({}, look.get_relations(cursor, "django_jobs"))
        want([], look.get_sequences(cursor, "django_jobs"))


def insert():
    Job.objects.create(n=1, kind="a", payload=settings.TEXT, price=Decimal("1.25"),
                       at=datetime.datetime(2026, 1, 2, 3, 4, 5, 678901))
    Job.objects.bulk_create([Job(n=2, kind="b", payload="x", price=Decimal("2.00")), Job(n=3, payload="it's 100%")])
    job = Job.objects.get(pk=1)
    want((settings.TEXT, Decimal("1.25"), 678901), (job.payload, job.price, job.at.microsecond))


def look_up():
    want([2, 3], [j.n for j in Job.objects.filter(Q(kind="b") | Q(payload__contains="100%")).order_by("n")])
    want([3, 2], list(Job.objects.exclude(n=1).order_by("-n").values_list("n", flat=True)[:5]))
    want([3], list(Job.objects.order_by("n").values_list("n", flat=True)[2:]))
    want({"c": 3, "s": Decimal("3.25"), "a": 2.0}, Job.objects.aggregate(c=Count("*"), s=Sum("price"), a=Avg("n")))
    want([(None, 1), ("a", 1), ("b", 1)],
         list(Job.objects.values_list("kind").annotate(c=Count("n")).order_by("kind")))
    want(True, Job.objects.filter(at__year=2026, at__month=1).exists())
    want(1, Job.objects.filter(at__date="2026-01-02").count())
    want([], list(Job.objects.filter(n__in=Job.objects.filter(kind="nothing").values("n"))))


def refused():
    for kind, body in ((IntegrityError, lambda: Job.objects.create(n=4, payload=None)),
                       (ProgrammingError, lambda: value("SELECT * FROM no_such_table"))):
        try:
            body()
        except kind:
            continue
        raise AssertionError(f"not refused as {kind.__name__}")
    try:
        Job.objects.filter(n=1).update(kind="c")
    except Exception as e:  # noqa: BLE001: Django has no class for it
        want(1178, e.args[0])
    else:
        raise AssertionError("an UPDATE was not refused")


def own():
    want(1, value("SELECT queue_wait(%s, 5)", ["django_jobs:n=2"]))
    want([(2, "b", "x", Decimal("2.00"))], list(Job.objects.values_list("n", "kind", "payload", "price")))
    want(1, value("SELECT queue_end()"))
    want(2, Job.objects.count())


def transactions():
    with transaction.atomic():
        Job.objects.create(n=5, payload="within")
        with transaction.atomic():
            want(True, Job.objects.filter(n=5).exists())
    try:
        with transaction.atomic():
            Job.objects.create(n=6, payload="stays")
            raise KeyError
    except KeyError:
        pass
    want([5, 6], list(Job.objects.filter(n__gte=5).order_by("n").values_list("n", flat=True)))
    want(1, Job.objects.filter(n=6).delete()[0])


def reconnect():
    before = value("SELECT CONNECTION_ID()")
    other = pymysql.connect(host=settings.HOST, port=settings.PORT, user=settings.USER,
                            password=settings.PASSWORD.encode())
    with other.cursor() as cursor:
        cursor.execute(f"KILL {before}")
    other.close()
    connection.close_if_unusable_or_obsolete()
    connection.health_check_done = False
    want(False, value("SELECT CONNECTION_ID()") == before)


for name, body in (("create-table", create), ("show-table", show), ("insert-multi-row", insert), ("select", look_up),
                   ("insert-refused", refused), ("own-row", own), ("transactions", transactions),
                   ("reconnect", reconnect), ("drop-table", lambda: run("DROP TABLE django_jobs"))):
    check(name, body)
connection.close()
sys.exit(failed)
