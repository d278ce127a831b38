# queue_wait: which tables, in which order, how long, and what cannot be understood.
a> CREATE TABLE t1 (v int) ENGINE=QUEUE
ok
a> CREATE TABLE t2 (v int, prio int) ENGINE=QUEUE
ok
a> SELECT queue_wait()
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_wait'
# Nothing comes: 0, in owner mode all the same.
a> SELECT queue_wait('t1', 0)
  queue_wait('t1', 0)
  0
a> SELECT * FROM t1
  v
a> SELECT queue_end()
  queue_end()
  1
# Tables come first to last, strictly.
b> INSERT INTO t2 VALUES (20, 0)
ok, 1 rows
b> INSERT INTO t1 VALUES (10)
ok, 1 rows
a> SELECT queue_wait('t1', 't2', 0)
  queue_wait('t1', 't2', 0)
  1
a> SELECT queue_wait('t1', 't2', 0)
  queue_wait('t1', 't2', 0)
  2
a> SELECT queue_wait('t1', 't2', 0)
  queue_wait('t1', 't2', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
b> SELECT COUNT(*) FROM t1
  COUNT(*)
  0
b> SELECT COUNT(*) FROM t2
  COUNT(*)
  0
# The same table twice; the row owned before is ended first.
b> INSERT INTO t2 VALUES (1, 1), (2, 0), (3, 1)
ok, 3 rows
a> SELECT queue_wait('t2:prio=0', 't2:prio=1', 0)
  queue_wait('t2:prio=0', 't2:prio=1', 0)
  1
a> SELECT v FROM t2
  v
  2
a> SELECT queue_wait('t2:prio=0', 't2:prio=1', 0)
  queue_wait('t2:prio=0', 't2:prio=1', 0)
  2
a> SELECT v FROM t2
  v
  1
a> SELECT queue_wait('t2:prio=0', 't2:prio=1', 0)
  queue_wait('t2:prio=0', 't2:prio=1', 0)
  2
a> SELECT v FROM t2
  v
  3
a> SELECT queue_wait('t2:prio=0', 't2:prio=1', 0)
  queue_wait('t2:prio=0', 't2:prio=1', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
# A whole insert is considered at once: of 1, 0, 1 the waiter gets the 0.
a& SELECT queue_wait('t2:prio=0', 't2:prio=1', 60)
b> INSERT INTO t2 VALUES (4, 1), (5, 0), (6, 1)
ok, 3 rows
a.
  queue_wait('t2:prio=0', 't2:prio=1', 60)
  1
a> SELECT * FROM t2
  v | prio
  5 | 0
a> SELECT queue_end()
  queue_end()
  1
b> SELECT v FROM t2
  v
  4
  6
b> DELETE FROM t2
ok, 2 rows
# With two arguments and more the last is the time-out, as a number: 't2' is 0 seconds.
a> SELECT queue_wait('t1', 't2')
  queue_wait('t1', 't2')
  0
a> SELECT queue_wait('t1', '0')
  queue_wait('t1', '0')
  0
a> SELECT queue_wait('t1', '0.9')
  queue_wait('t1', '0.9')
  0
a> SELECT queue_wait('t1', -5)
  queue_wait('t1', -5)
  0
a> SELECT queue_wait('t1', NULL)
  queue_wait('t1', NULL)
  0
a> SELECT queue_wait('t1', 'abc')
  queue_wait('t1', 'abc')
  0
a> SELECT queue_wait('t1', 0.4)
  queue_wait('t1', 0.4)
  0
a> SELECT queue_wait('t1', 1e-3)
  queue_wait('t1', 1e-3)
  0
a> SELECT queue_end()
  queue_end()
  1
# With one argument it waits for a minute.
a& SELECT queue_wait('t1')
b> INSERT INTO t1 VALUES (11)
ok, 1 rows
a.
  queue_wait('t1')
  1
a> SELECT queue_end()
  queue_end()
  1
# A database before the table, or none selected.
b> INSERT INTO t1 VALUES (12), (13)
ok, 2 rows
a> SELECT queue_wait('test.t1', 0)
  queue_wait('test.t1', 0)
  1
a> SELECT queue_wait('test.t1:v=13', 0)
  queue_wait('test.t1:v=13', 0)
  1
a> SELECT queue_wait('`test`.`t1`', 0)
  queue_wait('`test`.`t1`', 0)
  NULL
a> SELECT queue_end()
  queue_end()
  1
a> SELECT queue_wait('other.t1', 0)
  queue_wait('other.t1', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: table 't1' does not exist
# What cannot be understood is NULL, ends what was owned, and leaves owner mode; the warning says why and where.
b> INSERT INTO t1 VALUES (14), (15)
ok, 2 rows
a> SELECT queue_wait('t1', 0)
  queue_wait('t1', 0)
  1
a> SELECT queue_wait('missing', 0)
  queue_wait('missing', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: table 'missing' does not exist
a> SELECT * FROM t1
  v
  15
a> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT queue_wait('t1:v >', 0)
  queue_wait('t1:v >', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: condition of 't1': at character 4: condition, line 1, column 4: the condition ends where a name or a value is wanted
a> SELECT queue_wait('t1:nothing = 1', 0)
  queue_wait('t1:nothing = 1', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: condition of 't1': at character 1: condition, line 1, column 1: unknown name "nothing"
a> SELECT queue_wait('t1', 't1:v = = 1', 0)
  queue_wait('t1', 't1:v = = 1', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 2: condition of 't1': at character 5: condition, line 1, column 5: unexpected =: a name or a value is wanted here
a> SELECT queue_wait('t1:', 0)
  queue_wait('t1:', 0)
  1
a> SHOW WARNINGS
  Level | Code | Message
a> SELECT queue_wait('', 0)
  queue_wait('', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: the table's name is missing
a> SELECT queue_wait(NULL)
  queue_wait(NULL)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1 is NULL: it has to be 'table' or 'table:condition'
a> SELECT queue_wait(NULL, 0)
  queue_wait(NULL, 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1 is NULL: it has to be 'table' or 'table:condition'
a> SELECT queue_wait(123, 0)
  queue_wait(123, 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: table '123' does not exist
a> SELECT queue_rowid()
  ERROR 1210 (HY000): queue_rowid: the connection is not in owner mode: queue_wait() comes first
a> SELECT 1
  1
  1
a> SHOW WARNINGS
  Level | Code | Message
# The label, an alias, other spellings.
a> SELECT queue_wait('t1', 0) AS got
  got
  0
a> select QUEUE_WAIT( 't1' , 0 )
  QUEUE_WAIT( 't1' , 0 )
  0
a> SELECT Queue_End ( )
  Queue_End ( )
  1
a> SELECT queue_wait('t1', 0), 1
  queue_wait('t1', 0) | 1
  0 | 1
a> SELECT queue_wait('T1', 0)
  queue_wait('T1', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
# In a WHERE, and anywhere else where it would be asked for each row, it is an error.
a> SELECT * FROM t1 WHERE queue_wait('t1')
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT * FROM t1 WHERE v = 1 OR queue_wait('t1', 0) = 1
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> DELETE FROM t1 WHERE queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT v FROM t1 HAVING queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT v FROM t1 ORDER BY queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT queue_wait('t1', 0) FROM t1
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT (SELECT queue_wait('t1', 0))
  (SELECT queue_wait('t1', 0))
  0
a> SET @got = queue_wait('t1', 0)
ok
a> SELECT @got
  @got
  0
a> INSERT INTO t1 SELECT queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> UPDATE t1 SET v = queue_wait('t1', 0)
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> SELECT COUNT(*) FROM t1 GROUP BY queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT 1 FROM t1 JOIN t2 ON queue_wait('t1', 0)
  ERROR 1210 (HY000): queue_wait() has to stand alone, in SELECT queue_wait(…): beside a table or in a condition it would be evaluated for each row
a> SELECT queue_wait('t1', 0) FROM dual
  queue_wait('t1', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
# Many tables, and more than the short path takes.
a> SELECT queue_wait('t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1','t1', 0) AS many
  many
  0
a> SELECT queue_end()
  queue_end()
  1
