package console

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"net/http"
	"path"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/picture"
)

//go:embed web
var web embed.FS

// Config is what a console is made of. Door is needed.
type Config struct {
	Door http.Handler // has the operations of the HTTP door
	// ReadOnly leaves out all acts.
	ReadOnly bool
	Version  string // of the program, for people
	// Picture is what the configuration that runs joins to what. It may be called by several goroutines, and nobody
	// changes what it returns. nil: there is none.
	Picture func() *picture.Picture
	// Each is how often an open page is brought up to date. 0: a second, and three for very many queues.
	Each time.Duration
}

const (
	// Base is the path under which the pages are.
	Base = "/-/console/"
	// maxStreams bounds the open pages. More are still served, but stay as they are.
	maxStreams = 200
	// maxRendering bounds the pages that are made at once: each may hold what answers of the door hold.
	maxRendering = 8
	maxForm      = 1 << 20
)

// Console serves the pages. It is an http.Handler, and may be used by several goroutines.
type Console struct {
	config    Config
	mux       *http.ServeMux
	rendering chan struct{}
	streams   chan struct{}
	shared    shared
	laidOut   laidOut
}

// New makes the pages of a door.
func New(c Config) *Console {
	s := &Console{config: c, mux: http.NewServeMux(), rendering: make(chan struct{}, maxRendering),
		streams: make(chan struct{}, maxStreams), shared: shared{made: map[string]*making{}}}
	for pattern, p := range pages {
		s.mux.HandleFunc("GET "+Base+pattern, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, p) })
	}
	for pattern, a := range acts {
		s.mux.HandleFunc("POST "+Base+pattern, func(w http.ResponseWriter, r *http.Request) { s.act(w, r, a) })
	}
	for ending := range exports {
		s.mux.HandleFunc("GET "+Base+"past"+ending, s.export)
		s.mux.HandleFunc("GET "+Base+"queue/{ns}/{queue}/past"+ending, s.export)
	}
	s.mux.HandleFunc("GET "+Base+"find", s.find)
	s.mux.HandleFunc("GET "+Base+"web/{file}", file)
	s.mux.HandleFunc(Base, func(w http.ResponseWriter, r *http.Request) { s.show(w, r, notFound) })
	return s
}

// ServeHTTP serves the pages. Who comes has been admitted by the door, which also refuses requests of other origins.
func (s *Console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
	s.mux.ServeHTTP(w, r)
}

// ask makes a client of the door's operations for the user of a request.
func (s *Console) ask(r *http.Request) *httpdoor.Client {
	c, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + inside,
		HTTP: &http.Client{Transport: &within{door: s.config.Door, as: r}}})
	if err != nil {
		panic(err) // the address is a constant
	}
	return c
}

// types are those of the files that browsers load.
var types = map[string]string{".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8",
	".svg": "image/svg+xml"}

// marks are what the files have, so that a browser asks again only for what has changed.
var marks = func() map[string]string {
	all := map[string]string{}
	entries, err := web.ReadDir("web")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	for _, e := range entries {
		data, err := web.ReadFile("web/" + e.Name())
		if err != nil {
			panic(err)
		}
		sum := sha256.Sum256(data)
		all[e.Name()] = hex.EncodeToString(sum[:6])
	}
	return all
}()

// file serves what pages load: their addresses name the content, so that browsers keep it.
func file(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("file")
	kind, known := types[path.Ext(name)]
	data, err := web.ReadFile("web/" + name)
	if !known || err != nil {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", kind)
	if strings.HasPrefix(r.URL.RawQuery, marks[name]) {
		w.Header().Set("Cache-Control", "public, max-age=31536000, immutable")
	}
	_, _ = w.Write(data) // who went away misses it
}
