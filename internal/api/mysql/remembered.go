package mysql

import (
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// remembered keeps parsed conditions: workers ask with the same few all day. It is bounded, and emptied when it is
// full.
type remembered struct {
	mu    sync.Mutex
	known map[asked]*condition.Expr
}

// asked is a condition's text as it was said of a queue with that definition.
type asked struct {
	queue   queue.Name
	version uint64
	text    string
}

// What is remembered is bounded in number, and in size: a condition may be as long as a statement.
const (
	maxRemembered     = 1024
	maxRememberedText = 4 << 10
)

func (r *remembered) get(n queue.Name, version uint64, text string,
	parse func() (*condition.Expr, error)) (*condition.Expr, error) {
	k := asked{n, version, text}
	r.mu.Lock()
	e, ok := r.known[k]
	r.mu.Unlock()
	if ok {
		return e, nil
	}
	e, err := parse()
	if err != nil || len(text) > maxRememberedText {
		return e, err
	}
	k.text = strings.Clone(text) // not the statement that it is part of
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil || len(r.known) >= maxRemembered {
		r.known = make(map[asked]*condition.Expr)
	}
	r.known[k] = e
	return e, nil
}
