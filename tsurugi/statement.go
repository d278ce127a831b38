package tsurugi

import (
	"container/list"
	"context"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/hikyaku/hikyaku/tsurugi/internal/message"
	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// A Placeholder is a name of a prepared statement, where the text has it after a colon, with the type of its values.
type Placeholder = message.Placeholder

// A Statement is prepared, in one session, and may be used there by many goroutines, in any transaction.
type Statement struct {
	s       *Session
	handle  []byte
	query   bool
	sql     string
	holders []Placeholder
}

// Prepare lets the server analyse a statement once for many uses. Values are later given in the order of the
// placeholders.
func (s *Session) Prepare(ctx context.Context, sql string, placeholders ...Placeholder) (*Statement, error) {
	a, err := s.ask(ctx, &message.Request{Kind: message.Prepare, SQL: sql, Placeholders: placeholders})
	if err != nil {
		return nil, err
	}
	if a.Kind != message.PrepareAnswer {
		return nil, unexpected(a)
	}
	_, query, err := message.ParseHandle(a.Handle)
	if err != nil {
		return nil, err
	}
	return &Statement{s: s, handle: a.Handle, query: query != 0, sql: sql, holders: placeholders}, nil
}

// SQL is the statement's text.
func (st *Statement) SQL() string { return st.sql }

// Placeholders are the statement's, in the order in which values are given. The slice must not be changed.
func (st *Statement) Placeholders() []Placeholder { return st.holders }

// Query tells whether the statement has a result set.
func (st *Statement) Query() bool { return st.query }

// Close lets the server forget the statement. It does not wait.
func (st *Statement) Close() {
	st.s.tell(&message.Request{Kind: message.DisposeStatement, Stmt: st.handle})
}

// params gives the placeholders their values, and files with large objects their channels.
func (st *Statement) params(values []Value) (message.Params, []string, []wire.Blob, error) {
	none := message.Params{}
	if len(values) != len(st.holders) {
		return none, nil, nil, fmt.Errorf("%w: %d values for %d placeholders", ErrParams, len(values), len(st.holders))
	}
	var channels []string
	var blobs []wire.Blob
	for i, v := range values {
		switch v.Type() {
		case CharacterType:
			if !utf8.ValidString(v.Text()) {
				return none, nil, nil, fmt.Errorf("%w: the text for :%s is not UTF-8", ErrParams, st.holders[i].Name)
			}
		case BitType:
			return none, nil, nil, fmt.Errorf("%w: the server would store NULL instead of the BIT for :%s", ErrParams,
				st.holders[i].Name)
		case BlobType, ClobType:
			if _, ok := v.Reference(); ok {
				return none, nil, nil, fmt.Errorf("%w: the large object for :%s is the server's own; only one made "+
					"of a file or by PutObject can be sent", ErrParams, st.holders[i].Name)
			}
			blob := wire.Blob{Channel: "channel-" + strconv.Itoa(i), Path: v.Text()}
			if r, ok := v.Relayed(); ok {
				blob.Path, blob.Relayed = "", &wire.RelayReference{Storage: r.Provider, Object: r.Object, Tag: r.Tag}
			}
			channels = append(channels, blob.Channel)
			blobs = append(blobs, blob)
		}
	}
	return message.Params{Holders: st.holders, Values: values}, channels, blobs, nil
}

// A cache keeps the statements of a session that were used last.
type cache struct {
	mu    sync.Mutex
	size  int
	byKey map[string]*list.Element
	order list.List // of *Statement with its key; the one used last in front
}

type cached struct {
	key string
	st  *Statement
}

func newCache(size int) *cache { return &cache{size: size, byKey: make(map[string]*list.Element)} }

// Cached is Prepare, but the session keeps the statement and gives it again for the same text and placeholders; the one
// that was not used for longest is forgotten when there are more than Config.Statements. Such a statement must not be
// closed, and not be kept beyond the next call of Cached.
func (s *Session) Cached(ctx context.Context, sql string, placeholders ...Placeholder) (*Statement, error) {
	var key strings.Builder
	key.WriteString(sql)
	for _, p := range placeholders {
		key.WriteByte(0)
		key.WriteString(p.Name)
		key.WriteByte(byte(p.Type))
	}
	if st := s.cache.get(key.String()); st != nil {
		return st, nil
	}
	st, err := s.Prepare(ctx, sql, placeholders...)
	if err != nil {
		return nil, err
	}
	s.cache.put(key.String(), st)
	return st, nil
}

// Forget closes a statement that Cached gave, so that the next call of Cached prepares it anew: the server has dropped
// it (IsDissipated).
func (s *Session) Forget(st *Statement) {
	s.cache.remove(st)
	st.Close()
}

// remove takes a statement out, if it is there.
func (c *cache) remove(st *Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for e := c.order.Front(); e != nil; e = e.Next() {
		if kept := e.Value.(cached); kept.st == st {
			c.order.Remove(e)
			delete(c.byKey, kept.key)
			return
		}
	}
}

func (c *cache) get(key string) *Statement {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.byKey[key]
	if !ok {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(cached).st
}

func (c *cache) put(key string, st *Statement) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.byKey[key]; ok {
		e.Value.(cached).st.Close()
		c.order.Remove(e)
	}
	c.byKey[key] = c.order.PushFront(cached{key, st})
	for c.order.Len() > c.size {
		last := c.order.Remove(c.order.Back()).(cached)
		delete(c.byKey, last.key)
		last.st.Close()
	}
}
