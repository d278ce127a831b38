# A lease for clients that hang, attempts, and dead letters.
a> SELECT @@queue_lease
  @@queue_lease
  0
a> SET queue_lease = 30
ok
a> SELECT @@queue_lease, @@session.queue_lease
  @@queue_lease | @@session.queue_lease
  30 | 30
a> SET queue_lease = -1
  ERROR 1231 (42000): Variable 'queue_lease' can't be set to the value of '-1'
a> SET queue_lease = 'x'
  ERROR 1231 (42000): Variable 'queue_lease' can't be set to the value of 'x'
a> SET queue_lease = 99999999999
  ERROR 1231 (42000): Variable 'queue_lease' can't be set to the value of '99999999999'
a> SET SESSION queue_lease = 0
ok
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
a> INSERT INTO t VALUES (1)
ok, 1 rows
a> SET queue_lease = 3600
ok
a> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a> SELECT * FROM t
  v
  1
a> SELECT queue_end()
  queue_end()
  1
b> SELECT @@queue_lease
  @@queue_lease
  0
a> INSERT INTO t VALUES (2)
ok, 1 rows
a> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
a x
b> SELECT * FROM t
  v
  2
b> DELETE FROM t
ok, 1 rows
# When the lease ends the row is ready again, with one attempt more; its owner is told.
b> INSERT INTO t VALUES (3)
ok, 1 rows
c> SET queue_lease = 1
ok
c> SELECT queue_wait('t', 0)
  queue_wait('t', 0)
  1
b> SELECT queue_wait('t', 5)
  queue_wait('t', 5)
  1
b> SELECT * FROM t
  v
  3
c> SELECT * FROM t
  v
c> SELECT queue_end()
  queue_end()
  1
c> SHOW WARNINGS
  Level | Code | Message
  Warning | 1205 | the row was no longer owned: its lease had ended, or its table was emptied, dropped or sought
b> SELECT queue_end()
  queue_end()
  1
b> SHOW WARNINGS
  Level | Code | Message
# With max_attempts, a client that hangs makes it a dead letter.
! queue mail 1
ok
! queue mail_dead
ok
b> INSERT INTO mail (body) VALUES ('poison')
ok, 1 rows
c> SELECT queue_wait('mail', 0)
  queue_wait('mail', 0)
  1
b> SELECT queue_wait('mail_dead', 5)
  queue_wait('mail_dead', 5)
  1
b> SELECT body FROM mail_dead
  body
  poison
b> SELECT queue_end()
  queue_end()
  1
c> SELECT queue_abort()
  queue_abort()
  1
c> SHOW WARNINGS
  Level | Code | Message
  Warning | 1205 | the row was no longer owned: its lease had ended, or its table was emptied, dropped or sought
