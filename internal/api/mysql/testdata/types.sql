# Every type, its extremes, NULL and defaults; what does not fit is refused.
a> CREATE TABLE ints (a tinyint, b tinyint unsigned, c smallint, d smallint unsigned, e mediumint, f mediumint unsigned, g int, h int unsigned, i bigint, j bigint unsigned, k bool) ENGINE=QUEUE
ok
a> INSERT INTO ints VALUES (-128, 0, -32768, 0, -8388608, 0, -2147483648, 0, -9223372036854775808, 0, false)
ok, 1 rows
a> INSERT INTO ints VALUES (127, 255, 32767, 65535, 8388607, 16777215, 2147483647, 4294967295, 9223372036854775807, 18446744073709551615, true)
ok, 1 rows
a> INSERT INTO ints VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL)
ok, 1 rows
a> INSERT INTO ints VALUES ('1', '2', '3', '4', '5', '6', '7', '8', '9', '10', '1')
ok, 1 rows
a> SELECT * FROM ints
  a | b | c | d | e | f | g | h | i | j | k
  -128 | 0 | -32768 | 0 | -8388608 | 0 | -2147483648 | 0 | -9223372036854775808 | 0 | 0
  127 | 255 | 32767 | 65535 | 8388607 | 16777215 | 2147483647 | 4294967295 | 9223372036854775807 | 18446744073709551615 | 1
  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
  1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 1
a> INSERT INTO ints (a) VALUES (128)
  ERROR 1264 (22003): 128 out of range for tinyint
a> INSERT INTO ints (a) VALUES (-129)
  ERROR 1264 (22003): -129 out of range for tinyint
a> INSERT INTO ints (b) VALUES (-1)
  ERROR 1264 (22003): -1 out of range for tinyint unsigned
a> INSERT INTO ints (h) VALUES (4294967296)
  ERROR 1264 (22003): 4294967296 out of range for int unsigned
a> INSERT INTO ints (j) VALUES (18446744073709551616)
  ERROR 1264 (22003): 18446744073709551616 out of range for bigint unsigned
a> INSERT INTO ints (g) VALUES ('abc')
  ERROR 1366 (HY000): error: 'abc' is not a valid value for 'int'
a> INSERT INTO ints (g) VALUES ('12abc')
  ERROR 1366 (HY000): error: '12abc' is not a valid value for 'int'
a> INSERT INTO ints (g) VALUES ('')
  ERROR 1366 (HY000): Incorrect integer value: '' for column 'g'
a> INSERT INTO ints (g) VALUES (1.4), (1.5), (-1.5)
ok, 3 rows
a> SELECT g FROM ints WHERE g < 3
  g
  -2147483648
  1
  2
  -2
a> DELETE FROM ints
ok, 7 rows
# A failed insert of several rows inserts nothing.
a> INSERT INTO ints (g) VALUES (1), (2), ('x')
  ERROR 1366 (HY000): error: 'x' is not a valid value for 'int'
a> INSERT INTO ints (g) VALUES (1), (99999999999)
  ERROR 1264 (22003): 99999999999 out of range for int
a> SELECT COUNT(*) FROM ints
  COUNT(*)
  0
a> SELECT queue_wait('ints', 0)
  queue_wait('ints', 0)
  0
a> SELECT queue_end()
  queue_end()
  1
a> CREATE TABLE nums (a decimal(10,3), b decimal(65,30), c float, d double, e decimal) ENGINE=QUEUE
ok
a> INSERT INTO nums VALUES (1234567.891, 12345678901234567890123456789012345.123456789012345678901234567891, 1.5, 1.7976931348623157e308, 12)
ok, 1 rows
a> INSERT INTO nums VALUES (-0.001, -1, 3.4e38, 2.2250738585072014e-308, -1)
ok, 1 rows
a> INSERT INTO nums VALUES (1.0005, 0.1, 0.1, 0.1, 1.5)
ok, 1 rows
a> INSERT INTO nums VALUES ('7.5', '7.5', '7.5', '7.5', '7.5')
ok, 1 rows
a> SELECT a, b, d, e FROM nums
  a | b | d | e
  1234567.891 | 12345678901234567890123456789012345.123456789012345678901234567891 | 1.7976931348623157e+308 | 12
  -0.001 | -1.000000000000000000000000000000 | 2.2250738585072014e-308 | -1
  1.001 | 0.100000000000000000000000000000 | 0.1 | 2
  7.500 | 7.500000000000000000000000000000 | 7.5 | 8
a> SELECT c FROM nums WHERE c < 10
  c
  1.5
  0.1
  7.5
a> INSERT INTO nums (a) VALUES (12345678.9)
  ERROR 1264 (22003): Out of range value for column of Decimal type 
a> INSERT INTO nums (a) VALUES ('x')
  ERROR 1366 (HY000): error: 'x' is not a valid value for 'decimal(10,3)'
a> INSERT INTO nums (d) VALUES ('x')
  ERROR 1366 (HY000): error: 'x' is not a valid value for 'double'
a> CREATE TABLE times (a date, b datetime, c datetime(6), d timestamp(3), e time, f time(3), g year) ENGINE=QUEUE
ok
a> INSERT INTO times VALUES ('2026-11-22', '2026-11-22 01:02:03', '2026-11-22 01:02:03.456789', '2026-11-22 01:02:03', '12:34:56', '-12:34:56.789', 2026)
ok, 1 rows
a> INSERT INTO times VALUES ('1000-01-01', '9999-12-31 23:59:59', '1000-01-01 00:00:00', '1970-01-01 00:00:01', '838:59:59', '-838:59:59.000', 1901)
ok, 1 rows
a> INSERT INTO times VALUES (NULL, NULL, NULL, NULL, NULL, NULL, NULL)
ok, 1 rows
a> SELECT * FROM times
  a | b | c | d | e | f | g
  2026-11-22 | 2026-11-22 01:02:03 | 2026-11-22 01:02:03.456789 | 2026-11-22 01:02:03.000 | 12:34:56 | -12:34:56.789 | 2026
  1000-01-01 | 9999-12-31 23:59:59 | 1000-01-01 00:00:00.000000 | 1970-01-01 00:00:01.000 | 838:59:59 | -838:59:59.000 | 1901
  NULL | NULL | NULL | NULL | NULL | NULL | NULL
a> SELECT a FROM times WHERE b > '2026-01-01' AND c < '2030-01-01'
  a
  2026-11-22
  1000-01-01
a> INSERT INTO times (a) VALUES ('2026-02-30')
  ERROR 1366 (HY000): error: '2026-02-30' is not a valid value for 'date'
a> INSERT INTO times (b) VALUES ('yesterday')
  ERROR 1292 (22007): Incorrect datetime value: 'yesterday'
a> INSERT INTO times (g) VALUES (3000)
  ERROR 1292 (22007): value 3000 is not a valid Year
a> CREATE TABLE texts (a char(5), b varchar(5), c tinytext, d text, e mediumtext, f longtext) ENGINE=QUEUE
ok
a> INSERT INTO texts VALUES ('ab', 'ab ', 'tiny', 'text', 'medium', 'long')
ok, 1 rows
a> INSERT INTO texts VALUES ('飛脚が', '走る🐎', '', 'a''b"c\\d\ne\0f', 'x', 'y')
ok, 1 rows
a> INSERT INTO texts VALUES (NULL, NULL, NULL, NULL, NULL, NULL)
ok, 1 rows
a> SELECT a, b, c, hex(d), e, f, char_length(a), char_length(b) FROM texts
  a | b | c | hex(d) | e | f | char_length(a) | char_length(b)
  ab | ab  | tiny | 74657874 | medium | long | 2 | 3
  飛脚が | 走る🐎 |  | 61276222635C640A650066 | x | y | 3 | 3
  NULL | NULL | NULL | NULL | NULL | NULL | NULL | NULL
a> INSERT INTO texts (a) VALUES ('abcdef')
  ERROR 1406 (22001): Data too long for column 'a'
a> INSERT INTO texts (b) VALUES ('abcdef')
  ERROR 1406 (22001): Data too long for column 'b'
a> INSERT INTO texts (b) VALUES ('飛脚飛脚飛脚')
  ERROR 1406 (22001): Data too long for column 'b'
a> INSERT INTO texts (c) VALUES (repeat('x', 256))
  ERROR 1406 (22001): Data too long for column 'c'
a> INSERT INTO texts (b) VALUES (123), (1.50), (true)
ok, 3 rows
a> SELECT b FROM texts WHERE b LIKE '1%'
  b
  123
  1.50
  1
a> CREATE TABLE bytes (a binary(4), b varbinary(4), c tinyblob, d blob, e mediumblob, f longblob) ENGINE=QUEUE
ok
a> INSERT INTO bytes VALUES ('ab', 'ab', 0x00ff, x'80', b'01000001', 'long')
ok, 1 rows
a> SELECT hex(a), hex(b), hex(c), hex(d), hex(e), f FROM bytes
  hex(a) | hex(b) | hex(c) | hex(d) | hex(e) | f
  61620000 | 6162 | 00FF | 80 | 41 | long
a> INSERT INTO bytes (a) VALUES ('abcde')
  ERROR 1406 (22001): Data too long for column 'a'
a> INSERT INTO bytes (b) VALUES ('abcde')
  ERROR 1406 (22001): Data too long for column 'b'
a> INSERT INTO bytes (b) VALUES (0xfffefdfc)
ok, 1 rows
a> SELECT hex(b) FROM bytes WHERE b = 0xfffefdfc
  hex(b)
  FFFEFDFC
a> CREATE TABLE bits (a bit, b bit(8), c bit(64)) ENGINE=QUEUE
ok
a> INSERT INTO bits VALUES (1, b'10101010', 18446744073709551615), (b'0', 255, 0), (NULL, NULL, NULL)
ok, 3 rows
a> SELECT a+0, b+0, c+0 FROM bits
  a+0 | b+0 | c+0
  1 | 170 | 9223372036854775807
  0 | 255 | 0
  NULL | NULL | NULL
a> INSERT INTO bits (b) VALUES (256)
  ERROR 1406 (22001): 256 is beyond the maximum value that can be held by 8 bits
a> INSERT INTO bits (a) VALUES (2)
  ERROR 1406 (22001): 2 is beyond the maximum value that can be held by 1 bits
# NOT NULL and DEFAULT.
a> CREATE TABLE d (a int NOT NULL, b int NOT NULL DEFAULT 7, c varchar(10) DEFAULT 'it''s', d datetime DEFAULT '2020-01-01 00:00:00', e decimal(5,2) DEFAULT 1.5, f int DEFAULT NULL, g blob, h double DEFAULT -0.5, i bit(4) DEFAULT b'101', j date DEFAULT '2020-02-29', k binary(3) DEFAULT 'ab', l time DEFAULT '01:00:00') ENGINE=QUEUE
ok
a> INSERT INTO d (a) VALUES (1)
ok, 1 rows
a> INSERT INTO d (a, b, c) VALUES (2, DEFAULT, NULL)
ok, 1 rows
a> SELECT a, b, c, d, e, f, g, h, i+0, j, hex(k), l FROM d
  a | b | c | d | e | f | g | h | i+0 | j | hex(k) | l
  1 | 7 | it's | 2020-01-01 00:00:00 | 1.50 | NULL | NULL | -0.5 | 5 | 2020-02-29 | 616200 | 01:00:00
  2 | 7 | NULL | 2020-01-01 00:00:00 | 1.50 | NULL | NULL | -0.5 | 5 | 2020-02-29 | 616200 | 01:00:00
a> INSERT INTO d (b) VALUES (1)
  ERROR 1364 (HY000): Field 'a' doesn't have a default value
a> INSERT INTO d (a) VALUES (NULL)
  ERROR 1048 (23000): Column 'a' cannot be null
a> INSERT INTO d (a, b) VALUES (3, NULL)
  ERROR 1048 (23000): Column 'b' cannot be null
a> INSERT INTO d () VALUES ()
  ERROR 1048 (23000): Column 'a' cannot be null
a> INSERT INTO d (a, nothing) VALUES (1, 2)
  ERROR 1054 (42S22): Unknown column 'nothing' in 'd'
a> INSERT INTO d (a, a) VALUES (1, 2)
  ERROR 1110 (42000): column 'a' specified twice
a> INSERT INTO d (a, b) VALUES (1)
  ERROR 1136 (21S01): Column count doesn't match value count
a> INSERT INTO d VALUES (1, 2)
  ERROR 1136 (21S01): Column count doesn't match value count
a> INSERT INTO d SET a = 4, c = 'set'
ok, 1 rows
a> SELECT a, c FROM d
  a | c
  1 | it's
  2 | NULL
  4 | set
a> SHOW CREATE TABLE d
  Table | Create Table
  d | CREATE TABLE `d` (\n  `a` int NOT NULL,\n  `b` int NOT NULL DEFAULT '7',\n  `c` varchar(10) DEFAULT 'it''s',\n  `d` datetime DEFAULT '2020-01-01 00:00:00',\n  `e` decimal(5,2) DEFAULT '1.50',\n  `f` int,\n  `g` blob,\n  `h` double DEFAULT '-0.5',\n  `i` bit(4) DEFAULT b'101',\n  `j` date DEFAULT '2020-02-29',\n  `k` binary(3) DEFAULT 0x616200,\n  `l` time DEFAULT '01:00:00'\n) ENGINE=QUEUE DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_0900_bin
a> SELECT queue_wait('d', 0)
  queue_wait('d', 0)
  1
a> SELECT * FROM d
  a | b | c | d | e | f | g | h | i | j | k | l
  1 | 7 | it's | 2020-01-01 00:00:00 | 1.50 | NULL | NULL | -0.5 | \x05 | 2020-02-29 | ab\x00 | 01:00:00
a> SELECT a, b FROM d
  a | b
  1 | 7
a> SELECT queue_end()
  queue_end()
  1
a> SELECT queue_wait('times', 0)
  queue_wait('times', 0)
  1
a> SELECT * FROM times
  a | b | c | d | e | f | g
  2026-11-22 | 2026-11-22 01:02:03 | 2026-11-22 01:02:03.456789 | 2026-11-22 01:02:03.000 | 12:34:56 | -12:34:56.789 | 2026
a> SELECT queue_wait('nums', 0)
  queue_wait('nums', 0)
  1
a> SELECT * FROM nums
  a | b | c | d | e
  1234567.891 | 12345678901234567890123456789012345.123456789012345678901234567891 | 1.5 | 1.7976931348623157e+308 | 12
a> SELECT queue_wait('bytes', 0)
  queue_wait('bytes', 0)
  1
a> SELECT * FROM bytes
  a | b | c | d | e | f
  ab\x00\x00 | ab | \x00\xff | \x80 | A | long
a> SELECT queue_wait('texts', 0)
  queue_wait('texts', 0)
  1
a> SELECT * FROM texts
  a | b | c | d | e | f
  ab | ab  | tiny | text | medium | long
a> SELECT queue_abort()
  queue_abort()
  1
