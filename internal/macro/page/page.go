package page

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"strings"
	"time"
	"unicode"

	"github.com/hikyaku/hikyaku/internal/macro"
	"github.com/hikyaku/hikyaku/pace"
)

//go:embed web
var web embed.FS

// Config is what a page is made of.
type Config struct {
	// Start begins to play a script, and returns when frame 0 is due. The run ends when ctx does. It is called for one
	// run at a time.
	Start func(ctx context.Context, s *macro.Script, progress func(pace.Progress)) (*pace.Run, error)
	Rate  pace.Rate     // of the frames; zero: pace.NTSC. For what is shown.
	Title string        // what is played on, for people
	Text  string        // what stands in the box at first
	Hold  time.Duration // for how long a pad is held at most; zero: 15 seconds
	Hosts []string      // names that the page is reached by, besides localhost and bare addresses
}

// Page is the page, an http.Handler.
type Page struct {
	Config
	stage *stage
	mux   *http.ServeMux
}

// New makes a page. It has to be closed.
func New(c Config) *Page {
	if c.Rate.IsZero() {
		c.Rate = pace.NTSC()
	}
	if c.Hold <= 0 {
		c.Hold = 15 * time.Second
	}
	p := &Page{Config: c, stage: newStage(c), mux: http.NewServeMux()}
	files, err := fs.Sub(web, "web")
	if err != nil {
		panic(err) // the folder is compiled in
	}
	p.mux.Handle("GET /", http.FileServerFS(files))
	p.mux.HandleFunc("GET /setup", p.setup)
	p.mux.HandleFunc("GET /events", p.events)
	p.mux.HandleFunc("POST /check", p.check)
	p.mux.HandleFunc("POST /run", p.run)
	p.mux.HandleFunc("POST /press", p.press)
	p.mux.HandleFunc("POST /hold", p.hold)
	p.mux.HandleFunc("POST /stop", p.stop)
	return p
}

// Close stops what is played, forgets what waits, and returns when everything is let go.
func (p *Page) Close() { p.stage.close() }

// ServeHTTP serves the page to those whom the guard lets in.
func (p *Page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	h := w.Header()
	h.Set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	if err := p.guard(r); err != nil {
		http.Error(w, err.Error(), http.StatusForbidden)
		return
	}
	p.mux.ServeHTTP(w, r)
}

// wish is what a browser asks for.
type wish struct {
	Text   string `json:"text"`
	Press  string `json:"press"`
	Player int    `json:"player"`
	Mirror bool   `json:"mirror"`
	Hand   string `json:"hand"` // what is held with one hand comes one after the other
}

func (a *wish) options() macro.Options { return macro.Options{Player: a.Player, Mirror: a.Mirror} }

// checked is what a text is.
type checked struct {
	Mistakes macro.Mistakes `json:"mistakes"`
	Frames   int64          `json:"frames"`
	Seconds  float64        `json:"seconds"`
	Steps    int            `json:"steps"`
	Timeline string         `json:"timeline"` // a picture, as SVG
	Describe string         `json:"describe"` // the same in words
}

func (p *Page) setup(w http.ResponseWriter, _ *http.Request) {
	answer(w, http.StatusOK, map[string]any{
		"title": p.Title, "text": p.Text, "rate": p.Rate.String(), "perSecond": p.Rate.PerSecond(),
	})
}

func (p *Page) check(w http.ResponseWriter, r *http.Request) {
	ask, ok := read(w, r)
	if !ok {
		return
	}
	script, mistakes, ok := compile(w, ask.Text, ask.options())
	if !ok {
		return
	}
	c := checked{Mistakes: mistakes}
	if script != nil {
		c.Frames = script.Frames()
		c.Seconds = p.Rate.Deadline(c.Frames).Seconds()
		for _, t := range script.Tracks {
			c.Steps += len(t)
		}
		c.Timeline, c.Describe = Timeline(script, p.Rate), describe(script, p.Rate)
	}
	answer(w, http.StatusOK, c)
}

// compile answers by itself if the options are wrong.
func compile(w http.ResponseWriter, text string, o macro.Options) (*macro.Script, macro.Mistakes, bool) {
	script, err := macro.Read([]byte(text), o)
	var mistakes macro.Mistakes
	if err != nil && !errors.As(err, &mistakes) {
		refuse(w, http.StatusBadRequest, err)
		return nil, nil, false
	}
	return script, mistakes, true
}

func (p *Page) run(w http.ResponseWriter, r *http.Request) {
	ask, ok := read(w, r)
	if !ok {
		return
	}
	p.play(w, ask.Text, ask.options(), false)
}

// pressFrames is how long a button of the page is pressed.
const pressFrames = 2

func (p *Page) press(w http.ResponseWriter, r *http.Request) {
	ask, ok := read(w, r)
	if !ok {
		return
	}
	if strings.ContainsFunc(ask.Press, notPressed) {
		refuse(w, http.StatusBadRequest, fmt.Errorf("%q is not one thing to press", ask.Press))
		return
	}
	p.play(w, fmt.Sprintf("%s %d", ask.Press, pressFrames), ask.options(), true)
}

// notPressed tells whether a letter is none of a single press: what begins a remark, a tag or another word.
func notPressed(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("<#/＜＃／", r) }

// maxHand is how long the name of a hand is at most, in bytes.
const maxHand = 64

// hold presses something for as long as the request lasts: until the browser gives it up, or goes away.
func (p *Page) hold(w http.ResponseWriter, r *http.Request) {
	ask, ok := read(w, r)
	if !ok {
		return
	}
	state, err := macro.ParseState(ask.Press)
	if ask.Mirror {
		state = state.Mirrored()
	}
	switch {
	case err != nil:
	case ask.Player < 1 || ask.Player > macro.Players:
		err = fmt.Errorf("player %d is not from 1 to %d", ask.Player, macro.Players)
	case len(ask.Hand) > maxHand:
		err = fmt.Errorf("the name of the hand has %d bytes; %d are the most", len(ask.Hand), maxHand)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, err)
		return
	}
	h, err := p.stage.hold(fmt.Sprint(ask.Player, " ", ask.Hand), ask.Player, state)
	if err != nil {
		refuse(w, statusOf(err), err)
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), p.stage.config.Hold)
	defer cancel()
	answer(w, http.StatusAccepted, map[string]any{"held": state.String()})
	_ = http.NewResponseController(w).Flush() // who went away is noticed below
	select {
	case <-ctx.Done():
	case <-h.done:
	case <-p.stage.ctx.Done():
	}
	p.stage.letGo(h)
}

func (p *Page) play(w http.ResponseWriter, text string, o macro.Options, wait bool) {
	script, mistakes, ok := compile(w, text, o)
	switch {
	case !ok:
		return
	case mistakes != nil:
		answer(w, http.StatusUnprocessableEntity, checked{Mistakes: mistakes})
		return
	}
	number, err := p.stage.enter(turn{text: text, script: script}, wait)
	if err != nil {
		refuse(w, statusOf(err), err)
		return
	}
	answer(w, http.StatusAccepted, map[string]any{"run": number, "text": text})
}

// statusOf is how a refusal of the stage is answered.
func statusOf(err error) int {
	switch {
	case errors.Is(err, errBusy), errors.Is(err, errHeld):
		return http.StatusConflict
	case errors.Is(err, errFull):
		return http.StatusTooManyRequests
	}
	return http.StatusServiceUnavailable
}

func (p *Page) stop(w http.ResponseWriter, r *http.Request) {
	if _, ok := read(w, r); !ok {
		return
	}
	p.stage.stop()
	answer(w, http.StatusOK, map[string]any{})
}

// read reads a wish, or answers by itself.
func read(w http.ResponseWriter, r *http.Request) (ask wish, ok bool) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 6*macro.MaxText)) // JSON may write a byte as six
	if err == nil && len(body) > 0 {
		err = json.Unmarshal(body, &ask)
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, fmt.Errorf("this is not what the page sends: %w", err))
		return ask, false
	}
	return ask, true
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who went away need not be told
}

func refuse(w http.ResponseWriter, status int, err error) {
	code := "" // what the page knows words of its own for
	for known, name := range map[error]string{errBusy: "busy", errHeld: "held", errFull: "full", errClosed: "closing"} {
		if errors.Is(err, known) {
			code = name
		}
	}
	answer(w, status, map[string]string{"error": err.Error(), "code": code})
}
