# Owner mode: it belongs to the connection, covers all databases, and holds also after a time-out.
a> CREATE TABLE t1 (v int) ENGINE=QUEUE
ok
a> CREATE TABLE t2 (v int) ENGINE=QUEUE
ok
a> CREATE DATABASE other
ok
a> CREATE TABLE other.t3 (v int) ENGINE=QUEUE
ok
a> INSERT INTO t1 VALUES (1), (2), (3)
ok, 3 rows
a> INSERT INTO t2 VALUES (10)
ok, 1 rows
a> INSERT INTO other.t3 VALUES (100)
ok, 1 rows
# Outside of it: what nobody owns, in order.
a> SELECT * FROM t1
  v
  1
  2
  3
a> SELECT queue_wait('t1:v=2', 0)
  queue_wait('t1:v=2', 0)
  1
# In it: the row that is ours, and nothing on other tables.
a> SELECT * FROM t1
  v
  2
a> SELECT v FROM t1
  v
  2
a> SELECT * FROM t1 WHERE v > 0
  v
  2
a> SELECT * FROM t1 WHERE v = 3
  v
a> SELECT COUNT(*) FROM t1
  COUNT(*)
  1
a> SELECT COUNT(*) FROM t2
  COUNT(*)
  0
a> SELECT * FROM t2
  v
a> SELECT * FROM other.t3
  v
a> SELECT x.v, y.v FROM t1 x LEFT JOIN t2 y ON true
  v | v
  2 | NULL
# Others see the rest.
b> SELECT * FROM t1
  v
  1
  3
b> SELECT * FROM t2
  v
  10
# INSERT works in it; what was put is not ours to see.
a> INSERT INTO t1 VALUES (4)
ok, 1 rows
a> INSERT INTO t2 VALUES (11)
ok, 1 rows
a> SELECT * FROM t1
  v
  2
a> SELECT * FROM t2
  v
b> SELECT * FROM t1
  v
  1
  3
  4
b> SELECT * FROM t2
  v
  10
  11
# A wait in it ends the row; also one that brings none. Then nothing is seen at all.
a> SELECT queue_wait('t2:v=12', 0)
  queue_wait('t2:v=12', 0)
  0
a> SELECT * FROM t1
  v
a> SELECT * FROM t2
  v
a> SELECT COUNT(*) FROM other.t3
  COUNT(*)
  0
b> SELECT * FROM t1
  v
  1
  3
  4
a> SELECT queue_rowid()
  queue_rowid()
  NULL
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT * FROM t1
  v
  1
  3
  4
# A row of another database.
a> SELECT queue_wait('other.t3', 0)
  queue_wait('other.t3', 0)
  1
a> SELECT * FROM other.t3
  v
  100
a> SELECT * FROM t1
  v
a> USE other
ok
a> SELECT * FROM t3
  v
  100
a> SELECT queue_wait('t3', 0)
  queue_wait('t3', 0)
  0
a> SELECT queue_wait('test.t1', 0)
  queue_wait('test.t1', 0)
  1
a> SELECT * FROM test.t1
  v
  1
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT * FROM test.t1
  v
  1
  3
  4
# Two owners of one table.
a> SELECT queue_wait('test.t1', 0)
  queue_wait('test.t1', 0)
  1
b> SELECT queue_wait('t1', 0)
  queue_wait('t1', 0)
  1
a> SELECT * FROM test.t1
  v
  1
b> SELECT * FROM t1
  v
  3
c> SELECT * FROM t1
  v
  4
a> SELECT queue_end()
  queue_end()
  1
b> SELECT queue_end()
  queue_end()
  1
# A connection that is lost gives its row back, in its old place.
c> SELECT queue_wait('t1', 0)
  queue_wait('t1', 0)
  1
c> SELECT * FROM t1
  v
  4
c> SELECT queue_abort()
  queue_abort()
  1
c> INSERT INTO t1 VALUES (5)
ok, 1 rows
c> SELECT queue_wait('t1:v=4', 0)
  queue_wait('t1:v=4', 0)
  1
b> SELECT * FROM t1
  v
  5
c x
b> SELECT * FROM t1
  v
  4
  5
b> SELECT queue_wait('t1', 0)
  queue_wait('t1', 0)
  1
b> SELECT queue_rowid()
  queue_rowid()
  4
b> SELECT queue_end()
  queue_end()
  1
