# EXPLAIN names the tables that are read, in MySQL's forms.
a> CREATE TABLE j (id int, v varchar(20)) ENGINE=QUEUE
ok
a> CREATE TABLE k (id int) ENGINE=QUEUE
ok
a> INSERT INTO j VALUES (1, 'a'), (2, 'b')
ok, 2 rows
a> EXPLAIN SELECT * FROM j WHERE id > 1
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | Using where
a> EXPLAIN SELECT 1
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | No tables used
a> explain select queue_wait('j', 0)
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | No tables used
a> EXPLAIN FORMAT=TRADITIONAL SELECT id FROM j AS x GROUP BY id ORDER BY id;
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | x | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | Using temporary; Using filesort
a> EXPLAIN EXTENDED SELECT * FROM test.j
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | NULL
a> EXPLAIN PARTITIONS SELECT * FROM j
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | NULL
a> DESCRIBE SELECT * FROM j JOIN k ON j.id = k.id
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | NULL
  1 | SIMPLE | k | NULL | ALL | NULL | NULL | NULL | NULL | 0 | 100 | Using join buffer (hash join)
a> EXPLAIN SELECT * FROM j WHERE id IN (SELECT id FROM k) UNION SELECT 1, 2
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | PRIMARY | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | Using where
  2 | SUBQUERY | k | NULL | ALL | NULL | NULL | NULL | NULL | 0 | 100 | NULL
  3 | UNION | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | No tables used
  NULL | UNION RESULT | <union1,3> | NULL | ALL | NULL | NULL | NULL | NULL | NULL | NULL | Using temporary
a> EXPLAIN SELECT * FROM (SELECT id FROM k) AS d, j
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | PRIMARY | <derived2> | NULL | ALL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
  1 | PRIMARY | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | Using join buffer (hash join)
  2 | DERIVED | k | NULL | ALL | NULL | NULL | NULL | NULL | 0 | 100 | NULL
a> EXPLAIN WITH c AS (SELECT id FROM k) SELECT * FROM c
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | PRIMARY | c | NULL | ALL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
  2 | SUBQUERY | k | NULL | ALL | NULL | NULL | NULL | NULL | 0 | 100 | NULL
a> EXPLAIN INSERT INTO j VALUES (3, 'c')
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | INSERT | j | NULL | ALL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
a> EXPLAIN INSERT INTO k SELECT id FROM j
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | INSERT | k | NULL | ALL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | NULL
a> EXPLAIN DELETE FROM j WHERE id = 1
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | DELETE | j | NULL | ALL | NULL | NULL | NULL | NULL | 2 | 100 | Using where
a> EXPLAIN FORMAT=JSON SELECT * FROM j
  EXPLAIN
  {\n  "query_block": {\n    "select_id": 1,\n    "table": {\n      "table_name": "j",\n      "access_type": "ALL",\n      "rows_examined_per_scan": 2,\n      "rows_produced_per_join": 2,\n      "filtered": "100.00"\n    }\n  }\n}
a> EXPLAIN FORMAT=JSON SELECT * FROM j JOIN k ON j.id = k.id
  EXPLAIN
  {\n  "query_block": {\n    "select_id": 1,\n    "nested_loop": [\n      {\n        "table": {\n          "table_name": "j",\n          "access_type": "ALL",\n          "rows_examined_per_scan": 2,\n          "rows_produced_per_join": 2,\n          "filtered": "100.00"\n        }\n      },\n      {\n        "table": {\n          "table_name": "k",\n          "access_type": "ALL",\n          "rows_examined_per_scan": 0,\n          "rows_produced_per_join": 0,\n          "filtered": "100.00"\n        }\n      }\n    ]\n  }\n}
a> EXPLAIN FORMAT=json SELECT 1
  EXPLAIN
  {\n  "query_block": {\n    "select_id": 1,\n    "message": "No tables used"\n  }\n}
a> EXPLAIN FORMAT=XML SELECT * FROM j
  ERROR 1791 (HY000): Unknown EXPLAIN format name: 'XML' (there are TRADITIONAL, JSON and TREE)
a> EXPLAIN ANALYZE SELECT * FROM j
  ERROR 1235 (42000): EXPLAIN ANALYZE is not supported: EXPLAIN FORMAT=TREE shows the plan, without running it
a> EXPLAIN FOR CONNECTION 5
  ERROR 1235 (42000): EXPLAIN FOR CONNECTION is not supported (SHOW PROCESSLIST shows what runs)
a> EXPLAIN SELEKT
  ERROR 1146 (42S02): Table 'test.SELEKT' doesn't exist
a> SELECT COUNT(*) FROM j
  COUNT(*)
  2
a> SELECT queue_wait('j', 0)
  queue_wait('j', 0)
  1
a> EXPLAIN SELECT * FROM j
  id | select_type | table | partitions | type | possible_keys | key | key_len | ref | rows | filtered | Extra
  1 | SIMPLE | j | NULL | ALL | NULL | NULL | NULL | NULL | 1 | 100 | NULL
a> EXPLAIN j
  Field | Type | Null | Key | Default | Extra
  id | int | YES |  | NULL | 
  v | varchar(20) | YES |  | NULL | 
a> DESC j v
  Field | Type | Null | Key | Default | Extra
  v | varchar(20) | YES |  | NULL | 
a> DESC j `v`
  Field | Type | Null | Key | Default | Extra
  v | varchar(20) | YES |  | NULL | 
a> EXPLAIN FORMAT=TREE SELECT id FROM j WHERE id > 1
  EXPLAIN
  Project\n ├─ columns: [j.id]\n └─ Filter\n     ├─ (j.id > 1)\n     └─ Table\n         └─ name: j
