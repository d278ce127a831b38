package console

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// page is one of the pages. Its template has two parts: "NAME" does not change while somebody looks, "NAME live" does.
type page struct {
	name  string
	title string // in English
	// data asks the door for what the templates show. Its errors are shown in the place of the live part.
	data func(context.Context, *asking) (any, error)
}

// asking is a page while its data is asked for.
type asking struct {
	*view
	r    *http.Request
	door *httpdoor.Client
}

// shown is what the templates of a page are given.
type shown struct {
	*view
	Title   string
	Data    any
	Problem *problem
	Live    template.HTML // of the whole page: its live part
	Shape   string
	Query   url.Values
	Said    string // what the act before this page did; "": there was none
}

// problem is why there is nothing to see.
type problem struct {
	Title, Detail, Hint string
	Marked              string // a line with a mistake, and a caret under its place, with the hint behind it
}

// templates are read when the first page is asked for: most commands show none.
var templates = sync.OnceValue(func() *template.Template { return template.Must(template.ParseFS(web, "web/*.html")) })

// part is the live part of a page as it is now.
type part struct {
	html   string
	shape  string // a digest of everything but the cells
	cells  []string
	status int
	shown  shown
}

// make asks for the data of a page and makes its live part.
func (s *Console) make(r *http.Request, p page) (*part, error) {
	select {
	case s.rendering <- struct{}{}:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	defer func() { <-s.rendering }()
	v := &view{Lang: language(r), Now: time.Now(), Path: r.URL.RequestURI(), site: s}
	out := &part{status: http.StatusOK, shown: shown{view: v, Title: p.title, Query: r.URL.Query()}}
	name := p.name + " live"
	data, err := p.data(r.Context(), &asking{view: v, r: r, door: s.ask(r)})
	switch {
	case r.Context().Err() != nil:
		return nil, r.Context().Err()
	case err != nil:
		out.shown.Problem, out.status = problemOf(err)
		name = "problem live"
	}
	out.shown.Data = data
	var b bytes.Buffer
	if err := templates().ExecuteTemplate(&b, name, &out.shown); err != nil {
		return nil, fmt.Errorf("page %s: %w", p.name, err)
	}
	sum := sha256.Sum256(b.Bytes())
	out.shape, out.cells = hex.EncodeToString(sum[:8]), v.cells
	out.html = fill(b.String(), v.cells)
	return out, nil
}

// problemOf shows an error of the door as it is.
func problemOf(err error) (*problem, int) {
	if p, ok := errors.AsType[*httpdoor.Problem](err); ok {
		out := &problem{Title: p.Title, Detail: p.Detail, Hint: p.Hint}
		if p.Position != nil && p.Position.Pretty != "" {
			out.Detail, out.Marked, _ = strings.Cut(p.Position.Pretty, "\n")
			out.Hint = ""
		}
		return out, p.Status
	}
	return &problem{Title: "the server did not answer", Detail: err.Error()}, http.StatusInternalServerError
}

// show serves a page, or keeps one up to date.
func (s *Console) show(w http.ResponseWriter, r *http.Request, p page) {
	r, end := s.watch(r)
	defer end()
	if wantsEvents(r) {
		s.follow(w, r, p)
		return
	}
	begun := time.Now()
	now, err := s.make(r, p)
	if err != nil {
		s.broken(w, r, err)
		return
	}
	s.renew(r, p, begun, *now)
	s.whole(w, r, p, now)
}

// wantsEvents tells whether a browser wants to follow a page.
func wantsEvents(r *http.Request) bool {
	return strings.Contains(r.Header.Get("Accept"), "text/event-stream")
}

// whole serves the whole page around its live part.
func (s *Console) whole(w http.ResponseWriter, r *http.Request, p page, now *part) {
	now.shown.Live, now.shown.Shape, now.shown.Said = template.HTML(now.html), now.shape, said(w, r)
	var b bytes.Buffer
	name := p.name
	if now.shown.Problem != nil {
		name = "live"
	}
	err := templates().ExecuteTemplate(&b, "head", &now.shown)
	if err == nil {
		err = templates().ExecuteTemplate(&b, name, &now.shown)
	}
	if err == nil {
		err = templates().ExecuteTemplate(&b, "foot", &now.shown)
	}
	if err != nil {
		s.broken(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(now.status)
	_, _ = w.Write(b.Bytes()) // who went away misses it
}

// broken ends a request whose page cannot be made.
func (s *Console) broken(w http.ResponseWriter, r *http.Request, err error) {
	if r.Context().Err() != nil {
		return // nobody waits for it, or the server stops
	}
	http.Error(w, err.Error(), http.StatusInternalServerError)
}

// quiet is after how long without a change a stream says that it is there.
const quiet = 15 * time.Second

// delta is what an event carries: the cells that have changed by their numbers, or the whole live part.
type delta struct {
	Cells map[int]string `json:"cells,omitempty"`
	HTML  string         `json:"html,omitempty"`
	Shape string         `json:"shape,omitempty"` // of HTML
}

// follow keeps a page up to date until the browser goes away or the server stops. The browser names the shape that it
// has with the parameter live.
func (s *Console) follow(w http.ResponseWriter, r *http.Request, p page) {
	select {
	case s.streams <- struct{}{}:
		defer func() { <-s.streams }()
	default:
		http.Error(w, fmt.Sprintf("%d pages are open already", maxStreams), http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	last, told := &part{shape: r.URL.Query().Get("live")}, time.Now()
	out := http.NewResponseController(w)
	for {
		now, err := s.latest(r, p)
		if err != nil {
			return
		}
		text := ""
		if d := now.since(last); d != nil {
			data, err := json.Marshal(d)
			if err != nil {
				return
			}
			text = "data: " + string(data) + "\n\n"
		} else if time.Since(told) >= quiet {
			text = ":\n\n"
		}
		last = now
		if text != "" {
			told = time.Now()
			if _, err := w.Write([]byte(text)); err != nil || out.Flush() != nil {
				return
			}
		}
		select {
		case <-time.After(s.each(now)):
		case <-r.Context().Done():
			return
		}
	}
}

// each is how long a page stays as it is.
func (s *Console) each(now *part) time.Duration {
	if s.config.Each > 0 {
		return s.config.Each
	}
	if slow, ok := now.shown.Data.(interface{ Slow() bool }); ok && slow.Slow() {
		return 3 * time.Second
	}
	return time.Second
}

// since is what a browser that has one state of a page needs for the next; nil: nothing.
func (now *part) since(last *part) *delta {
	if now.shape != last.shape {
		return &delta{HTML: now.html, Shape: now.shape}
	}
	d := &delta{Cells: map[int]string{}}
	for i, value := range now.cells {
		if i >= len(last.cells) || last.cells[i] != value {
			d.Cells[i] = value
		}
	}
	if len(d.Cells) == 0 {
		return nil
	}
	return d
}

// query is a query of names and values.
func query(pairs ...string) string {
	q := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return q.Encode()
}
