# queue_end, queue_abort and queue_rowid, in owner mode and outside of it.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> SELECT queue_end()
  queue_end()
  1
a> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT queue_rowid()
  ERROR 1210 (HY000): queue_rowid: the connection is not in owner mode: queue_wait() comes first
a> INSERT INTO t VALUES (1), (2), (3)
ok, 3 rows
a> SELECT queue_wait('t:v=2', 0)
  queue_wait('t:v=2', 0)
  1
a> SELECT queue_rowid()
  queue_rowid()
  2
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT * FROM t
  v
  1
  2
  3
a> SELECT queue_wait('t:v=2', 0)
  queue_wait('t:v=2', 0)
  1
a> SELECT queue_rowid()
  queue_rowid()
  2
a> SELECT queue_end()
  queue_end()
  1
a> SELECT * FROM t
  v
  1
  3
a> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT queue_end()
  queue_end()
  1
# After a time-out.
a> SELECT queue_wait('t:v=99', 0)
  queue_wait('t:v=99', 0)
  0
a> SELECT queue_rowid()
  queue_rowid()
  NULL
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT queue_wait('t:v=99', 0)
  queue_wait('t:v=99', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
# Ids start at 1 in each table and grow by 1, also over what is gone.
a> CREATE TABLE u (v int) ENGINE=QUEUE
ok
a> INSERT INTO u VALUES (1), (2)
ok, 2 rows
a> SELECT queue_wait('u', 0)
  queue_wait('u', 0)
  1
a> SELECT queue_rowid()
  queue_rowid()
  1
a> SELECT queue_wait('u', 0)
  queue_wait('u', 0)
  1
a> SELECT queue_rowid()
  queue_rowid()
  2
a> SELECT queue_end()
  queue_end()
  1
a> INSERT INTO u VALUES (3)
ok, 1 rows
a> SELECT queue_wait('u', 0)
  queue_wait('u', 0)
  1
a> SELECT queue_rowid()
  queue_rowid()
  3
a> SELECT queue_end()
  queue_end()
  1
# A reader that waits gets what another gives back.
a> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> SELECT * FROM t
  v
  1
b& SELECT queue_wait('t:v=1', 60)
a> SELECT queue_abort()
  queue_abort()
  1
b.
  queue_wait('t:v=1', 60)
  1
b> SELECT queue_rowid()
  queue_rowid()
  1
b> SELECT * FROM t
  v
  1
b> SELECT queue_end()
  queue_end()
  1
# Too many arguments.
a> SELECT queue_end(1)
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_end': it takes 0
a> SELECT queue_abort(1)
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_abort': it takes 0
a> SELECT queue_rowid(1)
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_rowid': it takes 0
# In expressions, and several at once: from left to right.
a> SELECT queue_wait('t', 0) + 0 AS w
  w
  1
a> SELECT queue_rowid() AS id, queue_end() AS e
  id | e
  3 | 1
a> SELECT queue_end() AS e
  e
  1
# KILL QUERY ends a wait, the connection lives.
b& SELECT queue_wait('u', 60)
a> KILL QUERY {b}
ok
b.
  ERROR 1317 (70100): Query execution was interrupted
b> SELECT 1
  1
  1
b> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
# KILL ends the connection; what it owned goes back.
a> INSERT INTO u VALUES (4)
ok, 1 rows
b> SELECT queue_wait('u', 0)
  queue_wait('u', 0)
  1
a> SELECT * FROM u
  v
a> KILL {b}
ok
b x
a> SELECT * FROM u
  v
  4
# DO evaluates and answers nothing.
a> DO queue_wait('u', 0)
ok
a> SELECT * FROM u
  v
  4
a> do queue_end()
ok
a> SELECT COUNT(*) AS n FROM u
  n
  0
a> DO queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT queue_wait('u:nothing =', 0) AS w
  w
  NULL
a> SHOW COUNT(*) WARNINGS
  @@session.warning_count
  1
