//go:build linux

package crash

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const limits = "limits: { message_bytes: 1000 }\n"

var tooLong = strings.Repeat("x", 2000)

func TestAMessageOverTheLimitIsRefusedAtTheDoorAndNothingElse(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, strings.Replace(preamble(data), "127.0.0.1:0", "127.0.0.1:0, max_body_bytes: 10000", 1)+limits)
	for _, size := range []int{2000, 20_000} {
		_, err := s.client.Put(t.Context(), queueName("news"), httpdoor.NewMessage([]byte(strings.Repeat("x", size))))
		var p *httpdoor.Problem
		if !errors.As(err, &p) || p.Status != 413 || p.Type != "urn:hikyaku:too-large" {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
	_, err := s.client.Put(t.Context(), queueName("news"), httpdoor.NewMessage([]byte("small")),
		httpdoor.NewMessage([]byte(tooLong)))
	if !errors.Is(err, queue.ErrTooLarge) {
		t.Errorf("a group with one that is too large: %v", err)
	}
	s.put(t, "news", "small")
	if st := s.stats(t, "news"); st.Messages != 1 {
		t.Errorf("%+v", st)
	}
	s.stop(t)
	checkJournal(t, data)
}

// TestALineOverTheLimitIsADeadLetterAndHoldsUpNoOther: a dead letter is kept whatever its size, and can be looked at.
func TestALineOverTheLimitIsADeadLetterAndHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	data, in := filepath.Join(dir, "data"), filepath.Join(dir, "in.log")
	write(t, in, "one\n"+tooLong+"\ntwo\n")
	pipeline := "sources: { lines: { type: file, include: ['" + in + "'] } }\nsinks: { keep: { type: queue, inputs: " +
		"[lines], queue: news } }\n"
	s := serve(t, preamble(data)+limits+pipeline)
	until(t, says("the others are in the queue, and the one among the dead letters"), func() bool {
		return arrived(t, s, "news") == 2 && arrived(t, s, "keep_dead") == 1
	})
	dead, err := s.client.Peek(t.Context(), queueName("keep_dead"), httpdoor.PeekRequest{})
	if err != nil || len(dead) != 1 || dead[0].Death == nil ||
		!strings.Contains(dead[0].Death.Reason, "2000 bytes, the limit is 1000") {
		t.Errorf("%+v %v", dead, err)
	} else if body, err := dead[0].Bytes(); err != nil || string(body) != tooLong {
		t.Errorf("the dead letter has another body: %d bytes, %v", len(body), err)
	}
	s.stop(t)
	checkJournal(t, data)
}
