package function

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const program = `
import json
def handler(event, context):
    records = event["Records"] if "Records" in event else [{"body": json.dumps(event), "messageId": ""}]
    bodies = [r["body"] for r in records]
    if "poison" in bodies: raise ValueError("poison")
    failed = [{"itemIdentifier": r["messageId"]} for r in records if r["body"] == "bad"]
    return {"batchItemFailures": failed, "bodies": bodies}
`

// answers is where a sink's answers go.
type answers struct{ got []message.Message }

func (a *answers) Publish(_ context.Context, _ queue.Name, ms []message.Message) ([]queue.PutResult, error) {
	a.got = append(a.got, ms...)
	return make([]queue.PutResult, len(ms)), nil
}

// open makes a sink over a pool with the function f.
func open(t *testing.T, c Config) (*Sink, *answers) {
	t.Helper()
	p, err := function.New(function.Config{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "app.py"), []byte(program), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Deploy(function.Definition{Name: "f", Runtime: "python3.11", Handler: "app.handler",
		Code: code.Source{Folder: dir}, Timeout: time.Minute, InitTimeout: time.Minute}); err != nil {
		t.Fatal(err)
	}
	made, err := New(c, component.Env{Name: "sink", Functions: p})
	if err != nil {
		t.Fatal(err)
	}
	s, ok := made.(*Sink)
	if !ok {
		t.Fatalf("%T", made)
	}
	a := &answers{}
	s.store = a
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, a
}

func batch(bodies ...string) []*message.Message {
	var all []*message.Message
	for _, b := range bodies {
		all = append(all, &message.Message{ID: message.NewID(), Body: []byte(b), Time: time.Now(), Key: "k"})
	}
	return all
}

func send(t *testing.T, s *Sink, b []*message.Message) string {
	t.Helper()
	outcomes, err := s.Send(t.Context(), b)
	if err != nil {
		return err.Error()
	}
	words := []string{}
	for _, o := range outcomes {
		words = append(words, o.Verdict.String())
	}
	return strings.Join(words, " ")
}

func TestABatchIsOneEvent(t *testing.T) {
	s, a := open(t, Config{Function: "f", Answers: "out"})
	if got := send(t, s, batch("a", "b")); got != "delivered delivered" {
		t.Error(got)
	}
	var answer struct{ Bodies []string }
	if len(a.got) != 1 || json.Unmarshal(a.got[0].Body, &answer) != nil || strings.Join(answer.Bodies, "") != "ab" {
		t.Errorf("answers: %v", a.got)
	}
}

func TestOnlyWhatTheFunctionReportsIsTriedAgain(t *testing.T) {
	s, _ := open(t, Config{Function: "f", PartialFailures: true})
	if got := send(t, s, batch("a", "bad", "c")); got != "delivered retry delivered" {
		t.Error(got)
	}
}

func TestABatchThatFailsIsTriedAgainAsAWholeOrByHalves(t *testing.T) {
	s, a := open(t, Config{Function: "f", Answers: "out"})
	if got := send(t, s, batch("a", "poison")); got != "retry retry" || len(a.got) != 0 {
		t.Errorf("%s, %d answers", got, len(a.got))
	}
	s.bisect = true
	if _, err := s.Send(t.Context(), batch("a", "poison")); !component.IsReject(err) ||
		!strings.Contains(err.Error(), "poison") || !strings.HasPrefix(err.Error(), "function f: ") ||
		!strings.HasSuffix(err.Error(), "hikyaku function logs f)") {
		t.Errorf("by halves: %v", err)
	}
}

func TestARawEventIsTheBody(t *testing.T) {
	s, a := open(t, Config{Function: "f", Event: "raw", Answers: "out"})
	if s.Limits().MaxEvents != 1 {
		t.Error("raw events have several messages")
	}
	if got := send(t, s, batch(`{"x":1}`)); got != "delivered" ||
		!strings.Contains(string(a.got[0].Body), `{\"x\": 1}`) || a.got[0].Key != "k" {
		t.Errorf("%s: %v", got, a.got)
	}
}

func TestAFunctionThatIsNotThereRejects(t *testing.T) {
	s, _ := open(t, Config{Function: "absent"})
	outcomes, err := s.Send(t.Context(), batch("a"))
	if err != nil || outcomes[0].Verdict != component.Rejected ||
		!strings.Contains(outcomes[0].Reason.Error(), "deploy it") {
		t.Errorf("%v, %v", outcomes, err)
	}
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for setting, c := range map[string]Config{
		"function": {}, "partial_failures": {Function: "f", Event: "raw", PartialFailures: true},
		"answers": {Function: "f", Answers: "a/b/c"},
	} {
		_, err := New(c, component.Env{Name: "s"})
		if e := (*component.SettingError)(nil); !errors.As(err, &e) || e.Setting != setting {
			t.Errorf("%s: %v", setting, err)
		}
	}
	if _, err := New(Config{Function: "a b"}, component.Env{}); err == nil {
		t.Error("a name with a space")
	}
	s, err := New(Config{Function: "f"}, component.Env{Name: "s"})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.(component.Starter).Start(t.Context()); !errors.Is(err, ErrNoFunctions) {
		t.Errorf("it starts without functions: %v", err)
	}
}
