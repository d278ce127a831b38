# ALTER TABLE with rows in the table, also while one is owned.
a> CREATE TABLE t (id int NOT NULL, name varchar(10), n varchar(5)) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1, 'one', '10'), (2, 'two', '20'), (3, NULL, '30')
ok, 3 rows
b> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> ALTER TABLE t ADD COLUMN at datetime DEFAULT '2020-01-01 00:00:00'
ok
a> SELECT * FROM t
  id | name | n | at
  2 | two | 20 | 2020-01-01 00:00:00
  3 | NULL | 30 | 2020-01-01 00:00:00
b> SELECT * FROM t
  id | name | n | at
  1 | one | 10 | 2020-01-01 00:00:00
a> ALTER TABLE t ADD COLUMN first int NOT NULL FIRST
ok
a> ALTER TABLE t ADD COLUMN mid varchar(3) NOT NULL DEFAULT 'm' AFTER id
ok
a> SELECT * FROM t
  first | id | mid | name | n | at
  0 | 2 | m | two | 20 | 2020-01-01 00:00:00
  0 | 3 | m | NULL | 30 | 2020-01-01 00:00:00
b> SELECT * FROM t
  first | id | mid | name | n | at
  0 | 1 | m | one | 10 | 2020-01-01 00:00:00
a> DESCRIBE t
  Field | Type | Null | Key | Default | Extra
  first | int | NO |  | NULL | 
  id | int | NO |  | NULL | 
  mid | varchar(3) | NO |  | m | 
  name | varchar(10) | YES |  | NULL | 
  n | varchar(5) | YES |  | NULL | 
  at | datetime | YES |  | 2020-01-01 00:00:00 | 
a> ALTER TABLE t DROP COLUMN first
ok
a> ALTER TABLE t DROP mid
ok
a> SELECT * FROM t
  id | name | n | at
  2 | two | 20 | 2020-01-01 00:00:00
  3 | NULL | 30 | 2020-01-01 00:00:00
# Another type: what fits is converted.
a> ALTER TABLE t MODIFY COLUMN n int
ok
a> SELECT * FROM t WHERE n > 15
  id | name | n | at
  2 | two | 20 | 2020-01-01 00:00:00
  3 | NULL | 30 | 2020-01-01 00:00:00
b> SELECT n FROM t
  n
  10
b> SELECT queue_abort()
  queue_abort()
  1
a> SELECT queue_wait('t:n=20', 0)
  queue_wait('t:n=20', 0)
  1
a> SELECT queue_abort()
  queue_abort()
  1
a> ALTER TABLE t MODIFY name varchar(20) NOT NULL
  ERROR 1366 (HY000): Incorrect value for column 'name' of 't': must not be null
a> ALTER TABLE t MODIFY COLUMN name int
  ERROR 1366 (HY000): Incorrect value for column 'name' of 't': is int and cannot hold the string "one"
a> ALTER TABLE t MODIFY COLUMN name varchar(2)
  ERROR 1366 (HY000): Incorrect value for column 'name' of 't': is varchar(2) and the value "one" is too long: 3 characters, at most 2
a> SHOW CREATE TABLE t
  Table | Create Table
  t | CREATE TABLE `t` (\n  `id` int NOT NULL,\n  `name` varchar(10),\n  `n` int,\n  `at` datetime DEFAULT '2020-01-01 00:00:00'\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> SELECT id, name FROM t
  id | name
  1 | one
  2 | two
  3 | NULL
a> ALTER TABLE t MODIFY name varchar(20) AFTER n
ok
a> SELECT * FROM t
  id | n | name | at
  1 | 10 | one | 2020-01-01 00:00:00
  2 | 20 | two | 2020-01-01 00:00:00
  3 | 30 | NULL | 2020-01-01 00:00:00
# Another name.
a> ALTER TABLE t RENAME COLUMN name TO title
ok
a> SELECT id, title FROM t
  id | title
  1 | one
  2 | two
  3 | NULL
a> ALTER TABLE t CHANGE COLUMN title label text
ok
a> ALTER TABLE t CHANGE id id bigint FIRST
ok
a> SELECT * FROM t
  id | n | label | at
  1 | 10 | one | 2020-01-01 00:00:00
  2 | 20 | two | 2020-01-01 00:00:00
  3 | 30 | NULL | 2020-01-01 00:00:00
a> INSERT INTO t VALUES (4, 40, 'four', NULL)
ok, 1 rows
a> INSERT INTO t (id, label) VALUES (5, 'five')
ok, 1 rows
a> SELECT * FROM t WHERE id > 3
  id | n | label | at
  4 | 40 | four | NULL
  5 | NULL | five | 2020-01-01 00:00:00
# Several at once.
a> ALTER TABLE t ADD a int DEFAULT 1, ADD b int DEFAULT 2, DROP COLUMN at
ok
a> SELECT * FROM t WHERE id = 1
  id | n | label | a | b
  1 | 10 | one | 1 | 2
a> ALTER TABLE t ADD COLUMN gone int DEFAULT 5, DROP COLUMN n, MODIFY COLUMN label int
  ERROR 1366 (HY000): Incorrect value for column 'label' of 't': is int and cannot hold the string "one"
a> SELECT * FROM t WHERE id = 1
  id | n | label | a | b
  1 | 10 | one | 1 | 2
a> ALTER TABLE t ADD COLUMN p int DEFAULT 5 FIRST, CHANGE COLUMN n m bigint, RENAME COLUMN label TO name, COMMENT = 'several', MODIFY b int AFTER id
ok
a> SELECT * FROM t WHERE id = 1
  p | id | b | m | name | a
  5 | 1 | 2 | 10 | one | 1
a> ALTER TABLE t MODIFY b int AFTER a, DROP p, RENAME COLUMN m TO n, RENAME COLUMN name TO label
ok
a> ALTER TABLE t ADD COLUMN (c int, d int)
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 33 near 'int'
a> ALTER TABLE t ALTER COLUMN a SET DEFAULT 9
ok
a> ALTER TABLE t ALTER COLUMN b DROP DEFAULT
ok
a> INSERT INTO t (id) VALUES (6)
ok, 1 rows
a> SELECT * FROM t WHERE id = 6
  id | n | label | a | b
  6 | NULL | NULL | 9 | NULL
# What is not there, or twice.
a> ALTER TABLE t ADD COLUMN a int
  ERROR 1060 (42S21): Column "a" already exists
a> ALTER TABLE t DROP COLUMN nothing
  ERROR 1054 (42S22): Unknown column 'nothing' in 't'
a> ALTER TABLE t MODIFY COLUMN nothing int
  ERROR 1054 (42S22): Unknown column 'nothing' in 't'
a> ALTER TABLE t RENAME COLUMN nothing TO something
  ERROR 1054 (42S22): Unknown column 'nothing' in 't'
a> ALTER TABLE t RENAME COLUMN a TO b
  ERROR 1060 (42S21): Column "b" already exists
a> ALTER TABLE missing ADD COLUMN a int
  ERROR 1146 (42S02): Table 'test.missing' doesn't exist
a> ALTER TABLE t ADD COLUMN x int AUTO_INCREMENT
  ERROR 1178 (42000): The storage engine QUEUE can't number rows: column 'x' is AUTO_INCREMENT (queue_rowid() numbers the rows of 't', from 1)
a> ALTER TABLE t ADD COLUMN x int UNIQUE
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t ADD COLUMN x int PRIMARY KEY
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t ADD COLUMN x geometry
  ERROR 1178 (42000): The storage engine QUEUE can't keep column 'x' of type geometry: column definition "`x` geometry", character 5: there is no type "geometry"
a> ALTER TABLE t COMMENT = 'new comment'
ok
a> ALTER TABLE t ADD COLUMN late time(3) DEFAULT '01:02:03.5'
ok
a> SELECT late FROM t WHERE id = 1
  late
  01:02:03.500
a> ALTER TABLE t ADD CONSTRAINT k CHECK (id > 0)
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 't' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
a> ALTER TABLE t CONVERT TO CHARACTER SET utf8mb4
ok
a> ALTER TABLE t ORDER BY id
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 20 near 'ORDER'
# A reader that waits goes on by the new columns; one whose column is gone gets NULL.
a> CREATE TABLE w (v int, x int) ENGINE=QUEUE
ok
b& SELECT queue_wait('w:v=1', 60)
a> ALTER TABLE w ADD COLUMN y int
ok
a> ALTER TABLE w MODIFY COLUMN v bigint
ok
a> INSERT INTO w VALUES (1, 2, 3)
ok, 1 rows
b.
  queue_wait('w:v=1', 60)
  1
b> SELECT * FROM w
  v | x | y
  1 | 2 | 3
b> SELECT queue_end()
  queue_end()
  1
b& SELECT queue_wait('w:v=1', 60)
a> ALTER TABLE w DROP COLUMN v
ok
b.
  queue_wait('w:v=1', 60)
  NULL
b> SHOW WARNINGS
  Level | Code | Message
  Warning | 1146 | condition does not fit the queue: queue w: condition, line 1, column 1: unknown name "v" (did you mean "x"?)
a> ALTER TABLE w DROP COLUMN x
ok
a> ALTER TABLE w DROP COLUMN y
  ERROR 1090 (42000): You can't delete all columns with ALTER TABLE; use DROP TABLE instead
a> SELECT * FROM w
  y
# The owner of a row sees it reshaped; ends it.
a> INSERT INTO w VALUES (7)
ok, 1 rows
b> SELECT queue_wait('w', 0)
  queue_wait('w', 0)
  1
a> ALTER TABLE w ADD z varchar(3) DEFAULT 'new'
ok
b> SELECT * FROM w
  y | z
  7 | new
b> SELECT queue_end()
  queue_end()
  1
a> SELECT * FROM w
  y | z
