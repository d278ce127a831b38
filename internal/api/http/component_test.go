package http_test

import (
	"strings"
	"testing"
	"time"

	door "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/mask"
	"github.com/hikyaku/hikyaku/internal/pipeline"
)

func TestAComponentIsToldWithItsSettingsAndWithoutSecrets(t *testing.T) {
	when := time.Date(2026, 11, 29, 1, 2, 3, 0, time.UTC)
	r := start(t, settings{secrets: mask.New(mask.Secret{Text: "open-sesame", Shown: "********"}),
		components: func() []pipeline.NodeStats {
			return []pipeline.NodeStats{{Name: "in", Kind: pipeline.KindSource}, {Name: "hook", Kind: pipeline.KindSink,
				DeadLetter: "hook_dead", In: 9, Delivered: 5, Retries: 2, Rejected: 1, InFlight: 3, Waiting: 2,
				Limit: 4, LastError: "401: open-sesame", LastErrorTime: when,
				Counts: map[string]uint64{"cut": 1}}}
		}, describe: func(name string) door.ComponentSettings {
			long := strings.Repeat("飛", 3000)
			s := door.ComponentSettings{Type: "webhook", Settings: []door.ComponentSetting{{Name: "url", Text: long}}}
			for range 25 {
				s.Notices = append(s.Notices, name+" saw open-sesame")
			}
			return s
		}})
	reply := r.want(200, "GET", "/-/components/hook", "")
	if strings.Contains(string(reply.body), "open-sesame") {
		t.Errorf("a secret is shown: %s", reply.body)
	}
	var got door.Component
	reply.json(t, &got)
	if got.Name != "hook" || got.Type != "webhook" || got.Taken != 9 || got.Retried != 2 || got.Rejected != 1 ||
		got.InFlight != 3 || got.Waiting != 2 || got.Limit != 4 || got.DeadLetter != "default/hook_dead" ||
		got.LastError != "401: ********" || got.LastErrorTime == nil || !got.LastErrorTime.Equal(when) ||
		got.Counts["cut"] != 1 {
		t.Errorf("told %+v", got)
	}
	if len(got.Notices) != 20 || len(got.Settings) != 1 || len(got.Settings[0].Text) > 5000 {
		t.Errorf("%d notices, settings %d", len(got.Notices), len(got.Settings))
	}
	r.refused("no-such-component", "GET", "/-/components/none", "")
}
