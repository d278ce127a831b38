# TRUNCATE takes also what is owned; DROP ends who waits.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1), (2), (3)
ok, 3 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
b> SELECT * FROM t
  v
  1
a> TRUNCATE TABLE t
ok, 0 rows
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
# The owner sees nothing until it ends or aborts, and abort revives nothing.
b> SELECT * FROM t
  v
b> SELECT queue_abort()
  queue_abort()
  1
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
a> INSERT INTO t VALUES (4)
ok, 1 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> TRUNCATE t
ok, 0 rows
b> SELECT queue_end()
  queue_end()
  1
b> SHOW WARNINGS
  Level | Code | Message
  Warning | 1205 | the row was no longer owned: its lease had ended, or its table was emptied, dropped or sought
# Ids go on.
a> INSERT INTO t VALUES (5)
ok, 1 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
b> SELECT queue_rowid()
  queue_rowid()
  5
# In owner mode TRUNCATE empties the table all the same.
a> INSERT INTO t VALUES (6)
ok, 1 rows
b> TRUNCATE TABLE t
ok, 0 rows
b> SELECT queue_end()
  queue_end()
  1
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
# A reader that waits goes on waiting.
b& SELECT queue_wait('t', 60)
a> TRUNCATE TABLE t
ok, 0 rows
a> INSERT INTO t VALUES (7)
ok, 1 rows
b.
  queue_wait('t', 60)
  1
b> SELECT * FROM t
  v
  7
b> SELECT queue_end()
  queue_end()
  1
# DROP: who waits gets NULL at once; who owns a row of it has nothing.
b& SELECT queue_wait('t', 60)
a> DROP TABLE t
ok
b.
  queue_wait('t', 60)
  NULL
b> SHOW WARNINGS
  Level | Code | Message
  Warning | 1146 | no such queue or topic: the queue was deleted
b> SELECT queue_rowid()
  ERROR 1210 (HY000): queue_rowid: the connection is not in owner mode: queue_wait() comes first
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1), (2)
ok, 2 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> DROP TABLE t
ok
b> SELECT queue_rowid()
  queue_rowid()
  1
b> SELECT * FROM t
  ERROR 1146 (42S02): Table 'test.t' doesn't exist
b> SELECT queue_abort()
  queue_abort()
  1
a> CREATE TABLE t (w varchar(5)) ENGINE=QUEUE
ok
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  0
b> SELECT * FROM t
  w
b> SELECT queue_abort()
  queue_abort()
  1
# Waiting on two tables, one of which goes.
a> CREATE TABLE u (v int) ENGINE=QUEUE
ok
b& SELECT queue_wait('u', 't', 60)
a> DROP TABLE u
ok
b.
  queue_wait('u', 't', 60)
  NULL
# What is not there.
a> DROP TABLE u
  ERROR 1051 (42S02): Unknown table 'test.u'
a> DROP TABLE IF EXISTS u
ok
a> SHOW WARNINGS
  Level | Code | Message
  Note | 1051 | Unknown table 'test.u'
a> TRUNCATE TABLE u
  ERROR 1146 (42S02): Table 'test.u' doesn't exist
a> CREATE TABLE u (v int) ENGINE=QUEUE
ok
a> DROP TABLE t, u
ok
a> SHOW TABLES
  Tables_in_test
