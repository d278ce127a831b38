// Package databasetest starts real servers of PostgreSQL, MariaDB, NATS and S3, each in a folder of its own and on a
// free port of the loopback, for tests and experiments, and makes them misbehave: they are stopped, killed, frozen and
// brought back.
//
//	func TestMain(m *testing.M) {
//		s, err := databasetest.StartPostgres(context.Background())
//		…
//		code := m.Run()
//		if err := s.Close(); …
//	}
//
// A server is durable as one in service is: what it has acknowledged survives Kill. One that is not installed is an
// error that says what installs it.
//
// It knows no client of theirs: whether a server answers is seen from its greeting on the wire.
package databasetest
