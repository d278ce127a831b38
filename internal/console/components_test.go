package console_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/console"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// withHook gives a door a sink that has done something, and taps.
func withHook(taps *journey.Taps) func(*httpdoor.Options) {
	return func(o *httpdoor.Options) {
		o.Taps, o.Secrets = taps, func() mask.Masker {
			return mask.New(mask.Secret{Text: "open-sesame", Shown: "********"})
		}
		o.Components = func() []pipeline.NodeStats {
			return []pipeline.NodeStats{{Name: "hook", Kind: pipeline.KindSink, DeadLetter: "hook_dead", Dead: 3,
				Rejected: 3, LastError: "500: open-sesame " + evil, LastErrorTime: time.Now()}}
		}
		o.Describe = func(string) httpdoor.ComponentSettings {
			return httpdoor.ComponentSettings{Type: "webhook", Notices: []string{evil},
				Settings: []httpdoor.ComponentSetting{{Name: "url", Text: "https://example.com/" + evil}}}
		}
	}
}

func TestAComponentIsShownWithWhyItFailed(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withHook(nil))
	has(t, r.page(""), console.Base+"component/hook")
	r.queue("hook_dead", queue.Definition{})
	for i, reason := range []string{"404 gone", "404 gone", evil, "of another step"} {
		m := message.Message{Death: &message.Death{Reason: reason, Step: "hook", Attempts: i}}
		if i == 3 {
			m.Death.Step = "other"
		}
		if _, err := r.store.Put(t.Context(), queue.Name{Namespace: "default", Name: "hook_dead"},
			[]message.Message{m}); err != nil {
			t.Fatal(err)
		}
	}
	page := r.page("component/hook")
	has(t, page, "webhook", "500: ********", "404 gone", "https://example.com/&lt;script&gt;",
		"letter/default/hook_dead/1", "hikyaku tap hook", "What it noticed")
	lacks(t, page, "<script>alert", "<img", "open-sesame", "of another step")
	r.want(404, r.request("GET", console.Base+"component/none", nil))
}

func TestWhatGoesThroughAComponentIsWatched(t *testing.T) {
	taps := new(journey.Taps)
	r := startWith(t, httpdoor.Config{}, withHook(taps))
	lacks(t, r.page("component/hook"), "What goes in and out<")
	has(t, r.page("component/hook?watch=1"), "Nothing has come yet.")
	next := r.events(t.Context(), "component/hook?watch=1", "none")
	next()
	for told := false; !told; { // the tap may not be open yet
		for i := range 25 {
			pass(taps, fmt.Sprintf(`open-sesame %d %s`, i, evil))
		}
		_, html, _ := next()
		if told = strings.Contains(html, "******** 2"); told {
			lacks(t, html, "open-sesame", "<script>alert", "<img")
			if rows := strings.Count(html, console.Base+"message/"); rows > 20 {
				t.Errorf("%d rows in %s", rows, html)
			}
		}
	}
}

// pass tells the taps that a message has gone through the hook.
func pass(taps *journey.Taps, body string) {
	taps.Tell(&journey.Note{ID: message.NewID(), Time: time.Now().UnixNano(), Place: journey.Place{Name: "hook"}},
		&message.Message{Body: []byte(body)})
}

func TestComponentsAreForThoseWhoMayAdministerEverything(t *testing.T) {
	r := startWith(t, httpdoor.Config{}, withHook(new(journey.Taps)), access.User{Name: "keeper",
		Secret: "keeper-secret", Grants: []access.Grant{{Can: []string{"take", "admin"}, On: []string{"hook"}}}})
	r.user = "keeper"
	for _, path := range []string{"component/hook", "component/hook?watch=1"} {
		r.want(403, r.request("GET", console.Base+path, nil))
	}
}
