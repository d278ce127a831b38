package postgres

import (
	"context"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/rows"
)

const (
	settlePatience = 10 * time.Second // for a server that comes back
	latePatience   = time.Second      // when whoever waits for us has given up
	settlePause    = 50 * time.Millisecond
)

// settle finds out what became of a transaction whose end was asked for when the connection was lost. It returns nil
// when it was committed; else an error that says whether it was undone, or that nobody knows.
func (s *session) settle(ctx context.Context, xid string, lost error) error {
	patience := settlePatience
	if ctx.Err() != nil {
		patience = latePatience
	}
	within, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(latePatience, cancel) })
	defer stop()
	// A server that we have left alone may still be about to commit, when it gets what it waits for.
	_ = s.cancelQuery(within)
	for within.Err() == nil {
		status, life, err := s.driver.status(within, xid)
		// A server that has crashed may have given the number again, unless somebody has seen it: then it says nothing
		// of ours, but that it was undone.
		same := life == s.life
		switch {
		// the number is one that it has yet to give: it has crashed, and nothing of ours was left
		case isState(err, "22023"):
			return s.fail(rows.Fault{Class: rows.Away, Row: -1}, lost)
		case err != nil: // it is not there again
		case status == "committed" && same:
			return nil
		case status == "aborted", status == "in progress" && !same:
			return s.fail(rows.Fault{Class: rows.Away, Row: -1}, lost)
		case status != "in progress":
			return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, lost)
		}
		select {
		case <-within.Done():
		case <-time.After(settlePause): // nobody tells when it is there again, or has ended the transaction
		}
	}
	return s.fail(rows.Fault{Class: rows.Unknown, Row: -1}, fmt.Errorf("the answer to the commit was lost: %w", lost))
}

// lifeQuery tells apart the lives of a server: it began, or its statistics did, which a crash ends.
const lifeQuery = "SELECT pg_catalog.pg_postmaster_start_time()::text || ' ' || COALESCE(stats_reset::text, '') FROM " +
	"pg_catalog.pg_stat_bgwriter"

// status asks on a new connection what became of a transaction: "committed", "aborted", "in progress", or "" when it
// was too long ago; and in which life of the server.
func (d *driver) status(ctx context.Context, xid string) (status, life string, err error) {
	w, err := dial(ctx, d.config)
	if err != nil {
		return "", "", err
	}
	defer w.close()
	answer, err := w.ask(ctx, "SELECT pg_catalog.txid_status($1::int8), ("+lifeQuery+")", xid)
	if err != nil || len(answer) == 0 {
		return "", "", err
	}
	return answer[0][0], answer[0][1], nil
}
