# CREATE TABLE: what a queue can be, and what it cannot.
a> CREATE TABLE t1 (v int) ENGINE=QUEUE
ok
a> CREATE TABLE t2 (v int) engine = queue DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_bin
ok
a> CREATE TABLE t3 (v int)
ok
a> CREATE TABLE t4 (v int) ENGINE=InnoDB
  ERROR 1286 (42000): Unknown storage engine 'InnoDB': tables here are queues, so 't4' needs ENGINE=QUEUE (or no ENGINE at all)
a> CREATE TABLE t4 (v int) ENGINE=MyISAM
  ERROR 1286 (42000): Unknown storage engine 'MyISAM': tables here are queues, so 't4' needs ENGINE=QUEUE (or no ENGINE at all)
a> CREATE TABLE t4 (v int) DEFAULT CHARSET=utf8mb4 ENGINE=QUEUE COMMENT='a table'
ok
a> SHOW CREATE TABLE t4
  Table | Create Table
  t4 | CREATE TABLE `t4` (\n  `v` int\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_ai_ci COMMENT='a table'
a> CREATE TABLE t1 (v int) ENGINE=QUEUE
  ERROR 1050 (42S01): Table 't1' already exists
a> CREATE TABLE IF NOT EXISTS t1 (w int) ENGINE=QUEUE
ok
a> SHOW WARNINGS
  Level | Code | Message
  Note | 1050 | Table 't1' already exists
a> CREATE TABLE t5 (v int PRIMARY KEY) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, PRIMARY KEY (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int UNIQUE) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, UNIQUE KEY k (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, INDEX k (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, KEY (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v text, FULLTEXT KEY k (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int AUTO_INCREMENT) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE can't number rows: column 'v' is AUTO_INCREMENT (queue_rowid() numbers the rows of 't5', from 1)
a> CREATE TABLE t5 (v int NOT NULL AUTO_INCREMENT PRIMARY KEY) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int) ENGINE=QUEUE AUTO_INCREMENT=5
  ERROR 1178 (42000): The storage engine QUEUE can't number rows by AUTO_INCREMENT (queue_rowid() numbers the rows of 't5', from 1)
a> CREATE TABLE t5 (v int, FOREIGN KEY (v) REFERENCES t1 (v)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int CHECK (v > 0)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, CONSTRAINT c CHECK (v > 0)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't5' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> CREATE TABLE t5 (v int, w int GENERATED ALWAYS AS (v + 1)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no generated columns: 'w' (give the value in the INSERT)
a> CREATE TABLE t5 (v int DEFAULT (1 + 1)) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE takes constants as defaults only: column 'v' has DEFAULT ((1 + 1)) (give the value in the INSERT)
a> CREATE TABLE t5now (v timestamp DEFAULT CURRENT_TIMESTAMP) ENGINE=QUEUE
ok
a> CREATE TABLE t5up (v timestamp DEFAULT '2020-01-01' ON UPDATE CURRENT_TIMESTAMP) ENGINE=QUEUE
ok
a> CREATE TABLE t5 (v geometry) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE can't keep column 'v' of type geometry: column definition "`v` geometry", character 5: there is no type "geometry"
a> CREATE TABLE t5 (v json) ENGINE=QUEUE
ok
a> CREATE TABLE t6 (v int, v int) ENGINE=QUEUE
  ERROR 1060 (42S21): duplicate column name: `v`
a> CREATE TABLE t6 () ENGINE=QUEUE
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 19 near 't6'
a> CREATE TABLE t6 (v int) ENGINE=QUEUE PARTITION BY HASH(v) PARTITIONS 4
  ERROR 1178 (42000): The storage engine QUEUE has no partitions: leave them out of 't6' (its rows are one line, the oldest first)
a> CREATE TEMPORARY TABLE t6 (v int) ENGINE=QUEUE
  ERROR 1178 (42000): The storage engine QUEUE has no temporary tables: 't6' would be one
a> CREATE TABLE `a b` (v int) ENGINE=QUEUE
  ERROR 1103 (42000): Incorrect table name 'a b': not a name: "default/a b": ' ' is not allowed (letters, digits and - _ . ~ + % $ are)
a> CREATE TABLE t6 (`a b` int, `select` int, `日本` varchar(5), `a``b` int) ENGINE=QUEUE
ok
a> SHOW CREATE TABLE t6
  Table | Create Table
  t6 | CREATE TABLE `t6` (\n  `a b` int,\n  `select` int,\n  `日本` varchar(5),\n  `a``b` int\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> INSERT INTO t6 (`select`, `日本`) VALUES (1, '飛脚')
ok, 1 rows
a> SELECT `select`, `日本` FROM t6
  select | 日本
  1 | 飛脚
a> SELECT queue_wait('t6:`select` = 1 and 日本 = \'飛脚\'', 0)
  queue_wait('t6:`select` = 1 and 日本 = \'飛脚\'', 0)
  1
a> SELECT * FROM t6
  a b | select | 日本 | a`b
  NULL | 1 | 飛脚 | NULL
a> SELECT queue_end()
  queue_end()
  1
# Like another, and from a SELECT.
a> CREATE TABLE t7 LIKE t6
ok
a> SHOW CREATE TABLE t7
  Table | Create Table
  t7 | CREATE TABLE `t7` (\n  `a b` int,\n  `select` int,\n  `日本` varchar(5),\n  `a``b` int\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> INSERT INTO t1 VALUES (1), (2)
ok, 2 rows
a> CREATE TABLE t8 AS SELECT v, v * 2 AS w FROM t1
ok
a> SELECT * FROM t8
  v | w
  1 | 2
  2 | 4
a> SHOW CREATE TABLE t8
  Table | Create Table
  t8 | CREATE TABLE `t8` (\n  `v` int,\n  `w` bigint\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> CREATE TABLE t9 (v int) ENGINE=QUEUE AS SELECT v FROM t1
ok
a> CREATE INDEX k ON t1 (v)
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't1' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t1 ADD INDEX k (v)
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't1' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t1 ADD PRIMARY KEY (v)
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't1' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t1 ADD UNIQUE (v)
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't1' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t1 ENGINE=InnoDB
  ERROR 1286 (42000): Unknown storage engine 'InnoDB': tables here are queues, so 't1' needs ENGINE=QUEUE (or no ENGINE at all)
a> ALTER TABLE t1 ENGINE=QUEUE
ok
a> DROP INDEX k ON t1
  ERROR 1091 (42000): error: can't drop 'k'; check that column/key exists
a> CREATE VIEW w AS SELECT * FROM t1
  ERROR 1235 (42000): This server has tables of ENGINE=QUEUE and nothing else: no views, triggers, procedures or events
a> CREATE TRIGGER g BEFORE INSERT ON t1 FOR EACH ROW SET @x = 1
  ERROR 1235 (42000): This server has tables of ENGINE=QUEUE and nothing else: no views, triggers, procedures or events
a> CREATE PROCEDURE p() SELECT 1
  ERROR 1235 (42000): This server has tables of ENGINE=QUEUE and nothing else: no views, triggers, procedures or events
a> CREATE USER someone
  ERROR 1235 (42000): Users and what they may do stand in the server's configuration (users:), for every protocol at once
a> CREATE TABLE missing_db.t (v int) ENGINE=QUEUE
ok
a> CREATE TABLE big (a varchar(65536)) ENGINE=QUEUE
  ERROR 1074 (42000): length is 65536 but max allowed is 16383
a> CREATE TABLE c1 (a varchar(5) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci, b text CHARACTER SET latin1, c char(3) CHARACTER SET ascii COLLATE ascii_bin) ENGINE=QUEUE
ok
a> SHOW CREATE TABLE c1
  Table | Create Table
  c1 | CREATE TABLE `c1` (\n  `a` varchar(5) COLLATE utf8mb4_general_ci,\n  `b` text CHARACTER SET latin1 COLLATE latin1_swedish_ci,\n  `c` char(3) CHARACTER SET ascii COLLATE ascii_bin\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> CREATE TABLE c2 (a int COMMENT 'what it is') ENGINE=QUEUE
ok
a> SHOW CREATE TABLE c2
  Table | Create Table
  c2 | CREATE TABLE `c2` (\n  `a` int\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> SHOW TABLES
  Tables_in_test
  c1
  c2
  t1
  t2
  t3
  t4
  t5
  t5now
  t5up
  t6
  t7
  t8
  t9
