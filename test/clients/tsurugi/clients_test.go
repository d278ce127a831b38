package clients_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

func TestEveryClientWorks(t *testing.T) {
	t.Parallel()
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			// Small chunks from several writers, as of a server with many threads.
			open := tsurugitest.Start(t, tsurugitest.Config{Chunk: 4 << 10, Writers: 3})
			locked := tsurugitest.Start(t, tsurugitest.Config{Users: map[string]string{"tsurugi": `password`},
				Tokens: map[string]string{"token-1": "tsurugi"}})
			relay := tsurugitest.Start(t, tsurugitest.Config{Relay: true})
			c.Check(t, c.expected(), "TSURUGI_ENDPOINT="+open.Endpoint(), "TSURUGI_LOCKED_ENDPOINT="+locked.Endpoint(),
				"TSURUGI_RELAY_ENDPOINT="+relay.Endpoint(), "LC_ALL=C.UTF-8")
		})
	}
}
