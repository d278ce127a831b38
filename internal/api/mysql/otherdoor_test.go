package mysql

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// otherDoor does what another door would: it works on the store alone.
func (r *rig) otherDoor(do string) string {
	words := strings.SplitN(do, " ", 3)
	n, rest := queue.Name{Namespace: "test", Name: words[1]}, ""
	if len(words) > 2 {
		rest = words[2]
	}
	switch words[0] {
	case "queue":
		attempts, _ := strconv.Atoi(rest)
		_, err := r.store.CreateQueue(r.t.Context(), n, queue.Definition{MaxAttempts: attempts})
		return outcome(err)
	case "put":
		m := message.Message{Body: []byte(rest)}
		if body, attributes, ok := strings.Cut(rest, " {"); ok && !strings.HasPrefix(rest, "{") {
			m.Body = []byte(body)
			if err := m.Attributes.UnmarshalJSON([]byte("{" + attributes)); err != nil {
				return outcome(err)
			}
		}
		_, err := r.store.Put(r.t.Context(), n, []message.Message{m})
		return outcome(err)
	case "take":
		claims, err := r.store.Claim(r.t.Context(), queue.ClaimRequest{From: []queue.From{{Queue: n}}})
		if err != nil || len(claims) == 0 {
			return outcome(err)
		}
		c := claims[0]
		attributes, err := c.Message.Attributes.MarshalJSON()
		if err != nil {
			return outcome(err)
		}
		if _, err := r.store.Settle(r.t.Context(), []queue.Settlement{{Token: c.Token, Kind: queue.Done}}); err != nil {
			return outcome(err)
		}
		return fmt.Sprintf("  %s %s key %q\n", c.Body(), attributes, c.Message.Key)
	}
	return "  what?\n"
}

func outcome(err error) string {
	if err != nil {
		return "  " + err.Error() + "\n"
	}
	return "ok\n"
}
