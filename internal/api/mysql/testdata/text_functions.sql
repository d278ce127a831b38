# Functions of texts take a TIME, and numbers that are far too large end their statement alone.
a> CREATE TABLE f (a time, n int) ENGINE=QUEUE
ok
a> INSERT INTO f VALUES ('23:59:59', 1)
ok, 1 rows
a> SELECT CONCAT(a, '!'), LOWER(a), LENGTH(a), CONCAT_WS('-', n, a), LEFT(a, 2), HOUR(a) FROM f
  CONCAT(a, '!') | LOWER(a) | LENGTH(a) | CONCAT_WS('-', n, a) | LEFT(a, 2) | HOUR(a)
  23:59:59! | 23:59:59 | 8 | 1-23:59:59 | 23 | 23
a> SELECT CONCAT(CAST('01:02:03' AS TIME))
  CONCAT(CAST('01:02:03' AS TIME))
  01:02:03
a> SELECT ROUND(1e300, 5)
  ROUND(1e300, 5)
  1e+300
a> SELECT INSERT('abc', 5, 1, 'x'), INSERT('abc', -1, 1, 'x'), INSERT('abc', 2, 1, 'x')
  INSERT('abc', 5, 1, 'x') | INSERT('abc', -1, 1, 'x') | INSERT('abc', 2, 1, 'x')
  abc | abc | axc
