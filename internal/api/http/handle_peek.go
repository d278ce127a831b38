package http

import (
	"errors"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	// peekStep and peekBytes bound what is looked at together, but for a single larger message: so much does a client
	// that reads slowly take.
	peekStep  = 50
	peekBytes = 256 << 10
	// peekAnswer is how many bytes an answer has unless the request says otherwise. It ends behind the message that
	// goes beyond.
	peekAnswer = 8 << 20
	// maxPeekAnswer is the most that a request may say.
	maxPeekAnswer = 1 << 30
)

// peeking is a peek under way.
type peeking struct {
	c     *call
	queue queue.Name
	r     queue.PeekRequest
	most  int   // messages
	bytes int64 // of the answer
	body  int   // of each body; 0: all
	shown int
	more  bool // there may be messages behind the last one that was shown
}

// peek shows messages without claiming them, page by page. An answer that has not all that was asked for says where to
// go on.
func peek(c *call) error {
	n, err := c.on(access.Take, "queue")
	if err != nil {
		return err
	}
	if err := c.only("where", "after", "max", "max_bytes", "ready", "no_body", "max_body"); err != nil {
		return err
	}
	p, err := c.peeking(n)
	if err != nil {
		return err
	}
	page, err := p.next()
	if err != nil {
		return err
	}
	h := c.w.Header()
	h.Set("Content-Type", jsonType)
	h.Set("Cache-Control", "no-store")
	if _, err := c.w.Write([]byte(`{"messages":[`)); err != nil {
		return err
	}
	for len(page) > 0 {
		if err := p.show(page); err != nil {
			return err
		}
		if !p.more || p.shown >= p.most || c.w.written >= p.bytes {
			break
		}
		page, err = p.next()
		if errors.Is(err, door.ErrBusy) {
			break // the client goes on from here when there is room again
		}
		if err != nil {
			return err
		}
	}
	end := "]}\n"
	if p.more && p.shown < p.most {
		end = `],"next":` + strconv.FormatUint(p.r.After, 10) + "}\n"
	}
	_, err = c.w.Write([]byte(end))
	return err
}

func (c *call) peeking(n queue.Name) (*peeking, error) {
	p := &peeking{c: c, queue: n, more: true}
	p.r.Bytes, p.r.Hold = peekBytes, c.room
	asked, err := c.number("max", MaxPeek)
	if err != nil {
		return nil, err
	}
	p.most = or(int(asked), 100)
	bytes, err := c.number("max_bytes", maxPeekAnswer)
	if err != nil {
		return nil, err
	}
	p.bytes = or(int64(bytes), peekAnswer)
	if p.r.After, err = c.number("after", 1<<63); err != nil {
		return nil, err
	}
	if p.r.Ready, err = c.flag("ready"); err != nil {
		return nil, err
	}
	if p.r.NoBody, err = c.flag("no_body"); err != nil {
		return nil, err
	}
	body, err := c.number("max_body", maxPeekAnswer)
	if err != nil {
		return nil, err
	}
	p.body = int(body)
	p.r.Where, err = c.d.store.Parse(c.ctx(), n, c.r.URL.Query().Get("where"))
	return p, err
}

// next gives back what the page before took, and reads the next one.
func (p *peeking) next() ([]queue.Peeked, error) {
	p.c.hold.End()
	p.r.Max = min(peekStep, p.most-p.shown)
	page, err := p.c.d.store.Peek(p.c.ctx(), p.queue, p.r)
	if err == nil {
		p.more = len(page) > 0 && page[len(page)-1].More
	}
	return page, err
}

// show writes the messages of a page, up to the bound.
func (p *peeking) show(page []queue.Peeked) error {
	for i := range page {
		if p.shown > 0 {
			if p.c.w.written >= p.bytes {
				p.more = true
				return nil
			}
			if _, err := p.c.w.Write([]byte{','}); err != nil {
				return err
			}
		}
		if err := p.one(&page[i]); err != nil {
			return err
		}
		p.shown++
		p.r.After = page[i].Sequence
	}
	return nil
}

func (p *peeking) one(m *queue.Peeked) error {
	whole := int64(0)
	shown := func(content Content) any {
		return Peeked{Sequence: m.Sequence, State: string(m.State), Attempts: m.Attempts, Until: timeOrNil(m.Until),
			Damage: m.Damage, BodyBytes: whole, Content: content}
	}
	if p.r.NoBody || m.Damage != "" {
		return p.c.encode(shown(bare(&m.Message)))
	}
	body := m.Body()
	if p.body > 0 && len(body) > p.body {
		whole, body = int64(len(body)), beginning(body, p.body)
	}
	return p.c.show(&m.Message, body, shown)
}

// bare shows a message without its body.
func bare(m *message.Message) Content {
	c := content(m, nil, false)
	c.Body = nil
	return c
}
