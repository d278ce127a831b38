package http_test

import (
	"bytes"
	"testing"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestLargeDeadLettersAreReplayed(t *testing.T) {
	const letters = 100
	r := start(t, settings{})
	r.want(201, "PUT", "/default/queues/q", "")
	r.want(201, "PUT", "/default/queues/q_dead", "")
	letter := message.Message{Body: bytes.Repeat([]byte("x"), 1<<20), Death: &message.Death{Queue: "default/q"}}
	for range letters {
		if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "q_dead"},
			[]message.Message{letter}); err != nil {
			t.Fatal(err)
		}
	}
	var did door.Replayed
	r.want(200, "POST", "/default/queues/q_dead/replay", "").json(t, &did)
	if s := r.stats("q"); did.Moved != letters || s.Ready != letters {
		t.Errorf("%+v, then %+v", did, s)
	}
}
