// Package rows is what the sinks into databases share: which value of a message goes into which column of which table,
// how many rows leave at once, and what a failure of the database says of each of them.
//
// A database is a Driver of a few methods: it opens sessions, describes a table, writes a Block of rows in one
// transaction, and judges its own errors. All else is here: fields are found and converted to their columns' types, so
// that a driver only ever encodes a Value of its column's Kind; a block that is refused is divided until the row stands
// alone that is to blame; sessions are kept, renewed and bounded.
//
//	sink, err := rows.New(driver, config.Rows, env)
//
// It knows no SQL dialect and imports no driver.
//
// # From a message to a row
//
// A column takes the field of its name of a body that is a JSON object, or else the attribute of its name;
// Config.Columns says otherwise. Fields inside of fields are not looked for: a jq transform brings them up, or a column
// of JSON takes the whole. Numbers reach integers and decimals without passing through a float; texts are read as
// numbers, truth values, UUIDs, dates and times where the column is one (RFC 3339, or with blanks; without a zone it is
// UTC, and a column without zones gets what UTC shows); bytes are base64. Nothing is rounded: what does not fit is
// refused, for its message alone, with the column, the value and the reason. Only the digits of a second that the
// column does not have are cut off.
//
// # What becomes of a batch
//
// A batch is one block in one transaction; rows that leave columns to their defaults are blocks of their own. Its
// messages are
//
//   - delivered when the transaction is committed;
//   - rejected when the row does not fit, or the database refuses it, with what that says. A database that names the
//     row saves work, else it is found by halves, each in a new transaction: refused rows cost about the logarithm of
//     the block in writes;
//   - tried again, and counted as a try, when the transaction's end is not known, the time of the request was over, or
//     sessions end while the row is written, which may be the row's doing. Where a row that comes again does no harm
//     (Once, Upsert), an unknown end is tried again at once;
//   - held, without counting a try, while no row can be written, whatever it is: the database is away, full, or refuses
//     us; the table is not there or does not go with the settings; transactions keep losing. No number of such messages
//     would be better off as dead letters, and the pipeline's bounds stop the sources meanwhile.
//
// Update and Delete find rows by a key and make none. What finds no row is delivered and counted, or rejected
// (Config.NoSuchRow).
//
// A table is described once, and again when the database says that it has changed, when a row is refused, and when a
// field appears that has no column.
//
// # Order
//
// Rows of one Send are written in their order; with Upsert, Update and Delete the last row of a key that has its
// columns is written for all of them. Sends at once are not ordered: who needs that sets
// the concurrency of the sink to 1.
package rows
