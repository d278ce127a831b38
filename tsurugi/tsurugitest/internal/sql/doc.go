// Package sql reads the little SQL that the server for tests understands: CREATE and DROP TABLE, INSERT with OR REPLACE
// and OR IGNORE, SELECT from one table, UPDATE and DELETE. What it does not know it refuses, as the real compiler does
// with a position. It is not a place to look for what TsurugiDB can do.
package sql
