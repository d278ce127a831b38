package console

import (
	"context"
	"fmt"
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// act is something that a form of a page does.
type act struct {
	does func(context.Context, *asking) (outcome, error)
	open bool // also when the console is read-only
}

// outcome is what an act has done.
type outcome struct {
	to       string // the path, below Base, of the page that shows it
	said     string // a line that says so
	language string // that the pages are in from now on; "": as before
	// held is what the browser remembers of a claim for so long; negative: no more.
	held  string
	until time.Duration
}

// acts are what the pages can do, by the rest of the path.
var acts = map[string]act{
	"language":                              {speak, true},
	"queue/{ns}/{queue}/put":                {put, false},
	"queue/{ns}/{queue}/purge":              {purge, false},
	"queue/{ns}/{queue}/claim":              {hold, false},
	"queue/{ns}/{queue}/do/{act}":           {operate, false},
	"letter/{ns}/{queue}/{sequence}/settle": {settle, false},

	"topic/{ns}/{topic}/publish": {publish, false},

	"campaign/{ns}/{campaign}/pause":  {become(campaign.Paused), false},
	"campaign/{ns}/{campaign}/resume": {become(campaign.Running), false},
	"campaign/{ns}/{campaign}/cancel": {become(campaign.Cancelled), false},

	"function/{function}/invoke": {invoke, false},

	"push/{sink}/find":   {findDevice, true},
	"push/{sink}/revive": {revive, false},
}

const (
	languageCookie = "hikyaku_language"
	saidCookie     = "hikyaku_said"
)

// act does what a form asks for, and leads to the page that shows it. The door has refused forms of other origins, and
// refuses what the user may not.
func (s *Console) act(w http.ResponseWriter, r *http.Request, a act) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	v := &view{Lang: language(r), site: s}
	var did outcome
	err := error(&httpdoor.Problem{Title: "this console is read-only", Status: http.StatusForbidden})
	if a.open || !s.config.ReadOnly {
		did, err = a.does(r.Context(), &asking{view: v, r: r, door: s.ask(r)})
	}
	if err != nil {
		refused := page{"problem", "Refused", func(context.Context, *asking) (any, error) { return nil, err }}
		now, err := s.make(r, refused)
		if err != nil {
			s.broken(w, r, err)
			return
		}
		s.whole(w, r, refused, now)
		return
	}
	if did.language != "" {
		keep(w, languageCookie, did.language, 400*24*time.Hour)
	}
	if did.until != 0 {
		keep(w, heldCookie, url.QueryEscape(did.held), did.until)
	}
	if did.said != "" {
		keep(w, saidCookie, url.QueryEscape(did.said), 10*time.Second)
	}
	http.Redirect(w, r, Base+did.to, http.StatusSeeOther)
}

// keep has the browser remember something for these pages; negative: no more.
func keep(w http.ResponseWriter, name, value string, until time.Duration) {
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: Base, MaxAge: int(until / time.Second),
		HttpOnly: true, SameSite: http.SameSiteStrictMode})
}

// back is a path of these pages, below Base, and that of the first of them for whatever else is given.
func back(path string) string {
	u, err := url.Parse(path)
	if err != nil || u.Scheme != "" || u.Host != "" {
		return ""
	}
	below, ours := strings.CutPrefix(u.RequestURI(), Base)
	if !ours {
		return ""
	}
	return below
}

// speak changes the language of the pages.
func speak(_ context.Context, a *asking) (outcome, error) {
	lang := a.r.PostForm.Get("to")
	if lang != "en" && lang != "ja" {
		return outcome{}, &httpdoor.Problem{Title: "there is no such language", Status: http.StatusBadRequest}
	}
	return outcome{to: back(a.r.PostForm.Get("back")), language: lang}, nil
}

func (a *asking) queue() queue.Name {
	return queue.Name{Namespace: a.r.PathValue("ns"), Name: a.r.PathValue("queue")}
}

func (a *asking) page(n queue.Name) string { return a.QueuePath(n.String()) }

// put puts one message.
func put(ctx context.Context, a *asking) (outcome, error) {
	n, form := a.queue(), a.r.PostForm
	m := httpdoor.NewMessage([]byte(form.Get("body")))
	m.Key, m.Dedup = form.Get("key"), form.Get("dedup")
	done, err := a.door.Put(ctx, n, m)
	if err != nil {
		return outcome{}, err
	}
	if done[0].Duplicate {
		return outcome{to: a.page(n), said: a.T("Nothing was put: there was a message of that deduplication id.")}, nil
	}
	return outcome{to: a.page(n), said: a.T("Message %s was put.", done[0].ID)}, nil
}

// purge deletes every message of a queue whose name was typed.
func purge(ctx context.Context, a *asking) (outcome, error) {
	n := a.queue()
	if err := a.named(a.T("Nothing was purged")); err != nil {
		return outcome{}, err
	}
	count, err := a.door.Purge(ctx, n)
	if err != nil {
		return outcome{}, err
	}
	return outcome{to: a.page(n), said: a.T("Purged: %s.", a.Messages(count))}, nil
}

// said takes what an act had to say out of a request.
func said(w http.ResponseWriter, r *http.Request) string {
	c, err := r.Cookie(saidCookie)
	if err != nil {
		return ""
	}
	keep(w, saidCookie, "", -time.Second)
	text, err := url.QueryUnescape(c.Value)
	if err != nil {
		return ""
	}
	return text
}

// Command is a line for a terminal that does or tells the same, of words that are quoted where a shell wants it.
func (v *view) Command(words ...string) template.HTML {
	quoted := make([]string, len(words))
	for i, w := range words {
		if quoted[i] = w; w == "" || strings.ContainsFunc(w, shellMeans) {
			quoted[i] = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
	}
	return template.HTML(fmt.Sprintf(`<code class="command">hikyaku %s</code>`,
		template.HTMLEscapeString(strings.Join(quoted, " "))))
}

// shellMeans tells whether a shell may take a letter for something else.
func shellMeans(r rune) bool {
	letter := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
	return !letter && !strings.ContainsRune("-_./:=,@%+", r)
}
