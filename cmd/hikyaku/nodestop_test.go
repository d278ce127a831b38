package main

import (
	"context"
	"database/sql"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAnOwnerThatStopsAnswersUntilItHasGivenTheShardAway(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("a")
	nodes["a"].keep(t, "before")
	// Clients that would hold the doors open: a session that is idle within a transaction, a request that is not whole,
	// and a reader that waits.
	db, err := sql.Open("mysql", "root@tcp("+nodes["a"].mysql+")/default")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tx.Rollback() }() // its connection is gone
	half, err := new(net.Dialer).DialContext(t.Context(), "tcp", nodes["b"].http)
	if err != nil {
		t.Fatal(err)
	}
	defer half.Close()
	if _, err := half.Write([]byte("POST /default/queues/jobs/messages HTTP/1.1\r\nHost: b\r\n" +
		"Content-Type: text/plain\r\nContent-Length: 100\r\n\r\nhalf")); err != nil {
		t.Fatal(err)
	}
	waits, enough := context.WithCancel(t.Context())
	var reader sync.WaitGroup
	defer reader.Wait()
	defer enough()
	reader.Go(func() {
		req, err := http.NewRequestWithContext(waits, http.MethodPost, "http://"+nodes["c"].http+
			"/default/queues/empty/claim", strings.NewReader(`{"wait":"60s"}`))
		if err != nil {
			t.Error(err)
			return
		}
		req.Header.Set("Content-Type", "application/json")
		if resp, err := http.DefaultClient.Do(req); err == nil { // else the owner has ended it
			_ = resp.Body.Close()
		}
	})
	var during error
	log.leaving = func() { during = nodes["c"].put(t, "during") }
	nodes["a"].stop()
	waittest.Until(t, "another node owns the shard", func() bool { return log.Owner().Node != "a" })
	if during != nil {
		t.Errorf("it has the shard, and its doors answer %v", during)
	}
	nodes["b"].keep(t, "after")
	err = <-nodes["a"].ended
	nodes["a"].ended <- err
	if err != nil {
		t.Error(err)
	}
	if got := nodes["b"].take(t); !slices.Equal(got, []string{"before", "during", "after"}) {
		t.Errorf("%q", got)
	}
}
