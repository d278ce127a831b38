# A queue without columns is a table, too.
! queue mail
ok
a> SHOW TABLES
  Tables_in_test
  mail
a> DESCRIBE mail
  Field | Type | Null | Key | Default | Extra
  id | char(36) | YES |  | NULL | 
  body | longblob | NO |  | NULL | 
  attributes | json | YES |  | NULL | 
  key | varchar(1024) | YES |  | NULL | 
  enqueued_at | datetime(6) | YES |  | NULL | 
  attempts | int unsigned | NO |  | 0 | 
a> SELECT * FROM mail
  id | body | attributes | key | enqueued_at | attempts
a> INSERT INTO mail (body) VALUES ('hello')
ok, 1 rows
a> INSERT INTO mail (body, attributes, `key`) VALUES ('two', '{"lang": "ja", "priority": 3, "ok": true, "ratio": 0.5, "none": null}', 'k1')
ok, 1 rows
a> INSERT INTO mail (body, attributes) VALUES (0x00ff, NULL)
ok, 1 rows
a> SELECT body, attributes, `key`, attempts, length(id), enqueued_at > '2020-01-01' FROM mail
  body | attributes | key | attempts | length(id) | enqueued_at > '2020-01-01'
  hello | {} | NULL | 0 | 36 | 1
  two | {"ok": true, "lang": "ja", "none": null, "ratio": 0.5, "priority": 3} | k1 | 0 | 36 | 1
  \x00\xff | {} | NULL | 0 | 36 | 1
a> SELECT queue_wait('mail:lang = "ja"', 0)
  queue_wait('mail:lang = "ja"', 0)
  1
a> SELECT body, attributes, `key`, attempts FROM mail
  body | attributes | key | attempts
  two | {"ok": true, "lang": "ja", "none": null, "ratio": 0.5, "priority": 3} | k1 | 1
a> SELECT queue_rowid()
  queue_rowid()
  2
a> SELECT queue_abort()
  queue_abort()
  1
a> SELECT body, attempts FROM mail
  body | attempts
  hello | 0
  two | 1
  \x00\xff | 0
a> SELECT queue_wait('mail:priority >= 3 and key = "k1"', 0)
  queue_wait('mail:priority >= 3 and key = "k1"', 0)
  1
a> SELECT body, attempts FROM mail
  body | attempts
  two | 2
a> SELECT queue_end()
  queue_end()
  1
a> INSERT INTO mail (id, body) VALUES ('x', 'y')
  ERROR 1366 (HY000): Incorrect value for column 'id' of 'mail': the queue makes it: leave it out
a> INSERT INTO mail (body, enqueued_at) VALUES ('y', '2020-01-01')
  ERROR 1366 (HY000): Incorrect value for column 'enqueued_at' of 'mail': the queue makes it: leave it out
a> INSERT INTO mail (body, attempts) VALUES ('y', 5)
  ERROR 1366 (HY000): Incorrect value for column 'attempts' of 'mail': the queue makes it: leave it out
a> INSERT INTO mail (body, attributes) VALUES ('y', 'no json')
  ERROR 3140 (22032): Invalid JSON text: invalid character 'o' in literal null (expecting 'u')
a> INSERT INTO mail (body, attributes) VALUES ('y', '[1, 2]')
  ERROR 1366 (HY000): Incorrect value for column 'attributes' of 'mail': attributes are a JSON object
a> INSERT INTO mail (body, attributes) VALUES ('y', '{"deep": {"er": 1}}')
  ERROR 1366 (HY000): Incorrect value for column 'attributes' of 'mail': attribute "deep": an object cannot be a value, but for {"base64":"…"}, {"time":"…"} and {"decimal":"…"}
a> INSERT INTO mail (attributes) VALUES ('{}')
  ERROR 1364 (HY000): Field 'body' doesn't have a default value
a> INSERT INTO mail VALUES (NULL, 'all', '{}', NULL, NULL, 0)
ok, 1 rows
a> SELECT COUNT(*) FROM mail
  COUNT(*)
  3
a> DELETE FROM mail WHERE body = 'all'
ok, 1 rows
a> ALTER TABLE mail ADD COLUMN v int
  ERROR 1178 (42000): 'mail' is a queue without columns: what it shows as a table cannot be altered (create a table with columns beside it)
a> SELECT JSON_EXTRACT(attributes, '$.lang') FROM mail
  JSON_EXTRACT(attributes, '$.lang')
  NULL
  NULL
a> SELECT body FROM mail WHERE attributes IS NULL
  body
# What comes through another door.
! put mail first {"n": 1}
ok
a> SELECT body, attributes FROM mail WHERE body = 'first'
  body | attributes
  first | {"n": 1}
a> SELECT queue_wait('mail:n=1', 0)
  queue_wait('mail:n=1', 0)
  1
a> SELECT body FROM mail
  body
  first
a> SELECT queue_end()
  queue_end()
  1
# And what goes out through it.
a> TRUNCATE mail
ok, 0 rows
a> INSERT INTO mail (body, attributes, `key`) VALUES ('out', '{"n": 2}', 'k2')
ok, 1 rows
! take mail
  out {"n":2} key "k2"
a> SELECT * FROM mail
  id | body | attributes | key | enqueued_at | attempts
# A table with columns is the same queue: other doors see objects.
a> CREATE TABLE jobs (id int NOT NULL, what varchar(10), at datetime, price decimal(5,2), raw varbinary(4)) ENGINE=QUEUE
ok
a> INSERT INTO jobs VALUES (1, 'one', '2026-01-02 03:04:05', 1.5, 0x00ff)
ok, 1 rows
! take jobs
  {"id":1,"what":"one","at":"2026-01-02T03:04:05Z","price":1.50,"raw":"AP8="} {} key ""
! put jobs {"id": 2, "what": "two", "price": "2.25", "raw": "AP8="}
ok
! put jobs {"what": "no id"}
  message does not fit the queue's columns: queue jobs, message 1 of 1: column "id" is missing from the row; it is not null and has no default
a> SELECT id, what, at, price, hex(raw) FROM jobs
  id | what | at | price | hex(raw)
  2 | two | NULL | 2.25 | 00FF
a> SELECT queue_wait('jobs:id=2', 0)
  queue_wait('jobs:id=2', 0)
  1
a> SELECT id, what FROM jobs
  id | what
  2 | two
a> SELECT queue_end()
  queue_end()
  1
# Attempts, and dead letters when they are used up.
! queue tries 2
ok
! queue tries_dead
ok
a> INSERT INTO tries (body) VALUES ('again')
ok, 1 rows
a> SELECT queue_wait('tries', 0), queue_abort()
  queue_wait('tries', 0) | queue_abort()
  1 | 1
a> SELECT attempts FROM tries
  attempts
  1
a> SELECT queue_wait('tries', 0), queue_abort()
  queue_wait('tries', 0) | queue_abort()
  1 | 1
a> SELECT queue_wait('tries_dead', 5)
  queue_wait('tries_dead', 5)
  1
a> SELECT body FROM tries_dead
  body
  again
a> SELECT queue_end()
  queue_end()
  1
a> SELECT COUNT(*) FROM tries
  COUNT(*)
  0
a> SELECT queue_wait('tries', 0), queue_end()
  queue_wait('tries', 0) | queue_end()
  0 | 1
