"""mysql-connector-python by its own code, without MySQL's C library: text and binary protocol."""

import mysql.connector
from mysql.connector.errors import Error, IntegrityError, ProgrammingError  # noqa: F401: the names that conformance.py uses
from mysql.connector.pooling import MySQLConnectionPool

import settings

PREPARES = True
SOCKET = {"unix_socket": settings.SOCKET}
TLS = {"ssl_disabled": False, "ssl_ca": settings.CA, "ssl_verify_cert": True, "ssl_verify_identity": True}


def settled(options):
    return {
        "host": settings.HOST,
        "port": settings.PORT,
        "user": settings.USER,
        "password": settings.PASSWORD,
        "database": settings.DATABASE,
        "charset": "utf8mb4",
        "autocommit": True,
        "connection_timeout": settings.PATIENCE,
        "use_pure": True,
    } | options


def connect(**options):
    return mysql.connector.connect(**settled(options))


def number(error):
    return error.errno


def state(error, expected):
    return error.sqlstate


def encrypted(connection):
    with connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        rows = cursor.fetchall()
    return len(rows) == 1 and rows[0][1] != ""


def password_checks(check, ping):
    # mysql_native_password is no longer in it: it begins with caching_sha2_password whatever the greeting names.
    check("connect-sha2", lambda: ping({"ssl_disabled": True}))
    check("connect-sha2-tls", lambda: ping(TLS))


def prepared(connection, sql, args=()):
    with connection.cursor(prepared=True) as cursor:
        cursor.execute(sql, args)
        return [tuple(row) for row in cursor.fetchall()] if cursor.description else []


def insert_prepared(connection, want):
    with connection.cursor(prepared=True) as cursor:
        for i, id in enumerate("bc"):
            cursor.execute("INSERT INTO q4m_test VALUES (%s, %s, %s)", (id, settings.TEXT, 20 + i))
            want(1, cursor.rowcount)


def set_names(connection):
    connection.set_charset_collation("utf8mb4", "utf8mb4_bin")


def autocommit(connection, on):
    connection.autocommit = on
    if connection.autocommit != on:
        raise AssertionError("the server says otherwise about autocommit")


def more_checks(check, want, value, connection):
    def pool():
        with_pool = MySQLConnectionPool(pool_name="one", pool_size=1, pool_reset_session=True, **settled({}))
        first = with_pool.get_connection()
        with first.cursor() as cursor:
            cursor.execute("SET @mine = 1")
            cursor.execute("INSERT INTO q4m_test VALUES ('p', 'pool', 70)")
        want(1, value(first, "SELECT queue_wait('q4m_test:enqueued_at=70', 0)"))
        first.close()  # back to the pool, which resets the session: the row is free
        again = with_pool.get_connection()
        want(None, value(again, "SELECT @mine"))
        want(1, value(connection, "SELECT queue_wait('q4m_test:enqueued_at=70', 0)"))
        want(1, value(connection, "SELECT queue_end()"))

    def change_user():
        other = connect()
        with other.cursor() as cursor:
            cursor.execute("SET @mine = 1")
        other.cmd_change_user(settings.USER, settings.PASSWORD, settings.DATABASE)
        want(None, value(other, "SELECT @mine"))
        want(settings.DATABASE, value(other, "SELECT DATABASE()"))
        other.close()

    check("pool-reset", pool)
    check("change-user", change_user)
