# The language of conditions: what Q4M had, and more.
a> CREATE TABLE t (i int, f double, d decimal(10,2), s varchar(20), b varbinary(10), at datetime, day date, u bigint unsigned) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1, 1.5, 1.25, 'one', 0x01ff, '2026-01-01 00:00:00', '2026-01-01', 18446744073709551615), (2, -2, 2.5, 'two', 'ab', '2026-06-01 12:00:00', '2026-06-01', 2), (16, 0, 0, 'sixteen', '', NULL, NULL, 0), (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (64, 1e10, -1.5, 'O''Neil', 'x', '1999-12-31 23:59:59', '1999-12-31', 9)
ok, 5 rows
a> SELECT queue_wait('t:i=1', 0), queue_rowid(), queue_abort()
  queue_wait('t:i=1', 0) | queue_rowid() | queue_abort()
  1 | 1 | 1
a> SELECT queue_wait('t:i>=2', 0), queue_rowid(), queue_abort()
  queue_wait('t:i>=2', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:i!=1 and i<>2', 0), queue_rowid(), queue_abort()
  queue_wait('t:i!=1 and i<>2', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:pow(i,2)=4', 0), queue_rowid(), queue_abort()
  queue_wait('t:pow(i,2)=4', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:i=0x10', 0), queue_rowid(), queue_abort()
  queue_wait('t:i=0x10', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:i=0100', 0), queue_rowid(), queue_abort()
  queue_wait('t:i=0100', 0) | queue_rowid() | queue_abort()
  1 | 5 | 1
a> SELECT queue_wait('t:i=020', 0), queue_rowid(), queue_abort()
  queue_wait('t:i=020', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:i+1=17', 0), queue_rowid(), queue_abort()
  queue_wait('t:i+1=17', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:(i%2=0)&&(f<0)', 0), queue_rowid(), queue_abort()
  queue_wait('t:(i%2=0)&&(f<0)', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:i=1||i=2', 0), queue_rowid(), queue_abort()
  queue_wait('t:i=1||i=2', 0) | queue_rowid() | queue_abort()
  1 | 1 | 1
a> SELECT queue_wait('t:!(i<16)', 0), queue_rowid(), queue_abort()
  queue_wait('t:!(i<16)', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:i is null', 0), queue_rowid(), queue_abort()
  queue_wait('t:i is null', 0) | queue_rowid() | queue_abort()
  1 | 4 | 1
a> SELECT queue_wait('t:s=''two''', 0), queue_rowid(), queue_abort()
  queue_wait('t:s=''two''', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:s="two"', 0), queue_rowid(), queue_abort()
  queue_wait('t:s="two"', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:s in ("x", "sixteen")', 0), queue_rowid(), queue_abort()
  queue_wait('t:s in ("x", "sixteen")', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:s like "%w%"', 0), queue_rowid(), queue_abort()
  queue_wait('t:s like "%w%"', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:s not like "o%" and s not like "t%"', 0), queue_rowid(), queue_abort()
  queue_wait('t:s not like "o%" and s not like "t%"', 0) | queue_rowid() | queue_abort()
  1 | 3 | 1
a> SELECT queue_wait('t:s = ''O''''Neil''', 0), queue_rowid(), queue_abort()
  queue_wait('t:s = ''O''''Neil''', 0) | queue_rowid() | queue_abort()
  1 | 5 | 1
a> SELECT queue_wait('t:i between 2 and 15', 0), queue_rowid(), queue_abort()
  queue_wait('t:i between 2 and 15', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:at >= "2026-02-01"', 0), queue_rowid(), queue_abort()
  queue_wait('t:at >= "2026-02-01"', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:day = "1999-12-31"', 0), queue_rowid(), queue_abort()
  queue_wait('t:day = "1999-12-31"', 0) | queue_rowid() | queue_abort()
  1 | 5 | 1
a> SELECT queue_wait('t:d = 2.50', 0), queue_rowid(), queue_abort()
  queue_wait('t:d = 2.50', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
a> SELECT queue_wait('t:u = 18446744073709551615', 0), queue_rowid(), queue_abort()
  queue_wait('t:u = 18446744073709551615', 0) | queue_rowid() | queue_abort()
  1 | 1 | 1
a> SELECT queue_wait('t:f = 1e10', 0), queue_rowid(), queue_abort()
  queue_wait('t:f = 1e10', 0) | queue_rowid() | queue_abort()
  1 | 5 | 1
a> SELECT queue_wait('t:nothing', 0)
  queue_wait('t:nothing', 0)
  NULL
a> SELECT queue_wait('t:i=', 0)
  queue_wait('t:i=', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: condition of 't': at character 3: condition, line 1, column 3: the condition ends where a name or a value is wanted
a> SELECT queue_wait('t:pow(i)', 0)
  queue_wait('t:pow(i)', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: condition of 't': at character 1: condition, line 1, column 1: pow takes 2 argument(s), not 1
a> SELECT queue_wait('t:i=1;drop', 0)
  queue_wait('t:i=1;drop', 0)
  NULL
a> SHOW WARNINGS
  Level | Code | Message
  Warning | 1210 | queue_wait: argument 1: condition of 't': at character 4: condition, line 1, column 4: unexpected character ';' (a condition is one expression and ends without a semicolon)
a> SELECT queue_wait('t: i = 1 ', 0), queue_rowid(), queue_abort()
  queue_wait('t: i = 1 ', 0) | queue_rowid() | queue_abort()
  1 | 1 | 1
a> SELECT queue_wait('t:attempts > 20', 0), queue_rowid(), queue_abort()
  queue_wait('t:attempts > 20', 0) | queue_rowid() | queue_abort()
  0 | NULL | 1
a> SELECT queue_wait('t:I = 2 AND S = "two"', 0), queue_rowid(), queue_abort()
  queue_wait('t:I = 2 AND S = "two"', 0) | queue_rowid() | queue_abort()
  1 | 2 | 1
