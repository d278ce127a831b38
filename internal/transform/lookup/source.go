package lookup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/fetch"
	"github.com/hikyaku/hikyaku/internal/message"
)

// nameKey stands in names for what Config.Key names.
const nameKey = "key"

// source answers questions about keys, which encodeKey has made of the values of names.
type source interface {
	names() []string
	most() (most, usual int) // keys in one question
	start(ctx context.Context) error
	// ask tells for each key that it knows what is found, or its own error. A key that it tells nothing of is missing.
	// An error is that of the whole question.
	ask(ctx context.Context, keys []string, tell func(key string, f *found, err error)) error
	close() error
}

func newSource(c *Config, env component.Env) (source, error) {
	switch c.Source.Type {
	case "sql":
		return newSQL(c)
	case "http":
		return newHTTP(c, env)
	case "queue":
		return newQueue(c, env)
	case "static":
		return newStatic(c)
	case "":
		return nil, component.Setting("source.type", errors.New("is missing: sql, http, queue or static"))
	}
	return nil, component.Setting("source.type", fmt.Errorf("%q is none of sql, http, queue and static", c.Source.Type))
}

// parameters makes the parameters of a question about keys.
func parameters(names []string, keys []string, many bool) (p fetch.Params, byText map[string]string) {
	p = fetch.Params{}
	byText = make(map[string]string, len(keys))
	for _, key := range keys {
		values := decodeKey(key)
		if many {
			p[fetch.Keys] = append(p[fetch.Keys], values[0])
			byText[values[0].Text()] = key
			continue
		}
		for i, name := range names {
			p[name] = []message.Value{values[i]}
		}
	}
	return p, byText
}

// paramNames are the different names of a question's parameters. One that takes many keys has no other parameters.
func paramNames(all []string, many bool, setting, key string) (names []string, err error) {
	for _, name := range all {
		if name == fetch.Keys && many {
			name = nameKey
		} else if many {
			return nil, component.Setting(setting,
				fmt.Errorf("a question about many keys has no other parameters, and %s is one", name))
		}
		if !among(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case many && key == "":
		return nil, component.Setting("key", errors.New("is missing: which attribute or field says what to look for?"))
	case key != "" && !among(names, nameKey):
		return nil, component.Setting(setting, fmt.Errorf("asks for nothing by key: write :keys, or :key for one at "+
			"a time (of http {keys} or {key})"))
	case len(names) == 0:
		return nil, component.Setting(setting,
			errors.New("has no parameter: what is found would be the same for every message"))
	}
	return names, nil
}

// rowsByKey sorts rows by the field that holds their key.
type rowsByKey struct {
	match  string            // "": the first field
	byText map[string]string // text of a value → key
	rows   map[string][]fetch.Row
}

func (r *rowsByKey) take(row fetch.Row) error {
	if len(row) == 0 {
		return errors.New("a row of the answer is empty")
	}
	text, ok := row[0].JSON, true
	if r.match != "" {
		if text, ok = row.Get(r.match); !ok {
			return fmt.Errorf("a row of the answer has no %s; it has %s", r.match, row.Names())
		}
	}
	v, ok := fetch.Scalar(text)
	if !ok {
		return fmt.Errorf("the key of a row of the answer is a list or object")
	}
	key, asked := r.byText[v.Text()]
	if !asked {
		return fmt.Errorf("%w: %.100s", errUnasked, v.Text())
	}
	r.rows[key] = append(r.rows[key], row)
	return nil
}

func (r *rowsByKey) tell(c *Config, tell func(key string, f *found, err error)) {
	for key, rows := range r.rows {
		f, err := c.newFound(rows)
		tell(key, f, err)
	}
}

// sqlSource asks a database.
type sqlSource struct {
	config *Config
	db     *fetch.DB
	params []string
	many   bool
}

func newSQL(c *Config) (source, error) {
	db, err := fetch.NewSQL(c.Source.SQL, "source.")
	if err != nil {
		return nil, err
	}
	s := &sqlSource{config: c, db: db, many: db.Uses(fetch.Keys)}
	all, _ := db.Names()
	if s.params, err = paramNames(all, s.many, "source.query", c.Key); err != nil {
		return nil, err
	}
	db.Want(c.concurrency())
	return s, nil
}

func (s *sqlSource) names() []string { return append([]string(nil), s.params...) }

func (s *sqlSource) most() (most, usual int) {
	if s.many {
		return 10_000, DefaultBatch
	}
	return 1, 1
}

func (s *sqlSource) start(ctx context.Context) error { return s.db.Start(ctx) }
func (s *sqlSource) close() error                    { return s.db.Close() }

func (s *sqlSource) ask(ctx context.Context, keys []string, tell func(string, *found, error)) error {
	p, byText := parameters(s.params, keys, s.many)
	if s.many {
		r := rowsByKey{s.config.Source.Match, byText, map[string][]fetch.Row{}}
		if err := s.db.Ask(ctx, p, r.take); err != nil {
			return err
		}
		r.tell(s.config, tell)
		return nil
	}
	var rows []fetch.Row
	err := s.db.Ask(ctx, p, func(row fetch.Row) error {
		rows = append(rows, row)
		return nil
	})
	if err != nil || len(rows) == 0 {
		return err
	}
	f, err := s.config.newFound(rows)
	tell(keys[0], f, err)
	return nil
}

// httpSource asks a server.
type httpSource struct {
	config *Config
	server *fetch.Server
	params []string
	many   bool
}

func newHTTP(c *Config, env component.Env) (source, error) {
	server, err := fetch.NewHTTP(c.Source.HTTP, "source.", env.Outbound)
	if err != nil {
		return nil, err
	}
	s := &httpSource{config: c, server: server, many: server.Uses(fetch.Keys)}
	if s.params, err = paramNames(server.Names(), s.many, "source.url", c.Key); err != nil {
		return nil, err
	}
	server.Want(c.concurrency())
	return s, nil
}

func (s *httpSource) names() []string { return append([]string(nil), s.params...) }

func (s *httpSource) most() (most, usual int) {
	if s.many {
		return 10_000, DefaultBatch
	}
	return 1, 1
}

func (s *httpSource) start(context.Context) error { return nil }
func (s *httpSource) close() error                { return s.server.Close() }

func (s *httpSource) ask(ctx context.Context, keys []string, tell func(string, *found, error)) error {
	p, byText := parameters(s.params, keys, s.many)
	_, items, err := s.server.Ask(ctx, p)
	switch {
	case errors.Is(err, fetch.ErrNotFound) && len(keys) == 1:
		return nil
	case err != nil:
		return err
	case !s.many:
		f, err := s.config.ofJSON(fetch.Compact(items))
		tell(keys[0], f, err)
		return nil
	case s.config.Source.Match == "":
		return s.byName(items, byText, tell)
	}
	var list []json.RawMessage
	if err := json.Unmarshal(items, &list); err != nil {
		return errors.New("the answer is no list of rows")
	}
	r := rowsByKey{s.config.Source.Match, byText, map[string][]fetch.Row{}}
	for _, item := range list {
		row, err := fetch.ParseObject(fetch.Compact(item))
		if err != nil {
			return fmt.Errorf("a row of the answer %w", err)
		}
		if err := r.take(row); err != nil {
			return err
		}
	}
	r.tell(s.config, tell)
	return nil
}

// byName reads an answer that is an object of what was found by key. null is nothing.
func (s *httpSource) byName(items json.RawMessage, byText map[string]string, tell func(string, *found, error)) error {
	object, err := fetch.ParseObject(fetch.Compact(items))
	if err != nil {
		return fmt.Errorf("the answer %w of what was found by key (set source.match if it is a list of rows)", err)
	}
	for _, field := range object {
		key, asked := byText[field.Name]
		if !asked {
			return fmt.Errorf("%w: %.100s", errUnasked, field.Name)
		}
		if string(field.JSON) == "null" {
			continue
		}
		f, err := s.config.ofJSON(field.JSON)
		tell(key, f, err)
	}
	return nil
}
