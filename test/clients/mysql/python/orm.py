"""Speaks to a running hikyaku with SQLAlchemy (on PyMySQL) and prints a line a check: "ok NAME" or "not ok NAME: why".

The checks and the variables that say where the server is: ../README.md.
"""

import sys
from decimal import Decimal

from sqlalchemy import URL, Column, DateTime, Enum, Integer, MetaData, Table, Text
from sqlalchemy import create_engine, func, inspect, select, text
from sqlalchemy.orm import DeclarativeBase, Session

import settings

url = URL.create("mysql+pymysql", settings.USER, None, settings.HOST, settings.PORT, settings.DATABASE,
                 {"charset": "utf8mb4"})
secret = {"password": settings.PASSWORD.encode()}  # a str PyMySQL would send in latin1
engine = create_engine(url, connect_args=secret, pool_pre_ping=True, pool_size=1, max_overflow=0)
metadata = MetaData()
jobs = Table("orm_jobs", metadata, Column("n", Integer, nullable=False), Column("kind", Enum("a", "b")),
             Column("payload", Text), Column("at", DateTime), mysql_engine="QUEUE")
failed = False


class Base(DeclarativeBase):
    pass


class Job(Base):
    __table__ = jobs
    __mapper_args__ = {"primary_key": [jobs.c.n]}


def check(name, body):
    global failed
    try:
        body()
        print("ok", name)
    except Exception as e:  # noqa: BLE001: whatever goes wrong is told
        failed = True
        print(f"not ok {name}: {' '.join(repr(e).split())[:500]}")


def want(expected, got):
    if got != expected:
        raise AssertionError(f"got {got!r}, wanted {expected!r}")


def create():
    metadata.drop_all(engine)
    metadata.create_all(engine)


def show():
    found = inspect(engine)
    want(True, "orm_jobs" in found.get_table_names())
    columns = {c["name"]: (str(c["type"]), c["nullable"]) for c in found.get_columns("orm_jobs")}
    want({"n": ("INTEGER", False), "kind": ("ENUM", True), "payload": ("TEXT", True), "at": ("DATETIME", True)},
         columns)
    want(["a", "b"], found.get_columns("orm_jobs")[1]["type"].enums)
    want([[], [], [], []], [getattr(found, "get_" + what)("orm_jobs")
                            for what in ("foreign_keys", "indexes", "unique_constraints", "check_constraints")])
    want("QUEUE", found.get_table_options("orm_jobs")["mysql_engine"])
    want([c.name for c in jobs.columns], [c.name for c in Table("orm_jobs", MetaData(), autoload_with=engine).columns])


def insert():
    with engine.begin() as c:
        rows = [{"n": 1, "kind": "a", "payload": settings.TEXT}, {"n": 2, "kind": "b", "payload": "x"}]
        want(2, c.execute(jobs.insert(), rows).rowcount)


def own():
    with engine.begin() as c:
        want(1, c.execute(text("SELECT queue_wait(:t, 5)"), {"t": "orm_jobs:n=1"}).scalar())
        want([(1, "a", settings.TEXT, None)], c.execute(select(jobs)).all())
        want(1, c.execute(text("SELECT queue_end()")).scalar())


def session():
    with Session(engine) as s:
        s.add(Job(n=3, kind="a", payload="orm"))
        s.commit()
        job = s.scalars(select(Job).where(Job.kind == "a")).one()
        want((3, "orm"), (job.n, job.payload))
        want((2, Decimal("2.5000")), s.execute(select(func.count(), func.avg(Job.n)).select_from(Job)).one())
        s.delete(job)
        s.commit()
        want(1, s.scalar(select(func.count()).select_from(Job)))


def pool():
    ids = set()
    for _ in range(3):
        with engine.connect() as c:
            ids.add(c.execute(text("SELECT CONNECTION_ID()")).scalar())
    want(1, len(ids))


for name, body in (("create-table", create), ("show-table", show), ("insert-multi-row", insert), ("own-row", own),
                   ("transactions", session), ("pool", pool), ("drop-table", lambda: metadata.drop_all(engine))):
    check(name, body)
engine.dispose()
sys.exit(failed)
