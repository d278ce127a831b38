# ENUM and SET in expressions: their text, and their number where MySQL takes that.
a> CREATE TABLE c (id int, color enum('red','green','it''s') NOT NULL, tags set('x','y','z')) ENGINE=QUEUE
ok
a> INSERT INTO c VALUES (1, 'red', 'z,x'), (2, 'green', '')
ok, 2 rows
a> SELECT CONCAT(color, '!'), LENGTH(tags), CAST(color AS CHAR), CAST(color AS UNSIGNED) FROM c
  CONCAT(color, '!') | LENGTH(tags) | CAST(color AS CHAR) | CAST(color AS UNSIGNED)
  red! | 3 | red | 1
  green! | 0 | green | 2
a> SELECT UPPER(color) FROM c
  UPPER(color)
  RED
  GREEN
a> SELECT LOWER(tags) FROM c
  LOWER(tags)
  x,z
  
a> SELECT TRIM(color), LTRIM(color) FROM c
  TRIM(color) | LTRIM(color)
  red | red
  green | green
a> SELECT LEFT(color,1), RIGHT(color,1), SUBSTRING(color,2) FROM c
  LEFT(color,1) | RIGHT(color,1) | SUBSTRING(color,2)
  r | d | ed
  g | n | reen
a> SELECT REVERSE(color) FROM c
  REVERSE(color)
  der
  neerg
a> SELECT REPLACE(color,'r','R') FROM c
  REPLACE(color,'r','R')
  Red
  gReen
a> SELECT COALESCE(color, 'x'), IFNULL(tags, 'none') FROM c
  COALESCE(color, 'x') | IFNULL(tags, 'none')
  red | x,z
  green | 
a> SELECT IF(id=1, color, 'zz') FROM c
  IF(id=1, color, 'zz')
  red
  zz
a> SELECT CASE WHEN id=1 THEN color ELSE 'zz' END FROM c
  CASE WHEN id=1 THEN color ELSE 'zz' END
  red
  zz
a> SELECT COUNT(DISTINCT color), SUM(color), AVG(color) FROM c
  COUNT(DISTINCT color) | SUM(color) | AVG(color)
  2 | 3 | 1.5
a> SELECT GROUP_CONCAT(color) FROM c
  GROUP_CONCAT(color)
  red,green
a> SELECT DISTINCT color FROM c
  color
  red
  green
a> SELECT color FROM c UNION SELECT 'zz'
  color
  red
  green
  zz
a> SELECT JSON_OBJECT('c', color, 't', tags) FROM c
  JSON_OBJECT('c', color, 't', tags)
  {"c": "red", "t": "x,z"}
  {"c": "green", "t": ""}
a> SELECT HEX(color), MD5(color), QUOTE(color), ASCII(color) FROM c
  HEX(color) | MD5(color) | QUOTE(color) | ASCII(color)
  726564 | bda9643ac6601722a28f238714274da4 | 'red' | 114
  677265656E | 9f27410725ab8cc8854a2769c7a516b8 | 'green' | 103
a> SELECT CHAR_LENGTH(color), LOCATE('e', color), INSTR(color, 'e') FROM c
  CHAR_LENGTH(color) | LOCATE('e', color) | INSTR(color, 'e')
  3 | 2 | 2
  5 | 3 | 3
a> SELECT NULLIF(color, 'red') FROM c
  NULLIF(color, 'red')
  NULL
  green
a> SELECT FIELD(color, 'green', 'red'), ELT(color, 'one', 'two') FROM c
  FIELD(color, 'green', 'red') | ELT(color, 'one', 'two')
  2 | one
  1 | two
a> SELECT color REGEXP '^r', NOT color, -color, ABS(color) FROM c
  color REGEXP '^r' | NOT color | -color | ABS(color)
  1 | 0 | -1 | 1
  0 | 0 | -2 | 2
a> SELECT a.color FROM c a JOIN c b ON a.color = b.color
  color
  red
  green
a> SELECT * FROM c WHERE color BETWEEN 'a' AND 'h'
  id | color | tags
  2 | green | 
a> SELECT * FROM c WHERE color <> 'red'
  id | color | tags
  2 | green | 
a> SELECT * FROM c WHERE color < 'red'
  id | color | tags
  2 | green | 
a> SELECT * FROM c WHERE color = 'RED'
  id | color | tags
a> SELECT * FROM c WHERE color IS NOT NULL AND tags <> ''
  id | color | tags
  1 | red | x,z
a> SELECT ANY_VALUE(color) FROM c
  ANY_VALUE(color)
  red
  green
a> SELECT CONCAT_WS('-', id, color, tags) FROM c
  CONCAT_WS('-', id, color, tags)
  1-red-x,z
  2-green-
a> SELECT MAX(color), MIN(color), MAX(tags) FROM c
  MAX(color) | MIN(color) | MAX(tags)
  red | green | x,z
a> SELECT GREATEST(color, 'h') FROM c
  GREATEST(color, 'h')
  red
  h
