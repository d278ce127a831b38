package lambda

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

const mappings = "/2015-03-31/event-source-mappings/"

// mapped is a request for a mapping of queue work to function f with filters.
func mapped(t *testing.T, patterns ...string) string {
	t.Helper()
	in := map[string]any{"EventSourceArn": "arn:aws:sqs:us-east-1:000000000000:work", "FunctionName": "f",
		"BatchSize": 10, "FilterCriteria": criteria(patterns...)}
	text, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func criteria(patterns ...string) map[string]any {
	filters := []any{}
	for _, p := range patterns {
		filters = append(filters, map[string]any{"Pattern": p})
	}
	return map[string]any{"Filters": filters}
}

// emptied waits until nothing of a queue is left.
func (r *rig) emptied(n queue.Name) {
	r.t.Helper()
	waittest.Until(r.t, n.Short()+" is empty", func() bool {
		idle, err := r.store.Idle(r.t.Context(), n, nil)
		return idle && err == nil
	})
}

func TestAMappingGivesItsFunctionWhatItsFiltersMatch(t *testing.T) {
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	r := openRig(t, dir, Config{}, nil)
	r.create("f", map[string]any{"Timeout": 30,
		"Environment": map[string]any{"Variables": map[string]string{"SEEN": seen}}})
	work := queue.Name{Namespace: "default", Name: "work"}
	put := func(bodies ...string) {
		t.Helper()
		var all []message.Message
		for _, b := range bodies {
			m := message.Message{Body: []byte(b)}
			if strings.HasPrefix(b, "urgent") {
				m.Attributes.Set("class", message.String("express"))
			}
			all = append(all, m)
		}
		if _, err := r.store.Put(t.Context(), work, all); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"state":"open","n":1}`, `{"state":"shut"}`, `{"state":"OPEN"}`, "a letter", "Result: 7", "urgent",
		`["Result: 8"]`, "urge")
	patterns := []string{
		`{"body":{"state":["open"]}}`, `{"body":[{"prefix":"Result: "}]}`,
		`{"messageAttributes":{"class":{"stringValue":["express"]}},"eventSource":["aws:sqs"]}`,
	}
	made := r.ok(202, "POST", mappings, mapped(t, patterns...)).json(t)
	r.emptied(work)
	want := []string{"Result: 7", "urgent", `["Result: 8"]`, `{"state":"open","n":1}`}
	for _, answer := range []got{r.ok(200, "GET", mappings+made["UUID"].(string), ""), r.ok(200, "GET", mappings, "")} {
		text, err := json.Marshal(criteria(patterns...))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(answer.text, `"FilterCriteria":`+string(text)) {
			t.Errorf("the filters are not in %s", answer.text)
		}
	}
	r.stop() // they are in force after a restart, too
	r = openRig(t, dir, Config{}, nil)
	put(`{"state":"shut"}`, `{"state":"open","n":2}`)
	r.emptied(work)
	want = append(want, `{"state":"open","n":2}`)
	r.ok(202, "PUT", mappings+made["UUID"].(string), `{"FilterCriteria":{"Filters":[]}}`)
	if m := r.ok(200, "GET", mappings+made["UUID"].(string), "").json(t); m["FilterCriteria"] != nil {
		t.Errorf("the filters were taken away: %v", m)
	}
	put("anything")
	r.emptied(work)
	want = append(want, "anything")
	text, err := os.ReadFile(seen)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	slices.Sort(lines)
	slices.Sort(want)
	if !reflect.DeepEqual(lines, want) {
		t.Errorf("the function got %q, wanted %q", lines, want)
	}
}

func TestFiltersThatCannotBeAreRefusedInTheServicesWords(t *testing.T) {
	r := openRig(t, t.TempDir(), Config{}, nil)
	r.create("f", map[string]any{"Timeout": 30})
	work := queue.Name{Namespace: "default", Name: "work"}
	if _, err := r.store.Put(t.Context(), work, []message.Message{{Body: []byte("kept")}}); err != nil {
		t.Fatal(err)
	}
	five := slices.Repeat([]string{`{"body":["x"]}`}, 5)
	for _, c := range []struct{ body, kind, text string }{
		{mapped(t, "null"), "InvalidParameterValueException", "Invalid filter pattern definition."},
		{mapped(t, "simple string"), "InvalidParameterValueException", "Invalid filter pattern definition."},
		{mapped(t, `{"eventSource":"aws:sqs"}`), "InvalidParameterValueException",
			"Invalid filter pattern definition."},
		{mapped(t, `{"eventSource":[]}`), "InvalidParameterValueException", "Invalid filter pattern definition."},
		{mapped(t, append(five, five[0])...), "InvalidParameterValueException", "at most 5 filters"},
		{mapped(t, `{"body":["`+strings.Repeat("x", 4096)+`"]}`), "ValidationException",
			"at 'filterCriteria.filters.1.member.pattern' failed to satisfy constraint: Member must have length less " +
				"than or equal to 4096"},
	} {
		g := r.ok(400, "POST", mappings, c.body)
		if g.Header.Get("X-Amzn-Errortype") != c.kind || !strings.Contains(g.text, c.text) {
			t.Errorf("%.100s: %s %.300s", c.body, g.Header.Get("X-Amzn-Errortype"), g.text)
		}
	}
	made := r.ok(202, "POST", mappings,
		mapped(t, append(five[:4:4], `{"body":{"$or":[{"a":[1]},{"b":[2]}]}}`)...)).json(t)
	r.ok(400, "PUT", mappings+made["UUID"].(string), `{"FilterCriteria":{"Filters":[{"Pattern":"{}"}]}}`)
	r.emptied(work) // nothing matched the message
}
