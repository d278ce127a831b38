// Package tsurugitest is a TsurugiDB server for tests: it speaks the protocol of version 1.9 over TCP, keeps tables in
// memory and knows as much SQL as a program needs that writes rows and looks what became of them. It behaves as the
// real one where that matters to a client: a statement that fails aborts its transaction, an INSERT has at most 5,000
// rows, transactions in conflict are refused, there is no BOOLEAN, a session that is not renewed expires, messages of
// newer versions are refused.
//
//	server := tsurugitest.Start(t, tsurugitest.Config{})
//	s, err := tsurugi.Connect(ctx, server.Endpoint(), tsurugi.Config{})
//
// And it can be told to misbehave: Server.On is asked before each request and says what becomes of it. So a test has a
// server that loses the answer to a commit, refuses a transaction or hangs, just when it wants that.
//
//	server.On(tsurugitest.Once(tsurugitest.Commit, tsurugitest.DoAndDrop))
//
// The official clients for Java and Rust are run against it (test/clients/tsurugi), which holds it to the protocol. It
// is not a database: nothing is kept, statements run one at a time, and what it says of a plan is nothing.
package tsurugitest
