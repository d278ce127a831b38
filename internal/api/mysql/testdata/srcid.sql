# queue_set_srcid: rows of a source are taken once.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> CREATE TABLE u (v int) ENGINE=QUEUE
ok
a> SELECT queue_set_srcid(1, 'a', 10)
  queue_set_srcid(1, 'a', 10)
  1
a> INSERT INTO t VALUES (1)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 10)
  queue_set_srcid(1, 'a', 10)
  1
a> INSERT INTO t VALUES (2)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 9)
  queue_set_srcid(1, 'a', 9)
  1
a> INSERT INTO t VALUES (3)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 11)
  queue_set_srcid(1, 'a', 11)
  1
a> INSERT INTO t VALUES (4), (5)
ok, 2 rows
a> SELECT v FROM t
  v
  1
  4
  5
# It holds for one insert.
a> INSERT INTO t VALUES (6)
ok, 1 rows
a> SELECT v FROM t
  v
  1
  4
  5
  6
# For each source and each table of its own, and for all connections.
a> SELECT queue_set_srcid(2, 'a', 5)
  queue_set_srcid(2, 'a', 5)
  1
a> INSERT INTO t VALUES (7)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 11)
  queue_set_srcid(1, 'a', 11)
  1
a> INSERT INTO u VALUES (1)
ok, 1 rows
b> SELECT queue_set_srcid(1, 'a', 11)
  queue_set_srcid(1, 'a', 11)
  1
b> INSERT INTO t VALUES (8)
ok, 1 rows
b> SELECT queue_set_srcid(1, 'a', 11)
  queue_set_srcid(1, 'a', 11)
  1
b> INSERT INTO u VALUES (2)
ok, 1 rows
a> SELECT v FROM t
  v
  1
  4
  5
  6
  7
a> SELECT v FROM u
  v
  1
# 'w' puts in any case and sets the mark, even lower.
a> SELECT queue_set_srcid(1, 'w', 3)
  queue_set_srcid(1, 'w', 3)
  1
a> INSERT INTO t VALUES (9)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 3)
  queue_set_srcid(1, 'a', 3)
  1
a> INSERT INTO t VALUES (10)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 4)
  queue_set_srcid(1, 'a', 4)
  1
a> INSERT INTO t VALUES (11)
ok, 1 rows
a> SELECT v FROM t
  v
  1
  4
  5
  6
  7
  9
  11
# 0 switches it off.
a> SELECT queue_set_srcid(1, 'a', 1)
  queue_set_srcid(1, 'a', 1)
  1
a> SELECT queue_set_srcid(1, 'a', 0)
  queue_set_srcid(1, 'a', 0)
  1
a> INSERT INTO t VALUES (12)
ok, 1 rows
a> SELECT v FROM t WHERE v = 12
  v
  12
# Sources and modes that are none; numbers are coerced.
a> SELECT queue_set_srcid(63, 'a', 1), queue_set_srcid(0, 'w', 1)
  queue_set_srcid(63, 'a', 1) | queue_set_srcid(0, 'w', 1)
  1 | 1
a> SELECT queue_set_srcid(0, 'a', 0)
  queue_set_srcid(0, 'a', 0)
  1
a> SELECT queue_set_srcid(64, 'a', 1)
  queue_set_srcid(64, 'a', 1)
  NULL
a> SELECT queue_set_srcid(-1, 'a', 1)
  queue_set_srcid(-1, 'a', 1)
  NULL
a> SELECT queue_set_srcid(1, 'x', 1)
  queue_set_srcid(1, 'x', 1)
  NULL
a> SELECT queue_set_srcid(1, 'A', 1)
  queue_set_srcid(1, 'A', 1)
  NULL
a> SELECT queue_set_srcid(1, '', 1)
  queue_set_srcid(1, '', 1)
  NULL
a> SELECT queue_set_srcid(1, NULL, 1)
  queue_set_srcid(1, NULL, 1)
  NULL
a> SELECT queue_set_srcid(NULL, 'a', 1)
  queue_set_srcid(NULL, 'a', 1)
  NULL
a> SELECT queue_set_srcid(1, 'a', NULL)
  queue_set_srcid(1, 'a', NULL)
  1
a> SELECT queue_set_srcid('3', 'a', '7')
  queue_set_srcid('3', 'a', '7')
  1
a> INSERT INTO u VALUES (3)
ok, 1 rows
a> SELECT queue_set_srcid(3, 'a', 7)
  queue_set_srcid(3, 'a', 7)
  1
a> INSERT INTO u VALUES (4)
ok, 1 rows
a> SELECT queue_set_srcid('4x', 'a', '8.9')
  queue_set_srcid('4x', 'a', '8.9')
  1
a> INSERT INTO u VALUES (5)
ok, 1 rows
a> SELECT queue_set_srcid(4, 'a', 8)
  queue_set_srcid(4, 'a', 8)
  1
a> INSERT INTO u VALUES (6)
ok, 1 rows
a> SELECT v FROM u
  v
  1
  3
  5
a> SELECT queue_set_srcid(1, 'a')
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_set_srcid': it takes 3
a> SELECT queue_set_srcid()
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_set_srcid': it takes 3
a> SELECT queue_set_srcid(1, 'a', 18446744073709551615)
  queue_set_srcid(1, 'a', 18446744073709551615)
  1
a> INSERT INTO u VALUES (7)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 9223372036854775807)
  queue_set_srcid(1, 'a', 9223372036854775807)
  1
a> INSERT INTO u VALUES (8)
ok, 1 rows
a> SELECT queue_set_srcid(1, 'a', 99999999999999999999)
  queue_set_srcid(1, 'a', 99999999999999999999)
  1
a> INSERT INTO u VALUES (9)
ok, 1 rows
a> SELECT v FROM u
  v
  1
  3
  5
  7
# A dropped table takes its marks along; a truncated one keeps them.
a> TRUNCATE TABLE u
ok, 0 rows
a> SELECT queue_set_srcid(3, 'a', 7)
  queue_set_srcid(3, 'a', 7)
  1
a> INSERT INTO u VALUES (10)
ok, 1 rows
a> SELECT v FROM u
  v
a> DROP TABLE u
ok
a> CREATE TABLE u (v int) ENGINE=QUEUE
ok
a> SELECT queue_set_srcid(3, 'a', 7)
  queue_set_srcid(3, 'a', 7)
  1
a> INSERT INTO u VALUES (11)
ok, 1 rows
a> SELECT v FROM u
  v
  11
# In owner mode it is the same.
a> SELECT queue_wait('u', 0)
  queue_wait('u', 0)
  1
a> SELECT queue_set_srcid(3, 'a', 8)
  queue_set_srcid(3, 'a', 8)
  1
a> INSERT INTO u VALUES (12)
ok, 1 rows
a> SELECT queue_set_srcid(3, 'a', 8)
  queue_set_srcid(3, 'a', 8)
  1
a> INSERT INTO u VALUES (13)
ok, 1 rows
a> SELECT queue_end()
  queue_end()
  1
a> SELECT v FROM u
  v
  12
# An insert that fails takes nothing; what was said is for the next one.
a> SELECT queue_set_srcid(5, 'a', 1)
  queue_set_srcid(5, 'a', 1)
  1
a> INSERT INTO u VALUES ('x')
  ERROR 1366 (HY000): error: 'x' is not a valid value for 'int'
a> INSERT INTO u VALUES (14)
ok, 1 rows
a> SELECT queue_set_srcid(5, 'a', 1)
  queue_set_srcid(5, 'a', 1)
  1
a> INSERT INTO u VALUES (15)
ok, 1 rows
a> SELECT v FROM u
  v
  12
  14
