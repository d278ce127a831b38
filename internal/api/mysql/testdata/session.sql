# What drivers and shells send.
a> SET NAMES utf8mb4
ok
a> SET NAMES utf8
ok
a> SET NAMES utf8mb4 COLLATE utf8mb4_unicode_ci
ok
a> SET NAMES nothing
  ERROR 1115 (42000): Unknown character set: nothing
a> SET PERSIST max_connections = 5
  ERROR 1235 (42000): This server keeps no variables: SET PERSIST is not supported (SET GLOBAL holds until it stops)
a> SET @@persist.max_connections = 5
  ERROR 1235 (42000): This server keeps no variables: SET PERSIST is not supported (SET GLOBAL holds until it stops)
a> SET CHARACTER SET utf8mb4
ok
a> SET character_set_results = NULL
ok
a> SELECT @@version
  @@version
  8.0.33-hikyaku
a> SELECT @@version_comment LIMIT 1
  @@version_comment
  hikyaku, a message courier
a> SELECT VERSION()
  VERSION()
  8.0.33-hikyaku
a> SELECT @@global.version_comment
  @@global.version_comment
  hikyaku, a message courier
a> SELECT @@default_storage_engine
  @@default_storage_engine
  QUEUE
a> SELECT @@max_allowed_packet, @@wait_timeout > 0, @@lower_case_table_names, @@sql_mode
  @@max_allowed_packet | @@wait_timeout > 0 | @@lower_case_table_names | @@sql_mode
  135266304 | 1 | 0 | ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION,NO_ZERO_DATE,NO_ZERO_IN_DATE,ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES
a> SELECT @@session.autocommit
  @@session.autocommit
  1
a> SELECT @@session.tx_isolation
  @@session.tx_isolation
  REPEATABLE-READ
a> SELECT @@transaction_isolation, @@session.transaction_read_only
  @@transaction_isolation | @@session.transaction_read_only
  REPEATABLE-READ | 0
a> SELECT @@character_set_client, @@character_set_connection, @@collation_connection, @@init_connect, @@interactive_timeout, @@license, @@net_write_timeout, @@performance_schema, @@system_time_zone, @@time_zone
  @@character_set_client | @@character_set_connection | @@collation_connection | @@init_connect | @@interactive_timeout | @@license | @@net_write_timeout | @@performance_schema | @@system_time_zone | @@time_zone
  utf8mb4 | utf8mb4 | utf8mb4_0900_ai_ci |  | 28800 | GPL | 60 | 0 | UTC | SYSTEM
a> SET autocommit = 1, sql_mode = concat(@@sql_mode, ',STRICT_TRANS_TABLES')
ok
a> SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED
ok
a> SET SESSION sql_mode = 'STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00'
ok
a> SET @@session.wait_timeout = 2147483
ok
a> SET sql_auto_is_null = 0
ok
a> SET character_set_client = utf8mb4
ok
a> SET nothing_like_that = 1
  ERROR 1193 (HY000): Unknown system variable 'nothing_like_that'
a> SELECT @@nothing_like_that
  ERROR 1193 (HY000): Unknown system variable '@@nothing_like_that'
a> SELECT DATABASE(), SCHEMA()
  DATABASE() | SCHEMA()
  test | test
a> SELECT USER() LIKE 'root@%', CURRENT_USER() LIKE 'root@%'
  USER() LIKE 'root@%' | CURRENT_USER() LIKE 'root@%'
  1 | 1
a> SELECT CONNECTION_ID() > 0
  CONNECTION_ID() > 0
  1
a> SELECT 1 + 1, 'text', NULL, NOW() > '2020-01-01'
  1 + 1 | text | NULL | NOW() > '2020-01-01'
  2 | text | NULL | 1
a> SELECT LAST_INSERT_ID(), ROW_COUNT(), FOUND_ROWS()
  LAST_INSERT_ID() | ROW_COUNT() | FOUND_ROWS()
  0 | -1 | 1
a> FLUSH TABLES
ok
a> LOCK TABLES t WRITE
  ERROR 1146 (42S02): Table 'test.t' doesn't exist
a> UNLOCK TABLES
ok
a> SELECT GET_LOCK('x', 0), RELEASE_LOCK('x')
  GET_LOCK('x', 0) | RELEASE_LOCK('x')
  1 | 1
a> SELECT SLEEP(0)
  SLEEP(0)
  0
a> SELECT $$
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 9 near '$'
a> KILL QUERY {a}
ok
# Effects are immediate, not transactional.
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> BEGIN
ok
a> INSERT INTO t VALUES (1)
ok, 1 rows
b> SELECT * FROM t
  v
  1
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1196 | Some non-transactional changed tables couldn't be rolled back: what was inserted, deleted and ended in queues stays so
a> SELECT * FROM t
  v
  1
a> START TRANSACTION
ok
a> INSERT INTO t VALUES (2)
ok, 1 rows
a> COMMIT
ok
a> SHOW WARNINGS
  Level | Code | Message
a> BEGIN
ok
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
a> SET autocommit = 0
ok
a> DELETE FROM t WHERE v = 2
ok, 1 rows
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1196 | Some non-transactional changed tables couldn't be rolled back: what was inserted, deleted and ended in queues stays so
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
a> SELECT * FROM t
  v
  1
a> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> SELECT queue_end()
  queue_end()
  1
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1196 | Some non-transactional changed tables couldn't be rolled back: what was inserted, deleted and ended in queues stays so
a> SET autocommit = 1
ok
a> INSERT INTO t VALUES (3)
ok, 1 rows
a> ROLLBACK
ok
a> SHOW WARNINGS
  Level | Code | Message
a> START TRANSACTION READ ONLY
ok
a> COMMIT
ok
a> SAVEPOINT s
ok
a> ROLLBACK TO SAVEPOINT s
  ERROR 1305 (42000): SAVEPOINT s does not exist
a> RELEASE SAVEPOINT s
  ERROR 1305 (42000): SAVEPOINT s does not exist
# Quotes and backslashes as the session wants them, on every path.
a> CREATE TABLE q (s varchar(20)) ENGINE=QUEUE
ok
a> INSERT INTO q VALUES ("double"), ('back\'slash')
ok, 2 rows
a> SET sql_mode = 'ANSI_QUOTES'
ok
a> INSERT INTO "q" ("s") VALUES ('ansi')
ok, 1 rows
a> INSERT INTO q VALUES ("s")
  ERROR 1054 (42S22): Unknown column 's' in 'statement'
a> SELECT "s" FROM q
  s
  double
  back'slash
  ansi
a> SELECT queue_wait("q", 0)
  ERROR 1054 (42S22): Unknown column 'q' in 'statement'
a> SELECT queue_wait('q', 0)
  queue_wait('q', 0)
  1
a> SELECT "s" FROM "q"
  s
  double
a> SELECT queue_abort()
  queue_abort()
  1
a> SET sql_mode = 'NO_BACKSLASH_ESCAPES'
ok
a> INSERT INTO q VALUES ('back\slash')
ok, 1 rows
a> INSERT INTO q VALUES ('end\')
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 30 near 'end')'
a> SET sql_mode = ''
ok
a> SELECT * FROM q
  s
  double
  back'slash
  ansi
  backslash
# Without strict mode MySQL would cut; a queue does not.
a> INSERT INTO q VALUES ('this is longer than twenty characters')
  ERROR 1406 (22001): Data too long for column 's'
# Another database.
a> USE elsewhere
ok
a> SELECT DATABASE()
  DATABASE()
  elsewhere
a> SHOW TABLES
  Tables_in_elsewhere
a> INSERT INTO t VALUES (1)
  ERROR 1146 (42S02): Table 'elsewhere.t' doesn't exist
a> INSERT INTO test.t VALUES (4)
ok, 1 rows
a> USE test
ok
a> SELECT COUNT(*) FROM t
  COUNT(*)
  2
a> USE `no:name`
  ERROR 1049 (42000): Unknown database 'no:name'
a> USE mysql
  ERROR 1049 (42000): Unknown database 'mysql'
a> SHOW TABLES
  Tables_in_test
  q
  t
a> SELECT COUNT(*) FROM mysql.user
  ERROR 1049 (42000): Unknown database 'mysql'
a> USE information_schema
ok
a> USE test
ok
# Several statements at once.
multi> SELECT 1; SELECT 2
  1
  1
  2
  2
multi> INSERT INTO t VALUES (10); SELECT queue_wait('t:v=10', 0); SELECT * FROM t; SELECT queue_end()
  queue_wait('t:v=10', 0)
  1
  v
  10
  queue_end()
  1
multi> SELECT 1; SELECT nothing; SELECT 2
  1
  1
  ERROR 1054 (42S22): Unknown column 'nothing' in 'statement'
multi> CREATE TABLE m (v int) ENGINE=QUEUE; INSERT INTO m VALUES (1); SELECT * FROM m; DROP TABLE m
  v
  1
multi> SELECT 1; CREATE TABLE m (v int PRIMARY KEY) ENGINE=QUEUE
  1
  1
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 'm' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
multi> CREATE TABLE m (v int PRIMARY KEY) ENGINE=QUEUE; SELECT 1
  ERROR 1178 (42000): The storage engine QUEUE has no keys and no declared indexes: leave them out of 'm' (it makes its own for the conditions that queue_wait() names; queue_rowid() numbers the rows)
multi> BEGIN; INSERT INTO t VALUES (11); ROLLBACK; SHOW WARNINGS
  Level | Code | Message
  Warning | 1196 | Some non-transactional changed tables couldn't be rolled back: what was inserted, deleted and ended in queues stays so
multi> SELECT 1;
  1
  1
multi> ;
  ERROR 1065 (42000): Query was empty
a> SELECT 1; SELECT 2
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 17 near 'SELECT'
a> SELECT 1;
  1
  1
a> 
  ERROR 1065 (42000): Query was empty
