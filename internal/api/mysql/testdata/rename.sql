# A renamed table keeps its rows, its ids, its readers and its owners.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1), (2), (3)
ok, 3 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
c& SELECT queue_wait('t:v=9', 60)
a> SELECT queue_set_srcid(1, 'a', 5)
  queue_set_srcid(1, 'a', 5)
  1
a> INSERT INTO t VALUES (4)
ok, 1 rows
a> RENAME TABLE t TO u
ok
a> SHOW TABLES
  Tables_in_test
  u
a> SELECT * FROM t
  ERROR 1146 (42S02): Table 'test.t' doesn't exist
a> SELECT * FROM u
  v
  2
  3
  4
b> SELECT * FROM u
  v
  1
b> SELECT queue_rowid()
  queue_rowid()
  1
a> INSERT INTO u VALUES (9)
ok, 1 rows
c.
  queue_wait('t:v=9', 60)
  1
c> SELECT * FROM u
  v
  9
c> SELECT queue_end()
  queue_end()
  1
a> SELECT queue_set_srcid(1, 'a', 5)
  queue_set_srcid(1, 'a', 5)
  1
a> INSERT INTO u VALUES (5)
ok, 1 rows
b> SELECT queue_end()
  queue_end()
  1
a> SELECT * FROM u
  v
  2
  3
  4
a> ALTER TABLE u RENAME TO w
ok
a> ALTER TABLE w RENAME x
ok
a> SELECT COUNT(*) FROM x
  COUNT(*)
  3
a> CREATE TABLE y (v int) ENGINE=QUEUE
ok
a> RENAME TABLE x TO y
  ERROR 1050 (42S01): Table 'y' already exists
a> RENAME TABLE missing TO z
  ERROR 1146 (42S02): Table 'test.missing' doesn't exist
a> RENAME TABLE x TO z, y TO x
ok
a> SHOW TABLES
  Tables_in_test
  x
  z
a> RENAME TABLE z TO other.z
ok
a> SELECT COUNT(*) FROM other.z
  COUNT(*)
  3
a> SHOW TABLES
  Tables_in_test
  x
a> RENAME TABLE x TO x
ok
a> RENAME TABLE x TO `a b`
  ERROR 1103 (42000): Incorrect table name 'a b': not a name: "default/a b": ' ' is not allowed (letters, digits and - _ . ~ + % $ are)
