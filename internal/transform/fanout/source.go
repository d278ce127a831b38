package fanout

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/codec"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
)

// item is one of the many.
type item struct {
	json json.RawMessage
	row  fetch.Row // of an object; nil for anything else
}

// source brings items, a page at a time.
type source interface {
	// pages gives the items behind a cursor to take, until that returns an error, which is then its own as it is. after
	// is the JSON of a key, or nil for the beginning.
	pages(ctx context.Context, m *message.Message, after json.RawMessage, take func(items []item) error) error
	// resumes tells whether pages can go on in the middle: after is heeded.
	resumes() bool
	start(ctx context.Context) error
	close() error
}

func newSource(c *Config, env component.Env) (source, error) {
	switch c.Source.Type {
	case "sql":
		return newSQL(c)
	case "http":
		return newHTTP(c, env)
	case "body":
		return &bodySource{config: c, path: split(c.Source.Items)}, nil
	}
	return nil, component.Setting("source.type", fmt.Errorf("%q is none of sql, http and body", c.Source.Type))
}

func split(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// questions gives parameters their values.
type questions struct {
	config *Config
	names  []string // of the message
	fields *codec.Fields
	from   json.RawMessage // Config.Start
	after  bool
}

func newQuestions(c *Config, all []string) (questions, error) {
	q := questions{config: c}
	for _, name := range all {
		switch name {
		case nameAfter:
			q.after = true
		case nameLimit:
		default:
			q.names = append(q.names, name)
		}
	}
	q.fields = codec.NewFields(q.names...)
	var err error
	q.from, err = c.startValue()
	return q, err
}

func (q *questions) params(m *message.Message, after json.RawMessage) fetch.Params {
	p := fetch.Params{nameLimit: {message.Int(int64(q.config.Page))}}
	for i, v := range q.fields.Read(m) {
		p[q.names[i]] = []message.Value{v}
	}
	if after == nil {
		after = q.from
	}
	if v, ok := fetch.Scalar(after); ok {
		p[nameAfter] = []message.Value{v}
	}
	return p
}

// cursor is the key of the last item of a page.
func (c *Config) cursor(items []item) (json.RawMessage, error) {
	last := items[len(items)-1]
	text, ok := last.row.Get(c.Key)
	if !ok {
		return nil, fmt.Errorf("an item has no %s; it has %s", c.Key, last.row.Names())
	}
	return text, nil
}

// sqlSource asks a database.
type sqlSource struct {
	questions
	db    *fetch.DB
	limit bool
}

func newSQL(c *Config) (source, error) {
	db, err := fetch.NewSQL(c.Source.SQL, "source.")
	if err != nil {
		return nil, err
	}
	if err := c.checkPages(db.Uses, "source.query", func(name string) string { return ":" + name }); err != nil {
		return nil, err
	}
	s := &sqlSource{db: db, limit: db.Uses(nameLimit)}
	all, at := db.Names()
	if s.questions, err = newQuestions(c, all); err != nil {
		return nil, err
	}
	if s.after && !strings.Contains(strings.ToLower(db.Query()), "order by") {
		for i, name := range all {
			if name == nameAfter {
				return nil, &component.SettingError{Setting: "source.query", Offset: at[i],
					Err:  errors.New("asks for what is behind :after, in no order"),
					Hint: "add order by " + c.Key}
			}
		}
	}
	return s, nil
}

func (s *sqlSource) resumes() bool                   { return s.after }
func (s *sqlSource) start(ctx context.Context) error { return s.db.Start(ctx) }
func (s *sqlSource) close() error                    { return s.db.Close() }

func (s *sqlSource) pages(ctx context.Context, m *message.Message, after json.RawMessage,
	take func([]item) error) error {
	for {
		items, more, err := s.page(ctx, m, after, take)
		if err != nil || len(items) == 0 {
			return err
		}
		if err := take(items); err != nil || !more {
			return err
		}
		if after, err = s.config.cursor(items); err != nil {
			return err
		}
	}
}

// page asks one question. Without a limit its answer may be any number of pages; then all but the last are taken at
// once.
func (s *sqlSource) page(ctx context.Context, m *message.Message, after json.RawMessage,
	take func([]item) error) (items []item, more bool, err error) {
	watch := newWatch(ctx, s.config.Timeout)
	defer watch.stop()
	err = s.db.Ask(watch.ctx, s.params(m, after), func(row fetch.Row) error {
		items = append(items, item{row.AppendJSON(nil), row})
		if s.limit || len(items) < s.config.Page {
			return nil
		}
		watch.pause() // the pipeline may be full: that is not the source's fault
		err := take(items)
		items = nil
		watch.resume()
		return err
	})
	return items, s.limit && len(items) >= s.config.Page, watch.explain(err)
}

// watch ends a context when a source takes too long. It can be stopped while somebody else works.
type watch struct {
	ctx    context.Context
	outer  context.Context
	cancel context.CancelCauseFunc
	timer  *time.Timer
	limit  time.Duration
}

var errSlow = errors.New("no answer in time")

func newWatch(ctx context.Context, limit time.Duration) *watch {
	w := &watch{outer: ctx, limit: limit}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	w.timer = time.AfterFunc(limit, func() { w.cancel(errSlow) })
	return w
}

func (w *watch) pause()  { w.timer.Stop() }
func (w *watch) resume() { w.timer.Reset(w.limit) }

func (w *watch) stop() {
	w.timer.Stop()
	w.cancel(nil)
}

// explain says that it was the watch who ended it.
func (w *watch) explain(err error) error {
	if err != nil && w.outer.Err() == nil && errors.Is(context.Cause(w.ctx), errSlow) {
		return component.RetryError(0, fmt.Errorf("no answer within %v (timeout): %w", w.limit, err))
	}
	return err
}

// httpSource asks a server.
type httpSource struct {
	questions
	server *fetch.Server
	next   []string
}

func newHTTP(c *Config, env component.Env) (source, error) {
	server, err := fetch.NewHTTP(c.Source.HTTP, "source.", env.Outbound)
	if err != nil {
		return nil, err
	}
	if err := c.checkPages(server.Uses, "source.url",
		func(name string) string { return "{" + name + "}" }); err != nil {
		return nil, err
	}
	s := &httpSource{server: server, next: split(c.Source.Next)}
	if s.questions, err = newQuestions(c, server.Names()); err != nil {
		return nil, err
	}
	if s.after && c.Source.Next != "" {
		return nil, component.Setting("source.next",
			errors.New("stands beside {after}: the next page is found one way or the other"))
	}
	return s, nil
}

func (s *httpSource) resumes() bool               { return s.after }
func (s *httpSource) start(context.Context) error { return nil }
func (s *httpSource) close() error                { return s.server.Close() }

func (s *httpSource) pages(ctx context.Context, m *message.Message, after json.RawMessage,
	take func([]item) error) error {
	address := ""
	for {
		answer, items, err := s.page(ctx, m, after, address)
		if err != nil {
			return err
		}
		if len(items) == 0 && s.after {
			return nil
		}
		for len(items) > 0 { // a server may give more at a time than is remembered at a time
			n := min(len(items), s.config.Page)
			if err := take(items[:n]); err != nil {
				return err
			}
			if s.after {
				if after, err = s.config.cursor(items[:n]); err != nil {
					return err
				}
			}
			items = items[n:]
		}
		if s.after {
			continue
		}
		if address = s.nextPage(answer); address == "" {
			return nil
		}
	}
}

func (s *httpSource) page(ctx context.Context, m *message.Message, after json.RawMessage,
	address string) (answer json.RawMessage, items []item, err error) {
	watch := newWatch(ctx, s.config.Timeout)
	defer watch.stop()
	var list json.RawMessage
	if address != "" {
		answer, list, err = s.server.Follow(watch.ctx, address)
	} else {
		answer, list, err = s.server.Ask(watch.ctx, s.params(m, after))
	}
	if err != nil {
		return nil, nil, watch.explain(err)
	}
	if items, err = readList(list); err != nil {
		return nil, nil, fmt.Errorf("what the server answered %w", err)
	}
	return answer, items, nil
}

// nextPage is the address that an answer names; "" when there is none.
func (s *httpSource) nextPage(answer json.RawMessage) string {
	if s.next == nil {
		return ""
	}
	text, ok := find(answer, s.next)
	v, scalar := fetch.Scalar(text)
	if !ok || !scalar || v.IsNull() {
		return ""
	}
	return v.Text()
}

// find follows names into an object.
func find(text json.RawMessage, path []string) (json.RawMessage, bool) {
	for _, name := range path {
		row, err := fetch.ParseObject(text)
		if err != nil {
			return nil, false
		}
		ok := false
		if text, ok = row.Get(name); !ok {
			return nil, false
		}
	}
	return text, true
}

func readList(text json.RawMessage) ([]item, error) {
	var list []json.RawMessage
	if err := json.Unmarshal(text, &list); err != nil || list == nil {
		return nil, errors.New("is no list of items")
	}
	items := make([]item, len(list))
	for i, one := range list {
		items[i].json = fetch.Compact(one)
		if row, err := fetch.ParseObject(items[i].json); err == nil {
			items[i].row = row
			if row == nil {
				items[i].row = fetch.Row{}
			}
		}
	}
	return items, nil
}

// bodySource takes a list in the message.
type bodySource struct {
	config *Config
	path   []string
}

func (*bodySource) resumes() bool               { return false }
func (*bodySource) start(context.Context) error { return nil }
func (*bodySource) close() error                { return nil }

func (s *bodySource) pages(_ context.Context, m *message.Message, _ json.RawMessage, take func([]item) error) error {
	if !json.Valid(m.Body) {
		return errors.New("the body is not JSON")
	}
	list, ok := find(m.Body, s.path)
	if !ok {
		return fmt.Errorf("the body has no %s", s.config.Source.Items)
	}
	items, err := readList(list)
	if err != nil {
		return fmt.Errorf("%s of the body %w", s.config.Source.Items, err)
	}
	for len(items) > 0 {
		n := min(len(items), s.config.Page)
		if err := take(items[:n]); err != nil {
			return err
		}
		items = items[n:]
	}
	return nil
}
