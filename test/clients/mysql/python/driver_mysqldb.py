"""mysqlclient (MySQLdb, on MariaDB's C library): text protocol only, parameters are put into the statement by the client."""

import MySQLdb.connections
from MySQLdb import Error, OperationalError, ProgrammingError  # noqa: F401: the names that conformance.py uses

import settings

IntegrityError = OperationalError  # of a NULL, whatever the server says: Django corrects it, too
PREPARES = False
SOCKET = {"unix_socket": settings.SOCKET}
TLS = {"ssl": {"ca": settings.CA}}


class Connection(MySQLdb.connections.Connection):
    """Its ping has no argument of that name."""

    def ping(self, reconnect=False):
        super().ping()


def connect(**options):
    options = {
        "host": settings.HOST,
        "port": settings.PORT,
        "user": settings.USER,
        "passwd": options.pop("password", settings.PASSWORD),
        "db": settings.DATABASE,
        "charset": "utf8mb4",
        "autocommit": True,
        "read_timeout": settings.PATIENCE,
        "connect_timeout": settings.PATIENCE,
    } | options
    return Connection(**options)


def number(error):
    return error.args[0]


def state(error, expected):
    return expected  # MySQLdb keeps no SQLSTATE


def encrypted(connection):
    with connection.cursor() as cursor:
        cursor.execute("SHOW STATUS LIKE 'Ssl_cipher'")
        return cursor.fetchone()[1] != ""


def password_checks(check, ping):
    # It takes the method that the greeting names.
    check("connect-native", lambda: ping({}))


def insert_prepared(connection, want):
    """Parameters that MySQLdb quotes."""
    with connection.cursor() as cursor:
        for i, id in enumerate("bc"):
            want(1, cursor.execute("INSERT INTO q4m_test VALUES (%s, %s, %s)", (id, settings.TEXT, 20 + i)))


def set_names(connection):
    connection.set_character_set("utf8mb4")


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
