# Rows are put and taken, never changed.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1)
ok, 1 rows
a> UPDATE t SET v = 2
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> UPDATE t SET v = 2 WHERE v = 1
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> UPDATE t SET v = 2 WHERE v = 99
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> UPDATE t SET v = 2 LIMIT 1
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> UPDATE t x JOIN t y ON x.v = y.v SET x.v = 2
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> REPLACE INTO t VALUES (2)
  ERROR 1178 (42000): The storage engine QUEUE does not support REPLACE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE v = 2
ok, 1 rows
a> INSERT IGNORE INTO t VALUES ('x'), (5)
ok, 2 rows
a> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> UPDATE t SET v = 3
  ERROR 1178 (42000): The storage engine QUEUE does not support UPDATE: rows are put and taken, never changed (take the row with queue_wait(), INSERT it anew, then queue_end())
a> SELECT * FROM t
  v
  1
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT * FROM t
  v
  1
  1
  0
  5
a> SELECT * INTO OUTFILE '/tmp/x' FROM t
  ERROR 1290 (HY000): This server writes no files: SELECT … INTO OUTFILE is not supported (the client can write what it gets)
a> SELECT LOAD_FILE('/etc/passwd')
  LOAD_FILE('/etc/passwd')
  NULL
