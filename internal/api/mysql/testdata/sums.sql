# SUM and AVG of exact numbers are exact.
a> CREATE TABLE s (i int, b bigint, d decimal(10,2), f double, t tinyint unsigned, y year, v varchar(9)) ENGINE=QUEUE
ok
a> SELECT SUM(i), AVG(i) FROM s
  SUM(i) | AVG(i)
  NULL | NULL
a> INSERT INTO s VALUES (3, 9223372036854775807, 1.25, 0.5, 255, 2024, '3'), (4, 9223372036854775807, 2.00, 0.25, 255, 2026, '4'), (NULL, NULL, NULL, NULL, NULL, NULL, NULL)
ok, 3 rows
a> SELECT AVG(i), SUM(i), SUM(b), AVG(b), SUM(d), AVG(d), SUM(t), AVG(t) FROM s
  AVG(i) | SUM(i) | SUM(b) | AVG(b) | SUM(d) | AVG(d) | SUM(t) | AVG(t)
  3.5000 | 7 | 18446744073709551614 | 9223372036854775807.0000 | 3.25 | 1.625000 | 510 | 255.0000
a> SELECT SUM(f), AVG(f), SUM(v), AVG(v), SUM(y), AVG(y) FROM s
  SUM(f) | AVG(f) | SUM(v) | AVG(v) | SUM(y) | AVG(y)
  0.75 | 0.375 | 7 | 3.5 | 4050 | 2025.0000
a> SELECT AVG(DISTINCT t), SUM(DISTINCT t), AVG(i + 1), AVG(1), SUM(i) / 2, AVG(i) * 2 FROM s
  AVG(DISTINCT t) | SUM(DISTINCT t) | AVG(i + 1) | AVG(1) | SUM(i) / 2 | AVG(i) * 2
  255.0000 | 255 | 4.5000 | 1.0000 | 3.5000 | 7.0000
a> SELECT i, AVG(t) AS a FROM s GROUP BY i HAVING AVG(t) > 3.5 ORDER BY a, i
  i | a
  3 | 255.0000
  4 | 255.0000
a> SELECT a FROM (SELECT AVG(i) AS a FROM s) AS x
  a
  3.5000
a> SELECT ROUND(AVG(i), 1), IF(AVG(i) > 3, 'more', 'less'), CAST(AVG(i) AS CHAR) FROM s
  ROUND(AVG(i), 1) | IF(AVG(i) > 3, 'more', 'less') | CAST(AVG(i) AS CHAR)
  3.5 | more | 3.5000
a> SELECT i, AVG(i) OVER () FROM s
  i | AVG(i) OVER ()
  3 | 3.5000
  4 | 3.5000
  NULL | 3.5000
a> SELECT i, SUM(i) OVER (ORDER BY i) FROM s
  i | SUM(i) OVER (ORDER BY i)
  3 | 3
  4 | 7
  NULL | NULL
a> SELECT SUM(b) OVER (), AVG(b) OVER (), SUM(d) OVER (ORDER BY i), AVG(d) OVER (ORDER BY i) FROM s ORDER BY i
  SUM(b) OVER () | AVG(b) OVER () | SUM(d) OVER (ORDER BY i) | AVG(d) OVER (ORDER BY i)
  18446744073709551614 | 9223372036854775807.0000 | NULL | NULL
  18446744073709551614 | 9223372036854775807.0000 | 1.25 | 1.250000
  18446744073709551614 | 9223372036854775807.0000 | 3.25 | 1.625000
a> SELECT i, SUM(i) OVER (ORDER BY i ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING) AS n FROM s ORDER BY i
  i | n
  NULL | 7
  3 | 4
  4 | NULL
a> SELECT f, SUM(f) OVER (), AVG(v) OVER (), AVG(t) OVER (PARTITION BY y) FROM s ORDER BY i
  f | SUM(f) OVER () | AVG(v) OVER () | AVG(t) OVER (PARTITION BY y)
  NULL | 0.75 | 3.5 | NULL
  0.5 | 0.75 | 3.5 | 255.0000
  0.25 | 0.75 | 3.5 | 255.0000
a> SELECT STD(i), VARIANCE(i), STDDEV_SAMP(i), VAR_SAMP(d), STD(v), STD(i = 9) FROM s
  STD(i) | VARIANCE(i) | STDDEV_SAMP(i) | VAR_SAMP(d) | STD(v) | STD(i = 9)
  0.5 | 0.25 | 0.7071067811865476 | 0.28125 | 0.5 | 0
a> SELECT STD(i) OVER (), VAR_SAMP(i) OVER () FROM s LIMIT 1
  STD(i) OVER () | VAR_SAMP(i) OVER ()
  0.5 | 0.5
a> SELECT AVG(i) FROM s WHERE i = 3 UNION SELECT 2
  AVG(i)
  3.0000
  2.0000
a> SELECT AVG(b > 3), SUM(i = 3) FROM s
  AVG(b > 3) | SUM(i = 3)
  1.0000 | 1
