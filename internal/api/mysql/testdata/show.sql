# What is shown of tables, engines and connections.
a> CREATE TABLE t1 (id int NOT NULL, name varchar(20) DEFAULT 'x', body longblob, price decimal(8,2) NOT NULL DEFAULT 0, at datetime(3)) ENGINE=QUEUE COMMENT='jobs'
ok
a> CREATE TABLE t2 (v bigint unsigned) ENGINE=QUEUE
ok
a> INSERT INTO t1 (id) VALUES (1), (2), (3)
ok, 3 rows
a> SHOW TABLES
  Tables_in_test
  t1
  t2
a> SHOW TABLES LIKE 't1'
  Tables_in_test (t1)
  t1
a> SHOW TABLES FROM test
  Tables_in_test
  t1
  t2
a> SHOW TABLES FROM nowhere
  Tables_in_nowhere
a> SHOW FULL TABLES
  Tables_in_test | Table_type
  t1 | BASE TABLE
  t2 | BASE TABLE
a> SHOW CREATE TABLE t1
  Table | Create Table
  t1 | CREATE TABLE `t1` (\n  `id` int NOT NULL,\n  `name` varchar(20) DEFAULT 'x',\n  `body` longblob,\n  `price` decimal(8,2) NOT NULL DEFAULT '0.00',\n  `at` datetime(3)\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin COMMENT='jobs'
a> SHOW CREATE TABLE test.t2
  Table | Create Table
  t2 | CREATE TABLE `t2` (\n  `v` bigint unsigned\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> SHOW CREATE TABLE missing
  ERROR 1146 (42S02): Table 'test.missing' doesn't exist
a> DESCRIBE t1
  Field | Type | Null | Key | Default | Extra
  id | int | NO |  | NULL | 
  name | varchar(20) | YES |  | x | 
  body | longblob | YES |  | NULL | 
  price | decimal(8,2) | NO |  | 0.00 | 
  at | datetime(3) | YES |  | NULL | 
a> DESC t2
  Field | Type | Null | Key | Default | Extra
  v | bigint unsigned | YES |  | NULL | 
a> EXPLAIN t2
  Field | Type | Null | Key | Default | Extra
  v | bigint unsigned | YES |  | NULL | 
a> SHOW COLUMNS FROM t1
  Field | Type | Null | Key | Default | Extra
  id | int | NO |  | NULL | 
  name | varchar(20) | YES |  | x | 
  body | longblob | YES |  | NULL | 
  price | decimal(8,2) | NO |  | 0.00 | 
  at | datetime(3) | YES |  | NULL | 
a> SHOW COLUMNS FROM t1 LIKE 'n%'
  Field | Type | Null | Key | Default | Extra
  name | varchar(20) | YES |  | x | 
a> SHOW FIELDS FROM t2
  Field | Type | Null | Key | Default | Extra
  v | bigint unsigned | YES |  | NULL | 
a> SHOW FULL COLUMNS FROM t1
  Field | Type | Collation | Null | Key | Default | Extra | Privileges | Comment
  id | int | NULL | NO |  | NULL |  | select,insert,update,references | 
  name | varchar(20) | utf8mb4_0900_bin | YES |  | x |  | select,insert,update,references | 
  body | longblob | NULL | YES |  | NULL |  | select,insert,update,references | 
  price | decimal(8,2) | NULL | NO |  | 0.00 |  | select,insert,update,references | 
  at | datetime(3) | NULL | YES |  | NULL |  | select,insert,update,references | 
a> SHOW INDEX FROM t1
  Table | Non_unique | Key_name | Seq_in_index | Column_name | Collation | Cardinality | Sub_part | Packed | Null | Index_type | Comment | Index_comment | Visible | Expression
a> SHOW KEYS FROM t2
  Table | Non_unique | Key_name | Seq_in_index | Column_name | Collation | Cardinality | Sub_part | Packed | Null | Index_type | Comment | Index_comment | Visible | Expression
a> SHOW TABLE STATUS LIKE 't2'
  Name | Engine | Version | Row_format | Rows | Avg_row_length | Data_length | Max_data_length | Index_length | Data_free | Auto_increment | Create_time | Update_time | Check_time | Collation | Checksum | Create_options | Comment
  t2 | QUEUE | 10 | Fixed | 0 | 0 | 0 | 0 | 0 | 0 | NULL | NULL | NULL | NULL | utf8mb4_0900_bin | NULL | NULL | 
a> SHOW ENGINES
  Engine | Support | Comment | Transactions | XA | Savepoints
  QUEUE | DEFAULT | Queues: rows are waited for, owned, and ended | NO | NO | NO
a> SHOW STORAGE ENGINES
  Engine | Support | Comment | Transactions | XA | Savepoints
  QUEUE | DEFAULT | Queues: rows are waited for, owned, and ended | NO | NO | NO
a> SHOW ENGINE INNODB STATUS
  ERROR 1286 (42000): Unknown storage engine 'innodb': there is QUEUE
a> SHOW VARIABLES LIKE 'default_storage_engine'
  Variable_name | Value
  default_storage_engine | QUEUE
a> SHOW VARIABLES LIKE 'queue%'
  Variable_name | Value
  queue_lease | 0
a> SHOW VARIABLES LIKE 'version'
  Variable_name | Value
  version | 8.0.33-hikyaku
a> SHOW VARIABLES LIKE 'max_allowed_packet'
  Variable_name | Value
  max_allowed_packet | 135266304
a> SHOW GLOBAL VARIABLES LIKE 'version_comment'
  Variable_name | Value
  version_comment | hikyaku, a message courier
a> SHOW SESSION STATUS LIKE 'nothing'
  Variable_name | Value
a> SHOW DATABASES
  Database
  information_schema
  test
a> SHOW SCHEMAS LIKE 'te%'
  Database (te%)
  test
a> SHOW CREATE DATABASE test
  Database | Create Database
  test | CREATE DATABASE `test` /*!40100 DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_0900_bin */
a> SHOW CHARACTER SET LIKE 'utf8mb4'
  Charset | Description | Default collation | Maxlen
  utf8mb4 | UTF-8 Unicode | utf8mb4_0900_ai_ci | 4
a> SHOW COLLATION LIKE 'utf8mb4_bin'
  Collation | Charset | Id | Default | Compiled | Sortlen | Pad_attribute
  utf8mb4_bin | utf8mb4 | 46 |  | Yes | 1 | PAD SPACE
a> SHOW PLUGINS
  Name | Status | Type | Library | License
a> SHOW PRIVILEGES
  Privilege | Context | Comment
  Alter | Tables | To alter the table
  Alter routine | Functions,Procedures | To alter or drop stored functions/procedures
  Create | Databases,Tables,Indexes | To create new databases and tables
  Create routine | Databases | To use CREATE FUNCTION/PROCEDURE
  Create role | Server Admin | To create new roles
  Create temporary tables | Databases | To use CREATE TEMPORARY TABLE
  Create view | Tables | To create new views
  Create user | Server Admin | To create new users
  Delete | Tables | To delete existing rows
  Drop | Databases,Tables | To drop databases, tables, and views
  Drop role | Server Admin | To drop roles
  Event | Server Admin | To create, alter, drop and execute events
  Execute | Functions,Procedures | To execute stored routines
  File | File access on server | To read and write files on the server
  Grant option | Databases,Tables,Functions,Procedures | To give to other users those privileges you possess
  Index | Tables | To create or drop indexes
  Insert | Tables | To insert data into tables
  Lock tables | Databases | To use LOCK TABLES (together with SELECT privilege)
  Process | Server Admin | To view the plain text of currently executing queries
  Proxy | Server Admin | To make proxy user possible
  References | Databases,Tables | To have references on tables
  Reload | Server Admin | To reload or refresh tables, logs and privileges
  Replication client | Server Admin | To ask where the slave or master servers are
  Replication slave | Server Admin | To read binary log events from the master
  Select | Tables | To retrieve rows from table
  Show databases | Server Admin | To see all databases with SHOW DATABASES
  Show view | Tables | To see views with SHOW CREATE VIEW
  Shutdown | Server Admin | To shut down the server
  Super | Server Admin | To use KILL thread, SET GLOBAL, CHANGE MASTER, etc.
  Trigger | Tables | To use triggers
  Create tablespace | Server Admin | To create/alter/drop tablespaces
  Update | Tables | To update existing rows
  Usage | Server Admin | No privileges - allow connect only
  ENCRYPTION_KEY_ADMIN | Server Admin | 
  INNODB_REDO_LOG_ARCHIVE | Server Admin | 
  REPLICATION_APPLIER | Server Admin | 
  INNODB_REDO_LOG_ENABLE | Server Admin | 
  SET_USER_ID | Server Admin | 
  SERVICE_CONNECTION_ADMIN | Server Admin | 
  GROUP_REPLICATION_ADMIN | Server Admin | 
  AUDIT_ABORT_EXEMPT | Server Admin | 
  GROUP_REPLICATION_STREAM | Server Admin | 
  CLONE_ADMIN | Server Admin | 
  SYSTEM_USER | Server Admin | 
  AUTHENTICATION_POLICY_ADMIN | Server Admin | 
  SHOW_ROUTINE | Server Admin | 
  BACKUP_ADMIN | Server Admin | 
  CONNECTION_ADMIN | Server Admin | 
  PERSIST_RO_VARIABLES_ADMIN | Server Admin | 
  RESOURCE_GROUP_ADMIN | Server Admin | 
  SESSION_VARIABLES_ADMIN | Server Admin | 
  SYSTEM_VARIABLES_ADMIN | Server Admin | 
  APPLICATION_PASSWORD_ADMIN | Server Admin | 
  FLUSH_OPTIMIZER_COSTS | Server Admin | 
  AUDIT_ADMIN | Server Admin | 
  BINLOG_ADMIN | Server Admin | 
  BINLOG_ENCRYPTION_ADMIN | Server Admin | 
  FLUSH_STATUS | Server Admin | 
  FLUSH_TABLES | Server Admin | 
  FLUSH_USER_RESOURCES | Server Admin | 
  XA_RECOVER_ADMIN | Server Admin | 
  PASSWORDLESS_USER_ADMIN | Server Admin | 
  TABLE_ENCRYPTION_ADMIN | Server Admin | 
  ROLE_ADMIN | Server Admin | 
  REPLICATION_SLAVE_ADMIN | Server Admin | 
  RESOURCE_GROUP_USER | Server Admin | 
a> SHOW MASTER STATUS
  File | Position | Binlog_Do_DB | Binlog_Ignore_DB | Executed_Gtid_Set
a> SHOW TRIGGERS
  Trigger | Event | Table | Statement | Timing | Created | sql_mode | Definer | character_set_client | collation_connection | Database Collation
a> SHOW PROCEDURE STATUS
  Db | Name | Type | Definer | Modified | Created | Security_type | Comment | character_set_client | collation_connection | Database Collation
a> SHOW FUNCTION STATUS
  Db | Name | Type | Definer | Modified | Created | Security_type | Comment | character_set_client | collation_connection | Database Collation
a> SHOW EVENTS
  Db | Name | Definer | Time zone | Type | Execute At | Interval Value | Interval Field | Starts | Ends | Status | Originator | character_set_client | collation_connection | Database Collation
a> SHOW OPEN TABLES
  Database | Table | In_use | Name_locked
a> SHOW WARNINGS
  Level | Code | Message
a> SHOW ERRORS
  Level | Code | Message
a> SHOW COUNT(*) WARNINGS
  @@session.warning_count
  0
a> SELECT table_schema, table_name, table_type, engine, row_format, table_comment FROM information_schema.tables WHERE table_schema = 'test' ORDER BY table_name
  TABLE_SCHEMA | TABLE_NAME | TABLE_TYPE | ENGINE | ROW_FORMAT | TABLE_COMMENT
  test | t1 | BASE TABLE | QUEUE | Dynamic | jobs
  test | t2 | BASE TABLE | QUEUE | Dynamic | 
a> SELECT table_name, column_name, ordinal_position, column_default, is_nullable, data_type, column_type, character_set_name, collation_name FROM information_schema.columns WHERE table_schema = 'test' ORDER BY table_name, ordinal_position
  TABLE_NAME | COLUMN_NAME | ORDINAL_POSITION | COLUMN_DEFAULT | IS_NULLABLE | DATA_TYPE | COLUMN_TYPE | CHARACTER_SET_NAME | COLLATION_NAME
  t1 | id | 1 | NULL | NO | int | int | NULL | NULL
  t1 | name | 2 | x | YES | varchar | varchar(20) | utf8mb4 | utf8mb4_0900_bin
  t1 | body | 3 | NULL | YES | longblob | longblob | NULL | NULL
  t1 | price | 4 | 0.00 | NO | decimal | decimal(8,2) | NULL | NULL
  t1 | at | 5 | NULL | YES | datetime | datetime(3) | NULL | NULL
  t2 | v | 1 | NULL | YES | bigint | bigint unsigned | NULL | NULL
a> SELECT * FROM information_schema.engines
  ENGINE | SUPPORT | COMMENT | TRANSACTIONS | XA | SAVEPOINTS
  QUEUE | DEFAULT | Queues: rows are waited for, owned, and ended | NO | NO | NO
a> SELECT schema_name FROM information_schema.schemata WHERE schema_name IN ('test', 'mysql', 'information_schema') ORDER BY schema_name
  SCHEMA_NAME
  information_schema
  test
a> SELECT COUNT(*) FROM information_schema.statistics WHERE table_schema = 'test'
  COUNT(*)
  0
a> SELECT support FROM information_schema.engines WHERE engine = 'QUEUE'
  SUPPORT
  DEFAULT
a> SELECT table_name FROM information_schema.tables WHERE engine = 'QUEUE' AND table_schema = DATABASE() ORDER BY 1
  TABLE_NAME
  t1
  t2
# The figures of a table.
a> SELECT queue_stats('missing')
  queue_stats('missing')
  NULL
a> SELECT queue_stats(NULL)
  queue_stats(NULL)
  NULL
a> SELECT queue_compact('t1')
  queue_compact('t1')
  1
a> SELECT queue_compact('missing')
  queue_compact('missing')
  NULL
a> SELECT queue_compact(NULL)
  queue_compact(NULL)
  NULL
a> SELECT queue_compact()
  ERROR 1582 (42000): Incorrect parameter count in the call to native function 'queue_compact': it takes 1
a> SELECT queue_stats('t1') LIKE '%rows_waiting: 3%'
  queue_stats('t1') LIKE '%rows_waiting: 3%'
  1
a> SELECT queue_stats('test.t1') = queue_stats('t1')
  queue_stats('test.t1') = queue_stats('t1')
  1
a> SELECT queue_stats('t2')
  queue_stats('t2')
  rows_written: 0\nrows_removed: 0\nwait_immediate: 0\nwait_delayed: 0\nwait_timeout: 0\nrestored_by_abort: 0\nrestored_by_close: 0\nbytes_total: 0\nbytes_removed: 0\nrows_waiting: 0\nrows_owned: 0\nrows_delayed: 0\nrows_behind_key: 0\nbytes: 0\nwaiters: 0\nnext_rowid: 1\ntotal_inserted: 0\ntotal_owned: 0\ntotal_ended: 0\ntotal_dead: 0\ntotal_expired: 0\ntotal_removed: 0\ntotal_duplicate: 0\ntotal_examined: 0\n
# A reader that waits is seen with its statement; who is it?
b& SELECT queue_wait('t2', 60)
a> SELECT command, info FROM information_schema.processlist WHERE id = {b}
  command | info
  Query | SELECT queue_wait('t2', 60)
a> SELECT user, db, state IS NOT NULL FROM information_schema.processlist WHERE id = {b}
  user | db | state IS NOT NULL
  root | test | 1
a> KILL QUERY {b}
ok
b.
  ERROR 1317 (70100): Query execution was interrupted
a> SELECT command, info FROM information_schema.processlist WHERE id = {b}
  command | info
  Sleep | 
a> KILL 99999
  ERROR 1094 (HY000): Unknown thread id: 99999
