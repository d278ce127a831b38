// Package tsurugi is a client for TsurugiDB, in Go alone: it speaks the server's own protocol over TCP.
//
//	s, err := tsurugi.Connect(ctx, "tcp://localhost:12345", tsurugi.Config{})
//	…
//	defer s.Close(ctx)
//	insert, err := s.Prepare(ctx, `INSERT INTO readings (id, level) VALUES (:id, :level)`,
//		tsurugi.Placeholder{Name: "id", Type: tsurugi.Int8Type}, tsurugi.Placeholder{Name: "level", Type: tsurugi.Float8Type})
//	…
//	tx, err := s.Begin(ctx, tsurugi.TxOptions{})
//	…
//	defer tx.Rollback(ctx) // after a commit this does nothing
//	for id, level := range levels {
//		if _, err := tx.Send(ctx, insert, tsurugi.Int8(int64(id)), tsurugi.Float8(level)); err != nil {
//			return err
//		}
//	}
//	return tx.Commit(ctx)
//
// # Requests are pipelined
//
// Tx.Send does not wait for the answer: many statements are on their way at a time, also of several transactions of one
// session, and those that come while the line is busy leave together. The answers can be waited for one by one, with
// Pending.Wait, or not at all: Commit waits for what the transaction still expects and fails with the first error, in
// the order of sending.
//
// The quickest way to write rows is a statement of many rows; NewInsert makes its text and its placeholders. A server
// takes 5,000 rows in one.
//
// # Transactions
//
// Every statement needs a transaction. A statement that fails ends it: what is sent afterwards fails, too, and so does
// Commit. OCC, the default, lets transactions run beside each other and refuses, at the latest when it commits, the one
// that would not be serializable; LTX announces the tables that it writes and then is not refused; ReadOnly sees a
// snapshot.
//
// # Errors
//
// What the server says is an *Error, with its Code. SafeToRetry tells whether nothing was changed and the same work may
// succeed in a new transaction, on a new session if the old one is gone; Retry and Pool.Do use it. A commit whose
// answer was lost is a *CommitUnknownError: only a look at the data can tell.
//
// # Sessions and pools
//
// A Session is one connection and may be used by many goroutines. It renews its life by itself and finds out that way
// whether the server still answers; once it has ended (Done, Err) it stays so. A Pool keeps sessions, drops those that
// have ended and opens others.
//
// Rows that were received and not read are kept up to Config.ResultBuffer bytes, then the session stops reading. So
// read a large result set, or close it, before waiting for another answer of the same session.
//
// # Large objects
//
// BLOB and CLOB values are not in a result set, and go one of two ways, which a session keeps to. With Config.Relay
// they go over the network, through a service beside the server that TsurugiDB has since 1.11: Session.PutObject
// uploads what an io.Reader has, Tx.OpenObject reads. Without it they are files of the server's machine, BlobFile,
// ClobFile and Tx.ObjectFile, if the server allows that (privileged mode).
//
// # What it is not for
//
// It speaks neither the IPC endpoint (shared memory) nor TLS, which the server has not; it has no call for dump and
// load files. A driver for database/sql is in package sqldriver; a server for tests in package tsurugitest.
package tsurugi
