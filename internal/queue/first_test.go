package queue

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
)

func TestFirstShowsWhatAClaimWouldGet(t *testing.T) {
	bubble(t, func(t *testing.T) {
		ctx := context.Background()
		s := open(t, newMemory())
		if _, _, err := s.First(ctx, From{Queue: news}); !errors.Is(err, ErrNotFound) {
			t.Errorf("of a queue that is not there: %v", err)
		}
		var ms []message.Message
		for i := range 3000 {
			m := message.Message{Body: fmt.Append(nil, i)}
			m.Attributes.Set("token", message.String(fmt.Sprint(i%1000)))
			ms = append(ms, m)
		}
		mustPut(t, s, news, ms...)
		want := func(cond string, body string) {
			t.Helper()
			f := From{Queue: news}
			if cond != "" {
				f = where(t, news, cond)[0]
			}
			p, ok, err := s.First(ctx, f)
			if err != nil || ok != (body != "") {
				t.Fatalf("%s: %v, %v", cond, ok, err)
			}
			if !ok {
				return
			}
			token, _ := p.Message.Attributes.Get("token")
			if p.Message.Body != nil || p.State != Ready || p.Message.Time.IsZero() || cond != "" &&
				"token = '"+token.Text()+"'" != cond {
				t.Errorf("%s: %+v", cond, p)
			}
			if c := mustClaim(t, s, ClaimRequest{From: []From{f}}); string(c[0].Message.Body) != body ||
				c[0].Sequence != p.Sequence || c[0].Attempt != 1 {
				t.Errorf("%s: shown is %d, a claim gets %s at %d", cond, p.Sequence, c[0].Message.Body, c[0].Sequence)
			}
		}
		want("token = '7'", "7")
		want("token = '7'", "1007")
		want("token = '7'", "2007")
		want("token = '7'", "") // all are claimed
		want("token = 'x'", "")
		want("", "0")
		want("token = '999'", "999")
		if _, err := s.CreateQueue(ctx, Name{DefaultNamespace, "empty"}, Definition{}); err != nil {
			t.Fatal(err)
		}
		if _, ok, err := s.First(ctx, From{Queue: Name{DefaultNamespace, "empty"}}); ok || err != nil {
			t.Errorf("of an empty queue: %v, %v", ok, err)
		}
		stopped, cancel := context.WithCancel(ctx)
		cancel()
		if _, _, err := s.First(stopped, From{Queue: news}); !errors.Is(err, context.Canceled) {
			t.Errorf("stopped: %v", err)
		}
	})
}
