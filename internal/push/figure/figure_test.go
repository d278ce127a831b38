package figure

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/metricstest"
	"github.com/hikyaku/hikyaku/internal/push"
)

type still Figures

func (s still) Figures() Figures { return Figures(s) }

func TestTheFiguresOfSinksAreShownUnderTheSameNames(t *testing.T) {
	f := Figures{
		Refused: map[string]uint64{"Unregistered": 3, "odd \xff": 1}, Dead: 7, Resting: 2,
		Apps: map[string]App{"news": {Paused: true, TokenAge: time.Minute}, "mail": {}},
	}
	for range 2 {
		f.Add(push.Stats{Connections: 1, Leaving: 1, StreamsUsed: 4, StreamsLimit: 100, Waiting: 5, Responses: 9,
			Unknown: 1})
	}
	got := map[string]float64{}
	for name, n := range metricstest.Of(t, NewCollector(func() map[string]Teller {
		return map[string]Teller{"phones": still(f), "browsers": still{}}
	})) {
		got[strings.TrimPrefix(name, "hikyaku_push_")] = n
	}
	want := map[string]float64{
		"requests_total phones": 20, "refused_total Unregistered phones": 3, "refused_total odd \uFFFD phones": 1,
		"dead_devices phones": 7, "resting_devices phones": 2, "in_flight phones": 8, "waiting phones": 10,
		"connections phones": 4, "streams phones": 200, "paused news phones": 1, "paused mail phones": 0,
		"token_age_seconds news phones": 60,
	}
	for _, name := range []string{
		"requests_total", "dead_devices", "resting_devices", "in_flight", "waiting", "connections", "streams",
	} {
		want[name+" browsers"] = 0
	}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, slices.Sorted(maps.Keys(want)))
	}
}
