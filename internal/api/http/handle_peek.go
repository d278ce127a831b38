package http

import (
	"encoding/json"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// peek shows messages without claiming them, page by page.
func peek(c *call) error {
	n, err := c.on(access.Take, "queue")
	if err != nil {
		return err
	}
	if err := c.only("where", "after", "max", "ready", "no_body"); err != nil {
		return err
	}
	r, most, err := c.peekRequest(n)
	if err != nil {
		return err
	}
	page, err := c.d.store.Peek(c.ctx(), n, r)
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	lead := `{"messages":[`
	for shown := 0; ; {
		for i := range page {
			data, err := json.Marshal(c.peeked(n, &page[i], r.NoBody))
			if err != nil {
				return err
			}
			if _, err := c.w.Write(append([]byte(lead), data...)); err != nil {
				return err
			}
			lead = ","
			shown++
			r.After = page[i].Sequence
		}
		if len(page) < r.Max || shown >= most {
			break
		}
		r.Max = min(r.Max, most-shown)
		if page, err = c.d.store.Peek(c.ctx(), n, r); err != nil {
			return err
		}
	}
	if lead == "," {
		lead = ""
	}
	_, err = c.w.Write([]byte(lead + "]}\n"))
	return err
}

// peekStep is how many messages are looked at together.
const peekStep = 50

func (c *call) peekRequest(n queue.Name) (r queue.PeekRequest, most int, err error) {
	asked, err := c.number("max", MaxPeek)
	if err != nil {
		return r, 0, err
	}
	most = or(int(asked), 100)
	r.Max = min(most, peekStep)
	if r.After, err = c.number("after", 1<<63); err != nil {
		return r, 0, err
	}
	if r.Ready, err = c.flag("ready"); err != nil {
		return r, 0, err
	}
	if r.NoBody, err = c.flag("no_body"); err != nil {
		return r, 0, err
	}
	r.Where, err = c.d.store.Parse(n, c.r.URL.Query().Get("where"))
	return r, most, err
}

func (c *call) peeked(n queue.Name, p *queue.Peeked, noBody bool) Peeked {
	out := Peeked{
		Sequence: p.Sequence, State: string(p.State), Attempts: p.Attempts, Until: timeOrNil(p.Until), Damage: p.Damage,
	}
	m := &p.Message
	if noBody || p.Damage != "" {
		out.Content = content(m, nil, false)
		out.Body = nil
		return out
	}
	out.Content = content(m, p.Body(), m.Row != nil)
	return out
}
