# Databases are namespaces.
a> CREATE DATABASE shop
ok
a> CREATE DATABASE shop
  ERROR 1007 (HY000): Can't create database 'shop'; database exists
a> CREATE DATABASE IF NOT EXISTS shop
ok
a> CREATE SCHEMA IF NOT EXISTS shop2 DEFAULT CHARACTER SET utf8mb4
ok
a> SHOW DATABASES
  Database
  information_schema
  shop
  shop2
  test
a> CREATE TABLE shop.t (v int) ENGINE=QUEUE
ok
a> INSERT INTO shop.t VALUES (1), (2)
ok, 2 rows
a> USE shop
ok
a> SHOW TABLES
  Tables_in_shop
  t
b> SELECT queue_wait('shop.t', 0)
  queue_wait('shop.t', 0)
  1
a> DROP DATABASE shop
ok
a> SHOW DATABASES
  Database
  information_schema
  shop2
  test
a> SELECT DATABASE()
  DATABASE()
  NULL
b> SELECT * FROM shop.t
  ERROR 1146 (42S02): Table 'shop.t' doesn't exist
b> SELECT queue_end()
  queue_end()
  1
a> DROP DATABASE shop
  ERROR 1008 (HY000): Can't drop database 'shop'; database doesn't exist
a> DROP DATABASE IF EXISTS shop
ok
a> CREATE DATABASE `bad/name`
  ERROR 1102 (42000): Incorrect database name 'bad/name': not a name: "bad/name/x": '/' is not allowed (letters, digits and - _ . ~ + % $ are)
a> DROP DATABASE information_schema
  ERROR 1044 (42000): unable to drop database: information_schema
a> DROP DATABASE mysql
  ERROR 1008 (HY000): Can't drop database 'mysql'; database doesn't exist
a> CREATE DATABASE mysql
  ERROR 1044 (42000): Access denied for user 'root' to database 'mysql': the server keeps that name for itself
a> USE test
ok
a> CREATE TABLE t (v int) ENGINE=QUEUE
ok
# test and default are one.
a> INSERT INTO `default`.t VALUES (1)
ok, 1 rows
a> SELECT * FROM test.t
  v
  1
a> SELECT queue_wait('default.t', 0)
  queue_wait('default.t', 0)
  1
a> SELECT * FROM test.t
  v
  1
a> SELECT * FROM t
  v
  1
a> DELETE FROM test.t
ok, 1 rows
a> SELECT queue_end()
  queue_end()
  1
a> SELECT COUNT(*) FROM t
  COUNT(*)
  0
