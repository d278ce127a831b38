package tsurugitest

import "sync/atomic"

// Stats is what a server has been asked for.
type Stats struct {
	Sessions   int64 // handshakes that were good
	Requests   int64 // for the SQL service
	Statements int64 // of the requests: statements, not queries
	Rows       int64 // that statements changed
	Commits    int64
	Waits      int64 // how often the server had nothing to read and waited: each is at least a round trip of somebody
	BytesIn    int64
	BytesOut   int64
}

type counters struct {
	sessions, requests, statements, rows, commits, waits, in, out atomic.Int64
}

func (c *counters) read() Stats {
	return Stats{
		Sessions: c.sessions.Load(), Requests: c.requests.Load(), Statements: c.statements.Load(), Rows: c.rows.Load(),
		Commits: c.commits.Load(), Waits: c.waits.Load(), BytesIn: c.in.Load(), BytesOut: c.out.Load(),
	}
}
