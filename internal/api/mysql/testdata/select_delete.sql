# SELECT and DELETE, outside of owner mode and in it.
a> CREATE TABLE t (id int NOT NULL, kind varchar(10), n decimal(6,2)) ENGINE=QUEUE
ok
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
a> INSERT INTO t VALUES (5, 'a', 1.5), (3, 'b', 2), (4, 'a', NULL), (1, 'c', -1), (2, NULL, 0)
ok, 5 rows
a> SELECT * FROM t
  id | kind | n
  5 | a | 1.50
  3 | b | 2.00
  4 | a | NULL
  1 | c | -1.00
  2 | NULL | 0.00
a> SELECT id FROM t WHERE kind = 'a'
  id
  5
  4
a> SELECT id FROM t WHERE kind IS NULL OR n < 0
  id
  1
  2
a> SELECT id FROM t ORDER BY id
  id
  1
  2
  3
  4
  5
a> SELECT id FROM t ORDER BY kind DESC, id LIMIT 2
  id
  1
  3
a> SELECT id FROM t LIMIT 2
  id
  5
  3
a> SELECT id FROM t LIMIT 2 OFFSET 3
  id
  1
  2
a> SELECT kind, COUNT(*), SUM(n) FROM t GROUP BY kind ORDER BY kind
  kind | COUNT(*) | SUM(n)
  NULL | 1 | 0.00
  a | 2 | 1.50
  b | 1 | 2.00
  c | 1 | -1.00
a> SELECT kind, COUNT(*) FROM t GROUP BY kind HAVING COUNT(*) > 1
  kind | COUNT(*)
  a | 2
a> SELECT DISTINCT kind FROM t ORDER BY kind
  kind
  NULL
  a
  b
  c
a> SELECT COUNT(*), COUNT(kind), MIN(id), MAX(id), AVG(id) FROM t
  COUNT(*) | COUNT(kind) | MIN(id) | MAX(id) | AVG(id)
  5 | 4 | 1 | 5 | 3.0000
a> SELECT COUNT(*) FROM t WHERE kind = 'a'
  COUNT(*)
  2
a> SELECT x.id, y.id FROM t x JOIN t y ON x.id = y.id + 1 ORDER BY x.id
  id | id
  2 | 1
  3 | 2
  4 | 3
  5 | 4
a> SELECT id FROM t WHERE id IN (SELECT MAX(id) FROM t)
  id
  5
a> SELECT id FROM (SELECT id FROM t ORDER BY id LIMIT 3) AS few ORDER BY id DESC
  id
  3
  2
  1
a> SELECT id FROM t UNION SELECT 9 ORDER BY id
  id
  1
  2
  3
  4
  5
  9
a> SELECT EXISTS(SELECT 1 FROM t WHERE id = 9)
  EXISTS(SELECT 1 FROM t WHERE id = 9)
  0
a> SELECT id, UPPER(kind), n * 2 FROM t WHERE id BETWEEN 2 AND 4
  id | UPPER(kind) | n * 2
  3 | B | 4.00
  4 | A | NULL
  2 | NULL | 0.00
a> SELECT t.id, test.t.kind FROM test.t WHERE t.id = 1
  id | kind
  1 | c
a> SELECT nothing FROM t
  ERROR 1054 (42S22): Unknown column 'nothing' in 'statement'
a> SELECT * FROM missing
  ERROR 1146 (42S02): Table 'test.missing' doesn't exist
a> SELECT id FROM t WHERE nothing = 1
  ERROR 1054 (42S22): Unknown column 'nothing' in 'statement'
a> SELECT id, COUNT(*) FROM t
  ERROR 1140 (42000): in aggregated query without GROUP BY, expression #1 of SELECT list contains nonaggregated column 't.id'; this is incompatible with sql_mode=only_full_group_by
a> SELECT id FROM t FOR UPDATE
  id
  5
  3
  4
  1
  2
# What is owned is counted by nobody else.
b> SELECT queue_wait('t:kind=\'a\'', 0)
  queue_wait('t:kind=\'a\'', 0)
  1
a> SELECT COUNT(*) FROM t
  COUNT(*)
  4
a> SELECT id FROM t
  id
  3
  4
  1
  2
b> SELECT COUNT(*) FROM t
  COUNT(*)
  1
b> SELECT id FROM t WHERE id > 100
  id
b> SELECT id FROM t ORDER BY id LIMIT 10
  id
  5
b> SELECT MAX(id) FROM t
  MAX(id)
  5
# DELETE leaves what is owned.
a> DELETE FROM t WHERE kind = 'a'
ok, 1 rows
a> SELECT id FROM t
  id
  3
  1
  2
a> DELETE FROM t WHERE id = 5
ok, 0 rows
a> DELETE FROM t ORDER BY id LIMIT 1
ok, 1 rows
a> SELECT id FROM t
  id
  3
  2
a> DELETE FROM t LIMIT 1
ok, 1 rows
a> SELECT id FROM t
  id
  2
a> DELETE FROM t WHERE id = 99
ok, 0 rows
a> DELETE FROM t
ok, 1 rows
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
b> SELECT id FROM t
  id
  5
# In owner mode it removes what is owned; then there is nothing to see, and abort and end just leave the mode.
a> INSERT INTO t VALUES (10, 'x', 1), (11, 'y', 2)
ok, 2 rows
b> DELETE FROM t WHERE id = 10
ok, 0 rows
b> SELECT id FROM t
  id
  5
b> DELETE FROM t WHERE id = 5
ok, 1 rows
b> SELECT id FROM t
  id
b> SELECT queue_rowid()
  queue_rowid()
  NULL
b> SELECT queue_abort()
  queue_abort()
  1
b> SELECT queue_abort()
  ERROR 1210 (HY000): queue_abort: the connection is not in owner mode: queue_wait() comes first
a> SELECT id FROM t
  id
  10
  11
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
b> DELETE FROM t
ok, 1 rows
b> SELECT COUNT(*) FROM t
  COUNT(*)
  0
b> SELECT queue_end()
  queue_end()
  1
b> SELECT id FROM t
  id
  11
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
b> DELETE FROM t LIMIT 5
ok, 1 rows
b> DELETE FROM t
ok, 0 rows
b> SELECT queue_end()
  queue_end()
  1
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
# After a time-out it removes nothing.
a> INSERT INTO t VALUES (12, 'z', 3)
ok, 1 rows
b> SELECT queue_wait('t:id=0', 0)
  queue_wait('t:id=0', 0)
  0
b> DELETE FROM t
ok, 0 rows
b> SELECT queue_end()
  queue_end()
  1
b> SELECT id FROM t
  id
  12
# Forms over several tables, and a subquery.
a> CREATE TABLE u (id int) ENGINE=QUEUE
ok
a> INSERT INTO u VALUES (12), (13)
ok, 2 rows
a> DELETE FROM u WHERE id IN (SELECT id FROM t)
ok, 1 rows
a> SELECT id FROM u
  id
  13
a> INSERT INTO u VALUES (12)
ok, 1 rows
a> DELETE u FROM u JOIN t ON u.id = t.id
  ERROR 1235 (42000): this DELETE cannot tell the rows of 'u' apart: write it with WHERE, ORDER BY and LIMIT on that table alone
a> DELETE FROM missing
  ERROR 1146 (42S02): Table 'test.missing' doesn't exist
a> DELETE FROM t WHERE nothing = 1
  ERROR 1054 (42S22): Unknown column 'nothing' in 'statement'
# A reader that waits is not disturbed by a DELETE of others.
b& SELECT queue_wait('t:id=50', 60)
a> DELETE FROM t
ok, 1 rows
a> INSERT INTO t VALUES (50, NULL, NULL)
ok, 1 rows
b.
  queue_wait('t:id=50', 60)
  1
b> DELETE FROM test.t WHERE id = 50
ok, 1 rows
b> SELECT queue_end()
  queue_end()
  1
a> INSERT INTO t SELECT id, 'copy', id FROM u
ok, 2 rows
a> SELECT * FROM t
  id | kind | n
  13 | copy | 13.00
  12 | copy | 12.00
