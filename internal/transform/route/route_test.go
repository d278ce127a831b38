package route_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/transform/route"
)

var three = route.Routes{{"errors", "level >= 4"}, {"japanese", "lang = 'ja'"},
	{"all-errors", "level >= 4 or level is null"}}

func mustNew(t rapid.TB, c route.Config) component.Transform {
	t.Helper()
	tr, err := route.New(c, component.Env{})
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// taken are the ports that a message leaves by.
func taken(t rapid.TB, tr component.Transform, m *message.Message) []string {
	t.Helper()
	ports := []string{}
	var outs []*message.Message
	err := tr.Transform(context.Background(), m, func(port string, out *message.Message) {
		ports, outs = append(ports, port), append(outs, out)
	})
	if err != nil {
		t.Errorf("%s: %v", m.Body, err)
	}
	for i, out := range outs {
		if out == m || slices.Contains(outs[:i], out) || string(out.Body) != string(m.Body) {
			t.Errorf("%s: two ways share one message, or it was changed", m.Body)
		}
	}
	return ports
}

func TestAMessageTakesEveryRouteThatMatches(t *testing.T) {
	all, first := mustNew(t, route.Config{Routes: three}), mustNew(t, route.Config{Routes: three, First: true})
	for _, c := range []struct {
		body  string
		ports []string
	}{
		{`{"level": 5, "lang": "ja"}`, []string{"errors", "japanese", "all-errors"}},
		{`{"level": 1, "lang": "ja"}`, []string{"japanese"}},
		{`{"level": 1, "lang": "en"}`, []string{"_unmatched"}},
		{`{"lang": "ja"}`, []string{"japanese", "all-errors"}},
		{`no JSON`, []string{"all-errors"}},
	} {
		m := &message.Message{Body: []byte(c.body)}
		if d := cmp.Diff(c.ports, taken(t, all, m)); d != "" {
			t.Errorf("%s: %s", c.body, d)
		}
		if d := cmp.Diff(c.ports[:1], taken(t, first, m)); d != "" {
			t.Errorf("%s, first: %s", c.body, d)
		}
	}
}

func TestPortsAreTheRoutesInOrderAndUnmatched(t *testing.T) {
	ports := mustNew(t, route.Config{Routes: three}).(component.Ports).Ports()
	if d := cmp.Diff([]string{"errors", "japanese", "all-errors", "_unmatched"}, ports); d != "" {
		t.Error(d)
	}
}

func TestEveryMessageLeavesSomewhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bounds := rapid.SliceOfN(rapid.IntRange(-5, 5), 1, 5).Draw(t, "bounds")
		var routes route.Routes
		for i, b := range bounds {
			routes = append(routes, route.Route{Name: fmt.Sprint("r", i), Where: fmt.Sprint("n >= ", b)})
		}
		n := rapid.IntRange(-6, 6).Draw(t, "n")
		want := []string{}
		for i, b := range bounds {
			if n >= b {
				want = append(want, fmt.Sprint("r", i))
			}
		}
		if len(want) == 0 {
			want = []string{route.Unmatched}
		}
		m := &message.Message{Body: fmt.Appendf(nil, `{"n":%d}`, n)}
		if d := cmp.Diff(want, taken(t, mustNew(t, route.Config{Routes: routes}), m)); d != "" {
			t.Fatal(d)
		}
		if d := cmp.Diff(want[:1], taken(t, mustNew(t, route.Config{Routes: routes, First: true}), m)); d != "" {
			t.Fatal("first: ", d)
		}
	})
}

func TestRoutesKeepTheOrderOfTheMapping(t *testing.T) {
	var r route.Routes
	if err := r.SetPairs([]component.Pair{{Key: "z", Value: "true"}, {Key: "a", Value: "false"}}); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(route.Routes{{"z", "true"}, {"a", "false"}}, r); d != "" {
		t.Error(d)
	}
	err := r.SetPairs([]component.Pair{{Key: "b", Value: true}})
	var e *component.SettingError
	if !errors.As(err, &e) || e.Setting != "b" {
		t.Errorf("a condition that is no text: %v", err)
	}
	if len(r) != 2 {
		t.Error("a refused mapping was half taken")
	}
}

func TestSettingsAreChecked(t *testing.T) {
	var many route.Routes
	for i := range 1001 {
		many = append(many, route.Route{Name: fmt.Sprint("r", i), Where: "true"})
	}
	for _, c := range []struct {
		routes  route.Routes
		setting string
		offset  int
	}{
		{nil, "routes", -1},
		{many, "routes", -1},
		{route.Routes{{"a.b", "true"}}, "routes.a.b", -1},
		{route.Routes{{"", "true"}}, "routes.", -1},
		{route.Routes{{"_mine", "true"}}, "routes._mine", -1},
		{route.Routes{{"a", "true"}, {"a", "false"}}, "routes.a", -1},
		{route.Routes{{"a", "true"}, {"b", "level >="}}, "routes.b", 8},
	} {
		_, err := route.New(route.Config{Routes: c.routes}, component.Env{})
		var e *component.SettingError
		if !errors.As(err, &e) || e.Setting != c.setting || e.Offset != c.offset {
			t.Errorf("got %v, want an error about %s at %d", err, c.setting, c.offset)
		}
		var bad *condition.Error
		if errors.As(err, &bad) != (c.offset >= 0) {
			t.Errorf("%v: the condition's own error is hidden", err)
		}
	}
}

func TestOneTransformServesManyGoroutines(t *testing.T) {
	tr := mustNew(t, route.Config{Routes: three})
	var work sync.WaitGroup
	for range 8 {
		work.Go(func() {
			for range 100 {
				m := &message.Message{Body: []byte(`{"level": 5, "lang": "en"}`)}
				if got := strings.Join(taken(t, tr, m), " "); got != "errors all-errors" {
					t.Errorf("took %s", got)
				}
			}
		})
	}
	work.Wait()
}

func Example() {
	byLevel, err := route.New(route.Config{Routes: route.Routes{
		{Name: "errors", Where: "level >= 4"},
		{Name: "japanese", Where: "lang = 'ja'"},
	}}, component.Env{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, body := range []string{`{"level":5,"lang":"ja"}`, `{"level":1,"lang":"en"}`} {
		err := byLevel.Transform(context.Background(), &message.Message{Body: []byte(body)},
			func(port string, out *message.Message) {
				fmt.Printf("%s: %s\n", port, out.Body)
			})
		if err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// errors: {"level":5,"lang":"ja"}
	// japanese: {"level":5,"lang":"ja"}
	// _unmatched: {"level":1,"lang":"en"}
}
