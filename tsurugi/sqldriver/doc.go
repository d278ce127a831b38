// Package sqldriver makes TsurugiDB one of the databases of package database/sql.
//
//	connector, err := sqldriver.NewConnector("tcp://localhost:12345", tsurugi.Config{})
//	…
//	db := sql.OpenDB(connector)
//	_, err = db.ExecContext(ctx, "INSERT INTO readings (id, level) VALUES (?, ?)", 1, 0.5)
//
// Programs that know a driver by its name register it first:
//
//	sql.Register("tsurugi", sqldriver.Driver{})
//	db, err := sql.Open("tsurugi", "tcp://user:password@localhost:12345?label=nightly")
//
// Placeholders are question marks, or names after a colon with arguments made by sql.Named. An argument that is a
// column's value (VALUES (?), c = ?) or compared with one (c < ?, c BETWEEN ? AND ?, c IN (?)) becomes one of the
// column's type, as far as it can: a time.Time goes into DATE, TIME, TIMESTAMP (what its own clock shows) and those
// with a time zone; a float64 or a string into DECIMAL; a string into numbers and, written as ISO 8601 has it, into
// times; a []byte that is UTF-8 into VARCHAR. For that a session asks once for each table. Elsewhere, and where several
// tables of a query have such a column of different types, the type is that of the argument: see tsurugi.ValueOf. So
// it is where a column's type was taken and does not do. An argument may be a tsurugi.Value.
//
// In sessions with a relay (tsurugi.Config.Relay, or relay=true in a data source name) a []byte or a string goes into
// BLOB and CLOB columns, and they come back as []byte and string, up to 64 MiB each.
//
// A statement outside a transaction has one of its own. Transactions are OCC; with sql.TxOptions.ReadOnly they are
// read-only. One that loses a conflict fails, and tsurugi.SafeToRetry tells that it may be tried again; database/sql
// does not do that.
//
// It shows what database/sql has words for. Whoever writes many rows is better off with package tsurugi, whose requests
// do not wait for each other.
package sqldriver
