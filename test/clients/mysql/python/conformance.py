"""Speaks to a running hikyaku with PyMySQL, mysqlclient or mysql-connector-python and prints a line a check: "ok NAME" or
"not ok NAME: why".

    conformance.py pymysql | mysqldb | connector

The checks and the variables that say where the server is: ../README.md.
"""

import datetime
import decimal
import sys
import threading
import traceback

from settings import BYTES, PATIENCE, TEXT, guarded

driver = __import__("driver_" + sys.argv[1])
failed = False


def check(name, body):
    global failed
    try:
        body()
        print("ok", name, flush=True)
    except Exception as e:
        failed = True
        at = traceback.extract_tb(e.__traceback__)[1:2]
        print(f"not ok {name}: {type(e).__name__}: {str(e)[:500]} ({at})".replace("\n", " "), flush=True)


def want(expected, got):
    if got != expected:
        raise AssertionError(f"got {got!r}, wanted {expected!r}"[:500])


def refused(number, state, body, kind=driver.Error):
    """Demands that body raises MySQL's error of that number, and of that SQLSTATE where the driver tells it."""
    try:
        body()
    except driver.Error as e:
        want((number, state), (driver.number(e), driver.state(e, state)))
        if not isinstance(e, kind):
            raise AssertionError(f"{e!r} is not a {kind.__name__}")
        return
    raise AssertionError(f"nothing was raised, wanted error {number} ({state})")


def run(connection, sql, args=None):
    """Runs a statement in the text protocol; returns how many rows it changed."""
    with connection.cursor() as cursor:
        cursor.execute(sql, args)
        return cursor.rowcount


def rows(connection, sql, args=None):
    with connection.cursor() as cursor:
        cursor.execute(sql, args)
        return [tuple(row) for row in cursor.fetchall()]


def value(connection, sql, args=None):
    return rows(connection, sql, args)[0][0]


def ping(options):
    connection = driver.connect(**options)
    want(1, value(connection, "SELECT 1"))
    connection.ping(reconnect=False)
    connection.close()


def wrong_password():
    refused(1045, "28000", lambda: driver.connect(password="not it"))
    refused(1045, "28000", lambda: driver.connect(password=""))
    refused(1045, "28000", lambda: driver.connect(user="nobody"))


check("connect-tcp", lambda: ping({}))
check("connect-socket", lambda: ping(driver.SOCKET))
check("ping", lambda: ping({}))
if guarded():
    check("connect-tls", lambda: want(True, driver.encrypted(driver.connect(**driver.TLS))))
    driver.password_checks(check, ping)
    check("wrong-password", wrong_password)

client = driver.connect()


def create_table():
    run(client, "DROP TABLE IF EXISTS q4m_test")
    run(
        client,
        """CREATE TABLE `q4m_test` (
          `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,
          `payload` text COLLATE utf8mb4_bin NOT NULL,
          `enqueued_at` int(10) unsigned NOT NULL
        ) ENGINE=QUEUE;""",
    )


def show_table():
    want([("q4m_test",)], rows(client, "SHOW TABLES LIKE 'q4m_test'"))
    if "ENGINE=QUEUE" not in rows(client, "SHOW CREATE TABLE q4m_test")[0][1]:
        raise AssertionError("SHOW CREATE TABLE names another engine")
    with client.cursor() as cursor:
        cursor.execute("SELECT * FROM q4m_test")
        cursor.fetchall()
        want(["id", "payload", "enqueued_at"], [d[0] for d in cursor.description])


def insert_multi_row():
    want(2, run(client, "INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (30, 'd', ''), (31, 'e', 'x')"))
    with client.cursor() as cursor:
        cursor.executemany("INSERT INTO q4m_test VALUES (%s, %s, %s)", [("f", "y", 32), ("g", "z", 33)])
        want(2, cursor.rowcount)
    run(client, "DELETE FROM q4m_test WHERE id = 'g'")


def insert_refused():
    refused(
        1048,
        "23000",
        lambda: run(client, "INSERT INTO q4m_test VALUES ('g', 'z', 40), (NULL, 'z', 41)"),
        driver.IntegrityError,
    )
    want(6, value(client, "SELECT COUNT(*) FROM q4m_test"))


def select_unowned():
    want(
        [("a", "first", 10), ("b", TEXT, 20), ("c", TEXT, 21), ("d", "", 30), ("e", "x", 31), ("f", "y", 32)],
        rows(client, "SELECT * FROM q4m_test"),
    )
    want([("f",), ("e",)], rows(client, "SELECT id FROM q4m_test WHERE enqueued_at > %s ORDER BY enqueued_at DESC", (30,)))


def error_codes():
    refused(1146, "42S02", lambda: rows(client, "SELECT * FROM no_such_table"), driver.ProgrammingError)
    refused(1064, "42000", lambda: run(client, "SELEKT 1"), driver.ProgrammingError)
    refused(1050, "42S01", lambda: run(client, "CREATE TABLE q4m_test (id int) ENGINE=QUEUE"))


def abort_outside():
    refused(1210, "HY000", lambda: value(client, "SELECT queue_abort()"))
    want(1, value(client, "SELECT 1"))


check("create-table", create_table)
check("show-table", show_table)
check("insert-text", lambda: want(1, run(client, "INSERT INTO q4m_test VALUES ('a', 'first', 10)")))
check("insert-prepared", lambda: driver.insert_prepared(client, want))
check("insert-multi-row", insert_multi_row)
check("insert-refused", insert_refused)
check("select-unowned", select_unowned)
check("error-codes", error_codes)
check("abort-outside-owner-mode", abort_outside)


def abort():
    want(1, value(client, "SELECT queue_abort()"))
    want(1, value(client, "SELECT queue_wait('q4m_test', 0)"))
    want(1, value(client, "SELECT queue_rowid()"))


def end():
    want(1, value(client, "select queue_end()"))
    want(5, value(client, "SELECT COUNT(*) FROM q4m_test"))


def wait_condition():
    want(1, value(client, "SELECT queue_wait('q4m_test:enqueued_at>=31', 5)"))
    want([("e", "x", 31)], rows(client, "SELECT * FROM q4m_test"))
    want(2, value(client, "SELECT queue_wait('q4m_test:enqueued_at>99', 'q4m_test:enqueued_at<31', 5)"))
    want([("b", TEXT, 20)], rows(client, "SELECT * FROM q4m_test"))
    want(1, value(client, "SELECT queue_end()"))


def wait_with_parameters(rows=rows):
    want([(1,)], rows(client, "SELECT queue_wait(%s, %s)", ("q4m_test:enqueued_at=32", 5)))
    want([("f", "y", 32)], rows(client, "SELECT * FROM q4m_test"))
    want([(1,)], rows(client, "SELECT queue_end()"))


def time_out():
    want(0, value(client, "SELECT queue_wait('q4m_test:enqueued_at>99', 1)"))
    want([], rows(client, "SELECT * FROM q4m_test"))
    want(None, value(client, "SELECT queue_rowid()"))
    want(1, value(client, "SELECT queue_end()"))


def bad_condition():
    want(None, value(client, "SELECT queue_wait('q4m_test:enqueued_at>>', 1)"))
    level, number, message = rows(client, "SHOW WARNINGS")[0]
    want(("Warning", 1210), (level, number))
    if "character" not in message:
        raise AssertionError(f"the warning names no position: {message}")
    want(None, value(client, "SELECT queue_wait('no_such_table', 0)"))


def wake_up():
    got = []
    waiter = threading.Thread(
        daemon=True, target=lambda: got.append(value(driver.connect(), f"SELECT queue_wait('q4m_test:enqueued_at=77', {PATIENCE})"))
    )
    waiter.start()
    run(client, "INSERT INTO q4m_test VALUES ('w', 'wake', 77)")
    waiter.join(2 * PATIENCE)
    want([1], got)


def disconnect():
    other = driver.connect(**driver.SOCKET)
    want(1, value(other, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"))
    want(0, value(client, "SELECT queue_wait('q4m_test:enqueued_at=30', 0)"))
    other.close()
    want(1, value(client, f"SELECT queue_wait('q4m_test:enqueued_at=30', {PATIENCE})"))
    want(1, value(client, "SELECT queue_end()"))


check("wait", lambda: want(1, value(client, "SELECT queue_wait('q4m_test')")))
check("own-row-text", lambda: want([("a", "first", 10)], rows(client, "select * from q4m_test")))
if driver.PREPARES:
    check("own-row-prepared", lambda: want([("a", "first", 10)], driver.prepared(client, "select * from q4m_test")))
check("rowid", lambda: want(1, value(client, "SELECT queue_rowid()")))
check("abort", abort)
check("end", end)
check("wait-condition", wait_condition)
if driver.PREPARES:
    check("wait-prepared", lambda: wait_with_parameters(driver.prepared))
else:
    check("wait-parameters", wait_with_parameters)
check("time-out", time_out)
check("bad-condition", bad_condition)
check("wake-up", wake_up)
check("disconnect", disconnect)

KINDS = (
    -128,
    -2147483648,
    18446744073709551615,
    decimal.Decimal("-1234567890123456.7890"),
    1.5,
    0.1,
    datetime.datetime(2026, 11, 22, 3, 4, 5, 678901),
    datetime.date(2026, 11, 22),
    TEXT,
    BYTES,
    None,
)
INSERT_KINDS = "INSERT INTO kinds VALUES (" + ", ".join(["%s"] * len(KINDS)) + ")"


def types_insert_text():
    run(client, "DROP TABLE IF EXISTS kinds")
    run(
        client,
        """CREATE TABLE kinds (
          t tinyint NOT NULL, i int, u bigint unsigned, d decimal(20,4), f float, g double,
          at datetime(6), day date, s varchar(255) CHARACTER SET utf8mb4, b blob, n int
        ) ENGINE=QUEUE""",
    )
    want(1, run(client, INSERT_KINDS, KINDS))
    if not driver.PREPARES:
        want(1, run(client, INSERT_KINDS, KINDS))


def types_own_row():
    want(1, value(client, "SELECT queue_wait('kinds', 0)"))
    want([KINDS], rows(client, "SELECT * FROM kinds"))
    if driver.PREPARES:
        want([KINDS], driver.prepared(client, "SELECT * FROM kinds"))
    want(1, value(client, "SELECT queue_end()"))


def long_row():
    long = TEXT * 100_000  # 2.5 MB
    run(client, "DROP TABLE IF EXISTS letters")
    run(client, "CREATE TABLE letters (id int, payload longtext) ENGINE=QUEUE")
    run(client, "INSERT INTO letters VALUES (1, %s)", (long,))
    want(1, value(client, "SELECT queue_wait('letters', 0)"))
    if rows(client, "SELECT payload FROM letters") != [(long,)]:
        raise AssertionError("text: another payload came back")
    if driver.PREPARES and driver.prepared(client, "SELECT payload FROM letters") != [(long,)]:
        raise AssertionError("prepared: another payload came back")
    want(1, value(client, "SELECT queue_end()"))


def set_names():
    driver.set_names(client)
    want([(TEXT, "utf8mb4")], rows(client, "SELECT %s, @@character_set_client", (TEXT,)))


def transactions():
    before = value(client, "SELECT COUNT(*) FROM q4m_test")
    driver.autocommit(client, False)
    run(client, "INSERT INTO q4m_test VALUES ('t', 'kept', 60)")
    client.commit()
    run(client, "INSERT INTO q4m_test VALUES ('u', 'kept', 61)")
    client.rollback()
    want(1196, rows(client, "SHOW WARNINGS")[0][1])
    driver.autocommit(client, True)
    want(before + 2, value(client, "SELECT COUNT(*) FROM q4m_test"))


def drop_table():
    run(client, "DROP TABLE q4m_test")
    run(client, "DROP TABLE kinds, letters")
    refused(1146, "42S02", lambda: rows(client, "SELECT * FROM q4m_test"))


check("types-insert-text", types_insert_text)
if driver.PREPARES:
    check("types-insert-prepared", lambda: driver.prepared(client, INSERT_KINDS, KINDS))
check("types-read-text", lambda: want([KINDS, KINDS], rows(client, "SELECT * FROM kinds")))
if driver.PREPARES:
    check("types-read-prepared", lambda: want([KINDS, KINDS], driver.prepared(client, "SELECT * FROM kinds")))
check("types-own-row", types_own_row)
check("long-row", long_row)
check("set-names", set_names)
check("transactions", transactions)
driver.more_checks(check, want, value, client)
check("drop-table", drop_table)
sys.exit(1 if failed else 0)
