# ENUM and SET: by text and by number, strict, with defaults, and as MySQL shows them.
a> CREATE TABLE c (id int, color enum('red','green','it''s','a\\b','飛脚','2') NOT NULL DEFAULT 'green', tags set('x','y','z')) ENGINE=QUEUE
ok
a> INSERT INTO c VALUES (1, 'red', 'z,x'), (2, 'GREEN', ''), (3, 3, 6), (4, '2', NULL), (5, 'a\\b', 3), (6, '飛脚', 'y,x,y')
ok, 6 rows
a> INSERT INTO c (id) VALUES (7)
ok, 1 rows
a> SELECT * FROM c
  id | color | tags
  1 | red | x,z
  2 | green | 
  3 | it's | y,z
  4 | 2 | NULL
  5 | a\b | x,y
  6 | 飛脚 | x,y
  7 | green | NULL
a> SELECT id, color+0, tags+0 FROM c
  id | color+0 | tags+0
  1 | 1 | 5
  2 | 2 | 0
  3 | 3 | 6
  4 | 6 | NULL
  5 | 4 | 3
  6 | 5 | 3
  7 | 2 | NULL
a> SELECT id FROM c WHERE color = 'red'
  id
  1
a> SELECT id FROM c WHERE color = 3
  id
  3
a> SELECT id FROM c WHERE color IN ('red', '飛脚')
  id
  1
  6
a> SELECT id FROM c WHERE color > 4
  id
  4
  6
a> SELECT id FROM c WHERE color = 'none'
  id
a> SELECT id FROM c WHERE color LIKE 'r%'
  id
  1
a> SELECT id FROM c WHERE tags = 'x,z'
  id
  1
a> SELECT id FROM c WHERE tags = 'z,x'
  id
  1
a> SELECT id FROM c WHERE FIND_IN_SET('y', tags) > 0
  id
  3
  5
  6
a> SELECT id FROM c WHERE tags & 2
  id
  3
  5
  6
a> SELECT id FROM c WHERE tags = ''
  id
  2
a> SELECT color, COUNT(*) FROM c GROUP BY color ORDER BY color
  color | COUNT(*)
  red | 1
  green | 2
  it's | 1
  a\b | 1
  飛脚 | 1
  2 | 1
a> SELECT CONCAT(color, '!'), LENGTH(tags), CAST(color AS CHAR), CAST(color AS UNSIGNED), UPPER(color) FROM c
  CONCAT(color, '!') | LENGTH(tags) | CAST(color AS CHAR) | CAST(color AS UNSIGNED) | UPPER(color)
  red! | 3 | red | 1 | RED
  green! | 0 | green | 2 | GREEN
  it's! | 3 | it's | 3 | IT'S
  2! | NULL | 2 | 6 | 2
  a\b! | 3 | a\b | 4 | A\B
  飛脚! | 3 | 飛脚 | 5 | 飛脚
  green! | NULL | green | 2 | GREEN
a> SELECT id FROM c ORDER BY color DESC, id
  id
  4
  6
  5
  3
  2
  7
  1
a> INSERT INTO c VALUES (8, 'blue', NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 1
a> INSERT INTO c VALUES (8, '', NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 1
a> INSERT INTO c VALUES (8, 0, NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 1
a> INSERT INTO c VALUES (8, '0', NULL)
  ERROR 1265 (01000): Data truncated for column 'color': it is enum and the value 0 is none of its members
a> INSERT INTO c VALUES (8, 7, NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 1
a> INSERT INTO c VALUES (8, -1, NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 1
a> INSERT INTO c VALUES (8, NULL, NULL)
  ERROR 1048 (23000): Column 'color' cannot be null
a> INSERT INTO c VALUES (8, 'red', 'x,w')
  ERROR 1265 (01000): Data truncated for column 'tags' at row 1
a> INSERT INTO c VALUES (8, 'red', 8)
  ERROR 1265 (01000): Data truncated for column 'tags' at row 1
a> INSERT INTO c VALUES (8, 'red', NULL), (9, 'blue', NULL)
  ERROR 1265 (01000): Data truncated for column 'color' at row 2
a> SELECT COUNT(*) FROM c
  COUNT(*)
  7
a> SHOW CREATE TABLE c
  Table | Create Table
  c | CREATE TABLE `c` (\n  `id` int,\n  `color` enum('red','green','it''s','a\\b','飛脚','2') NOT NULL DEFAULT 'green',\n  `tags` set('x','y','z')\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> DESCRIBE c
  Field | Type | Null | Key | Default | Extra
  id | int | YES |  | NULL | 
  color | enum('red','green','it''s','a\b','飛脚','2') | NO |  | green | 
  tags | set('x','y','z') | YES |  | NULL | 
a> SELECT column_name, column_type, data_type, column_default, character_maximum_length, character_set_name FROM information_schema.columns WHERE table_name = 'c' AND table_schema = 'test'
  COLUMN_NAME | COLUMN_TYPE | DATA_TYPE | COLUMN_DEFAULT | CHARACTER_MAXIMUM_LENGTH | CHARACTER_SET_NAME
  id | int | int | NULL | NULL | NULL
  color | enum('red','green','it''s','a\b','飛脚','2') | enum | green | 5 | utf8mb4
  tags | set('x','y','z') | set | NULL | 5 | utf8mb4
a> SELECT queue_wait('c:color=\'it\'\'s\' and tags=\'y,z\'', 0)
  queue_wait('c:color=\'it\'\'s\' and tags=\'y,z\'', 0)
  1
a> SELECT * FROM c
  id | color | tags
  3 | it's | y,z
a> SELECT queue_end()
  queue_end()
  1
a> SELECT queue_wait('c:color in (\'飛脚\', \'red\')', 0)
  queue_wait('c:color in (\'飛脚\', \'red\')', 0)
  1
a> SELECT id, color, color+0 FROM c
  id | color | color+0
  1 | red | 1
a> SELECT queue_abort()
  queue_abort()
  1
# Members that are added at the end leave rows as they are; those that a row has cannot be taken away.
a> ALTER TABLE c MODIFY COLUMN tags set('x','y','z','w')
ok
a> ALTER TABLE c MODIFY COLUMN color enum('red','green')
  ERROR 1265 (01000): Data truncated for column 'color': it is enum and the value "a\\b" is none of its members
a> ALTER TABLE c ADD COLUMN size enum('s','m','l') NOT NULL
ok
a> SELECT id, tags, size, size+0 FROM c
  id | tags | size | size+0
  1 | x,z | s | 1
  2 |  | s | 1
  4 | NULL | s | 1
  5 | x,y | s | 1
  6 | x,y | s | 1
  7 | NULL | s | 1
a> INSERT INTO c (id, color, tags) VALUES (9, 'red', 'w,x')
ok, 1 rows
a> SELECT * FROM c WHERE id = 9
  id | color | tags | size
  9 | red | x,w | s
a> SHOW CREATE TABLE c
  Table | Create Table
  c | CREATE TABLE `c` (\n  `id` int,\n  `color` enum('red','green','it''s','a\\b','飛脚','2') NOT NULL DEFAULT 'green',\n  `tags` set('x','y','z','w'),\n  `size` enum('s','m','l') NOT NULL\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> DROP TABLE c
ok
a> CREATE TABLE c (v enum('a','b') CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'b', s set('p','q') NOT NULL DEFAULT 'q,p') ENGINE=QUEUE
ok
a> INSERT INTO c () VALUES ()
ok, 1 rows
a> INSERT INTO c VALUES ('A', 'p')
  ERROR 1265 (01000): Data truncated for column 'v' at row 1
a> SELECT * FROM c
  v | s
  b | p,q
a> SHOW CREATE TABLE c
  Table | Create Table
  c | CREATE TABLE `c` (\n  `v` enum('a','b') CHARACTER SET latin1 COLLATE latin1_bin DEFAULT 'b',\n  `s` set('p','q') NOT NULL DEFAULT 'p,q'\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> CREATE TABLE d (v enum('a','a')) ENGINE=QUEUE
  ERROR 1291 (HY000): duplicate entry: a
a> CREATE TABLE d (v set('a,b')) ENGINE=QUEUE
  ERROR 1367 (22007): values cannot contain a comma
a> CREATE TABLE d (v enum('a') DEFAULT 'b') ENGINE=QUEUE
  ERROR 1067 (42000): incompatible type for default value: value b is not valid for this Enum
a> CREATE TABLE d (v enum()) ENGINE=QUEUE
  ERROR 1064 (42000): You have an error in your SQL syntax: syntax error at position 25 near 'enum'
