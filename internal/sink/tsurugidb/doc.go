// Package tsurugidb is a sink that writes messages into a table of TsurugiDB, a row each.
//
//	sinks:
//	  readings:
//	    type: tsurugidb
//	    inputs: [lines]
//	    endpoint: tcp://localhost:12345
//	    table: log_events_10
//	    transaction_type: occ
//	    credential: { type: user_password, user: tsurugi, password: "${TSURUGI_PASSWORD:-password}" }
//
// A batch is one transaction. Its rows leave as INSERTs of many rows, prepared, all of them on the line before the
// first is answered: 1,000 rows of ten columns are nine statements, if batches of that size come one after the other,
// and wait for the server three times, when the transaction begins, when the statements are done and when it commits.
// Where a server refuses long statements, shorter ones are sent, down to a row each, pipelined all the same.
//
// A row that the server refuses aborts its transaction. The sink then does it once more, with the rows of the statement
// that failed one by one, to know which row it was; that one becomes a dead letter with the server's own words, the
// others are written. Conflicts are done again, as all is that certainly was not committed. A commit whose answer was
// lost is done again, too: with id_column nothing is there twice after that.
//
// What package rows says of tables, columns and fields holds here. TsurugiDB does not tell whether a column has a
// default. A column whose field is missing is left out of the statement, so that it takes its default or null; with
// missing: null it takes null, which is quicker where rows have different fields, and with missing: reject the message
// is refused unless the column takes no null. A column of the key is never left out. BLOB and CLOB are files on the
// server's machine and cannot be written.
package tsurugidb
