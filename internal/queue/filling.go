package queue

import (
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// filling is claimed messages whose bodies are read.
type filling struct {
	picks  []picked
	addrs  []journal.Address
	claims []Claim
	bad    map[int]error // by index, what could not be read

	// Room for the usual claim: one message.
	addr [1]journal.Address
	one  [1]Claim
}

func newFilling(picks []picked) *filling {
	f := &filling{picks: picks}
	f.addrs, f.claims = f.addr[:], f.one[:]
	if n := len(picks); n != 1 {
		f.addrs, f.claims = make([]journal.Address, n), make([]Claim, n)
	}
	for i := range picks {
		f.addrs[i] = picks[i].place
	}
	return f
}

// add is told of a message that was read.
func (f *filling) add(i int, r journal.Record, err error) {
	p, c := &f.picks[i], &f.claims[i]
	if err == nil {
		c.Message, err = decodeMessage(p.head, r.Body)
	}
	if err != nil {
		if f.bad == nil {
			f.bad = map[int]error{}
		}
		f.bad[i] = err
		return
	}
	c.Token, c.Queue, c.From, c.Sequence = p.token, p.name, p.from, p.token.Sequence
	c.Attempt, c.Deadline, c.Message.Hops = int(p.attempt), p.until, p.hops
	c.Message.Row, c.Columns = p.layout.shape(c.Message.Row), p.columns
}

// wroteLater is an error of the first message that a later version wrote, of those that could not be read; nil: there
// is none.
func wroteLater(picks []picked, bad map[int]error) error {
	var format *journal.FormatError
	for i := range picks {
		if errors.As(bad[i], &format) {
			return fmt.Errorf("message %d of queue %s: %w", picks[i].token.Sequence, picks[i].name.Short(), bad[i])
		}
	}
	return nil
}
