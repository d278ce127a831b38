// Package short recognizes the few statements that a program spends its life sending to a queue table, so that the door
// can answer them without the SQL planner: the calls of owner mode, a plain SELECT of one table and an INSERT of
// literals.
//
//	SELECT queue_wait('orders:priority>=5', 'orders', 30)   also queue_end(), queue_abort(), queue_rowid(), queue_set_srcid(…)
//	SELECT * FROM orders                                     or columns by name; no WHERE, no LIMIT, nothing else
//	INSERT INTO orders (id, body) VALUES (1, 'a'), (?, ?)    literals and placeholders
//
// [Parse] says what such a statement is made of, or that it is none of them. It promises one thing: what it recognizes
// means exactly what the full SQL parser (github.com/dolthub/vitess/go/vt/sqlparser) makes of the same text. It is in
// no hurry to recognize: comments, expressions, functions in a VALUES list, character set introducers, joined string
// literals ('a' 'b'), words that are reserved and whatever else leaves a doubt are answered with false, and the
// statement goes the long way. So false says nothing about whether a statement is valid.
//
// The package knows no queues, tables or types. Whether the table exists, has the columns, takes the values, and
// whether a SELECT may be answered from the row that a connection owns, is the door's to decide. It does no I/O and
// keeps no state; all of it may be used by many goroutines at once.
//
//	s, ok := short.Parse(query, short.Mode{ANSIQuotes: ansi})
//	if !ok || s.Placeholders > 0 {
//		return engine.Query(query) // the long way; a text without a prepare step may hold no placeholder
//	}
//	switch s.Verb {
//	case short.Wait:
//		return seat.Wait(s.Args)
//	case short.Insert:
//		for i := range s.Len() {
//			row := s.Row(i) // one value for each of s.Columns, or for each column of the table
//			…
//		}
//	}
//
// A prepared statement is parsed once, when it is prepared; each execution reads the bound value number [Value.Index]
// where a value is a [Placeholder].
//
// Nothing is copied: names and values are parts of the query's text, and a string literal is decoded only when it is
// asked for ([Value.Text], [Value.Append]) and only when it holds an escape. A multi-row INSERT of megabytes is read
// once from front to end.
//
// The query is taken to be UTF-8, or at least an encoding in which no character has an ASCII byte inside it, as the
// full parser takes it. String literals may hold any bytes, which are kept as they are.
package short
