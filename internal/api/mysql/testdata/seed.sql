# The statements of the field report.
a> CREATE TABLE `q4m_test` (`id` varchar(255) COLLATE utf8mb4_bin NOT NULL, `payload` text COLLATE utf8mb4_bin NOT NULL, `enqueued_at` int(10) unsigned NOT NULL) ENGINE=QUEUE
ok
a> INSERT INTO q4m_test VALUES ('one', 'aaa', 1501686145), ('two', 'bbb', 1501686146)
ok, 2 rows
a> INSERT INTO q4m_test (enqueued_at, id, payload) VALUES (1501686147, 'three', 'ccc')
ok, 1 rows
a> SELECT * FROM q4m_test
  id | payload | enqueued_at
  one | aaa | 1501686145
  two | bbb | 1501686146
  three | ccc | 1501686147
a> SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)
  queue_wait('q4m_test:enqueued_at>=1501686146', 5)
  1
a> SELECT * FROM q4m_test
  id | payload | enqueued_at
  two | bbb | 1501686146
a> SELECT queue_rowid()
  queue_rowid()
  2
b> SELECT id FROM q4m_test
  id
  one
  three
a> SELECT queue_end()
  queue_end()
  1
a> SELECT COUNT(*) FROM q4m_test
  COUNT(*)
  2
a> SELECT queue_wait('q4m_test:enqueued_at<1501686146', 5)
  queue_wait('q4m_test:enqueued_at<1501686146', 5)
  1
a> SELECT id, enqueued_at FROM q4m_test
  id | enqueued_at
  one | 1501686145
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT id FROM q4m_test
  id
  one
  three
a> SHOW CREATE TABLE q4m_test
  Table | Create Table
  q4m_test | CREATE TABLE `q4m_test` (\n  `id` varchar(255) COLLATE utf8mb4_bin NOT NULL,\n  `payload` text COLLATE utf8mb4_bin NOT NULL,\n  `enqueued_at` int unsigned NOT NULL\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> SHOW TABLES
  Tables_in_test
  q4m_test
a> DESCRIBE q4m_test
  Field | Type | Null | Key | Default | Extra
  id | varchar(255) | NO |  | NULL | 
  payload | text | NO |  | NULL | 
  enqueued_at | int unsigned | NO |  | NULL | 
