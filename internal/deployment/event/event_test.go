package event_test

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/hikyaku/hikyaku/internal/deployment/event"
	"github.com/hikyaku/hikyaku/internal/message"
)

var update = flag.Bool("update", false, "write golden files anew")

// sent are messages that have all that an event can show.
func sent(t testing.TB, bodies ...string) []*message.Message {
	t.Helper()
	var all []*message.Message
	for i, body := range bodies {
		id, err := message.ParseID("0192f3c0-0000-7000-8000-00000000000" + string(rune('1'+i)))
		if err != nil {
			t.Fatal(err)
		}
		m := &message.Message{ID: id, Body: []byte(body), Key: "group", Time: time.UnixMilli(1_700_000_000_123)}
		m.Attributes.Set("lang", message.String("ja"))
		m.Attributes.Set("n", message.Int(7))
		m.Attributes.Set("raw", message.Bytes([]byte{0, 255}))
		m.Attributes.Set("nothing", message.Null())
		all = append(all, m)
	}
	return all
}

var first = regexp.MustCompile(`("ApproximateFirstReceiveTimestamp": )"\d+"`)

func TestEventsLookAsTheProvidersSourcesMakeThem(t *testing.T) {
	for _, shape := range []event.Shape{event.ShapeSQS, event.ShapeDynamoDB, event.ShapePubSub, event.ShapeRaw} {
		bodies := []string{`{"色": "赤", "n": 1.50, "list": [true, null, {"a": "b"}]}`, `{}`}
		if shape.Lone() {
			bodies = bodies[:1]
		}
		text, err := event.Make(shape, event.Batch{Messages: sent(t, bodies...), Attempts: []int{3},
			ARN: "arn:aws:sqs:us-east-1:000000000000:news", Region: "us-east-1"})
		if err != nil {
			t.Fatal(err)
		}
		var v any
		if err := json.Unmarshal(text, &v); err != nil {
			t.Fatal(err)
		}
		pretty, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := first.ReplaceAllString(string(pretty), `$1"NOW"`) + "\n"
		path := filepath.Join("testdata", string(shape)+".json")
		if *update {
			if err := os.MkdirAll("testdata", 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got)\n%s", shape, diff)
		}
	}
}

func TestABodyThatIsNoJSONIsAString(t *testing.T) {
	text, err := event.Make(event.ShapeRaw, event.Batch{Messages: sent(t, "plain \xff")})
	if err != nil || string(text) != `"plain �"` {
		t.Errorf("%s, %v", text, err)
	}
	if _, err := event.Make(event.ShapeDynamoDB, event.Batch{Messages: sent(t, "[1]")}); err == nil ||
		!strings.Contains(err.Error(), "no JSON object") {
		t.Errorf("an item of a list: %v", err)
	}
	if _, err := event.Make(event.ShapeRaw, event.Batch{Messages: sent(t, "a", "b")}); err == nil {
		t.Error("two messages make one raw event")
	}
}

func TestOnlyAProperListOfFailuresLetsMessagesPass(t *testing.T) {
	batch := sent(t, "a", "b", "c")
	for answer, want := range map[string]string{
		``: "", `null`: "", `{}`: "", `{"batchItemFailures":null}`: "", `{"batchItemFailures":[]}`: "",
		`{"batchItemFailures":[{"itemIdentifier":"` + batch[1].ID.String() + `"}]}`: "1",
		`{"batchItemFailures":[{"itemIdentifier":""}]}`:                             "error",
		`{"batchItemFailures":[{"other":"x"}]}`:                                     "error",
		`{"batchItemFailures":[{"itemIdentifier":"unknown"}]}`:                      "error",
		`"text"`: "error",
	} {
		failed, err := event.Failed([]byte(answer), batch)
		got := ""
		for i := range batch {
			if failed[i] {
				got += string(rune('0' + i))
			}
		}
		if err != nil {
			got = "error"
		}
		if got != want {
			t.Errorf("%s: %q, wanted %q (%v)", answer, got, want, err)
		}
	}
}

func FuzzFailed(f *testing.F) {
	f.Add([]byte(`{"batchItemFailures":[{"itemIdentifier":"x"}]}`))
	f.Add([]byte(`null`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		batch := sent(t, "a", "b")
		failed, err := event.Failed(answer, batch)
		if err != nil && failed != nil {
			t.Error("an error and places")
		}
		for i := range failed {
			if i < 0 || i >= len(batch) {
				t.Errorf("place %d", i)
			}
		}
	})
}

func FuzzMake(f *testing.F) {
	f.Add("sqs", []byte("text"))
	f.Add("dynamodb", []byte(`{"a":{"b":[1,"2",null]}}`))
	f.Add("pubsub", []byte{0xff})
	f.Add("raw", []byte(`{"a":1}`))
	f.Fuzz(func(t *testing.T, shape string, body []byte) {
		text, err := event.Make(event.Shape(shape), event.Batch{Messages: sent(t, string(body))})
		if err == nil && !json.Valid(text) {
			t.Errorf("%q", text)
		}
	})
}
