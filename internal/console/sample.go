package console

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

const (
	// sampleRows bounds what is shown of what goes in and out.
	sampleRows = 20
	// sampleBody is how many bytes of each body are shown.
	sampleBody = 400
	// sampleLine bounds a line of the door's tap, most of which are a message's attributes.
	sampleLine = 1 << 20
	// firstSample is how long a page that is loaded waits for a sample; what comes later goes over its event stream.
	firstSample = time.Second
)

// sample is the newest that the door's tap has told. It is the http.ResponseWriter that the tap writes to.
type sample struct {
	header http.Header
	full   chan struct{} // closed when there are as many as are shown, or no more come
	status int
	text   []byte // what is no whole line yet; of an error, all of it

	mu    sync.Mutex
	lines []httpdoor.TapLine // the newest last
	ended string             // why no more come; "": they may
}

type sampleKey struct{}

// watchedIn is the sample that a page is made with; nil: its user does not watch.
func watchedIn(ctx context.Context) *sample {
	t, _ := ctx.Value(sampleKey{}).(*sample)
	return t
}

// watch taps the component of a page whose user wants that, until end.
func (s *Console) watch(r *http.Request) (with *http.Request, end func()) {
	of := r.PathValue("component")
	if of == "" || r.URL.Query().Get("watch") == "" {
		return r, func() {}
	}
	ctx, cancel := context.WithCancel(r.Context())
	t := &sample{header: http.Header{}, full: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.tap(ctx, s.config.Door, r, of)
	}()
	if !wantsEvents(r) {
		select {
		case <-t.full:
		case <-time.After(firstSample):
		case <-ctx.Done():
		}
	}
	return r.WithContext(context.WithValue(r.Context(), sampleKey{}, t)), func() { cancel(); <-done }
}

// tap has the door's operation write to the sample, as the user of another request, until ctx is over.
func (t *sample) tap(ctx context.Context, door http.Handler, as *http.Request, of string) {
	defer func() {
		if v := recover(); v != nil && v != http.ErrAbortHandler {
			panic(v)
		}
		t.over()
	}()
	q := url.Values{"of": {of}, "max_body": {strconv.Itoa(sampleBody)}}
	asked, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+inside+"/-/tap?"+q.Encode(), http.NoBody)
	if err != nil {
		panic(err) // the address is a constant but for what is escaped
	}
	asUser(asked, as)
	door.ServeHTTP(t, asked)
}

// over notes that no more come, and why.
func (t *sample) over() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended == "" {
		t.ended = "the tap has ended"
		var p httpdoor.Problem
		if json.Unmarshal(t.text, &p) == nil && p.Title != "" {
			t.ended = p.Title
			if p.Detail != "" {
				t.ended += ": " + p.Detail
			}
		}
	}
	if len(t.lines) < sampleRows {
		close(t.full)
	}
}

// newest is what there is now, and why no more come.
func (t *sample) newest() ([]httpdoor.TapLine, string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]httpdoor.TapLine(nil), t.lines...), t.ended
}

// Header implements http.ResponseWriter.
func (t *sample) Header() http.Header { return t.header }

// WriteHeader implements http.ResponseWriter.
func (t *sample) WriteHeader(status int) { t.status = status }

// FlushError tells the door that what it wrote has been taken.
func (t *sample) FlushError() error { return nil }

var errLongLine = errors.New("a line of the tap is too long")

// Write implements http.ResponseWriter: it takes lines.
func (t *sample) Write(p []byte) (int, error) {
	if len(t.text)+len(p) > sampleLine {
		return 0, errLongLine
	}
	t.text = append(t.text, p...)
	if t.status >= http.StatusBadRequest {
		return len(p), nil
	}
	for {
		line, rest, whole := bytes.Cut(t.text, []byte("\n"))
		if !whole {
			return len(p), nil
		}
		t.text = rest
		var l httpdoor.TapLine
		if err := json.Unmarshal(line, &l); err != nil {
			return 0, err
		}
		t.add(l)
	}
}

func (t *sample) add(l httpdoor.TapLine) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if l.Stopped != "" {
		t.ended = l.Stopped
	}
	if l.Tapped == nil {
		return
	}
	if len(t.lines) == sampleRows {
		copy(t.lines, t.lines[1:])
		t.lines[sampleRows-1] = l
		return
	}
	if t.lines = append(t.lines, l); len(t.lines) == sampleRows {
		close(t.full)
	}
}

// SampleText is the beginning of what a tapped message has, on one line.
func (v *view) SampleText(l httpdoor.TapLine) string {
	if l.Content == nil {
		return ""
	}
	body, err := l.Content.Bytes()
	if err != nil {
		return err.Error()
	}
	text := strings.Join(strings.Fields(readable(body, true)), " ")
	if l.Cut {
		text += "…"
	}
	return text
}
