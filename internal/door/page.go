package door

import (
	"context"
	"encoding/json"
)

// Page gathers the entries of one answer of a list: as many as are asked for, while their bytes are within Most and
// there is room for each in an account. It is for one goroutine.
type Page struct {
	Hold *Hold // of the answer; whoever writes it ends it
	// Most is what the entries may have, in bytes. The first one is taken whatever it has: else nobody would see it.
	Most int64
	// Cost is what an entry takes until it is written, in its own length: what it is made of, and what is made of it.
	Cost int64

	n     int64 // bytes of the entries so far
	there bool  // the first one is
}

// Room takes room for one more entry of size bytes, before it is made. The first one waits for its room; one behind it
// does not, as its request holds room already: the page ends before it. More than there can ever be is made alone.
// false: the next page begins with this entry. The error is that of Hold.Take.
func (p *Page) Room(ctx context.Context, size int64) (bool, error) {
	cost := min(p.Cost*size, p.Hold.Of.Limit())
	if !p.there {
		if err := p.Hold.Take(ctx, cost); err != nil {
			return false, err
		}
	} else if p.n+size > p.Most || !p.Hold.Try(cost) {
		return false, nil
	}
	p.n, p.there = p.n+size, true
	return true, nil
}

// unseenBytes is what the first entry of a page is taken for before it is made.
const unseenBytes = 16 << 10

// Entries makes the entries of a page as JSON: of the things of a list in their order, as many as there is room for.
// entry makes one; nil is left out. next is the first thing that the page ends before, len(all) at the end of the list.
func Entries[T any](ctx context.Context, p *Page, all []T, entry func(T) (any, error)) (texts []json.RawMessage,
	next int, err error) {
	texts = []json.RawMessage{}
	for i, x := range all {
		if i == 0 { // nothing is made before there is room for one
			if _, err := p.Room(ctx, unseenBytes); err != nil {
				return nil, 0, err
			}
		}
		made, err := entry(x)
		if err != nil {
			return nil, 0, err
		}
		if made == nil {
			continue
		}
		text, err := json.Marshal(made)
		if err != nil {
			return nil, 0, err
		}
		size := int64(len(text))
		switch {
		case i == 0 && size > unseenBytes:
			p.Hold.Owe(p.Cost * (size - unseenBytes))
		case i > 0:
			if ok, err := p.Room(ctx, size); err != nil {
				return nil, 0, err
			} else if !ok {
				return texts, i, nil
			}
		}
		texts = append(texts, text)
	}
	return texts, len(all), nil
}
