package deployment_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv("KILLED_OWNER"); dir != "" {
		beKilled(dir)
		return
	}
	goleak.VerifyTestMain(m)
}

// open opens a Registry in a folder. What it returns closes it; so does the test's end.
func open(t *testing.T, dir string, change ...func(*deployment.Config)) (*deployment.Registry, *queue.Store, func()) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(dir, "journal"), Durability: journal.OS,
		SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	c := deployment.Config{Store: s, Dir: filepath.Join(dir, "functions"),
		Pool: function.Config{Isolation: function.None}, RetryDelay: time.Millisecond,
		Report: func(err error) { t.Log("reported:", err) }}
	for _, f := range change {
		f(&c)
	}
	r, err := deployment.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	closed := false
	end := func() {
		if closed {
			return
		}
		closed = true
		if err := errors.Join(r.Close(), s.Close(), j.Close()); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(end)
	return r, s, end
}

// says is an archive with a function that answers with a word.
func says(t *testing.T, word string) deployment.Code {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	f, err := w.Create("app.py")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintf(f, "def handler(event, context):\n    return %q\n", word); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return deployment.Code{Zip: buf.Bytes()}
}

var python = deployment.Settings{Runtime: "python3", Handler: "app.handler", Timeout: 30 * time.Second,
	InitTimeout: time.Minute}

// invoke is what a version answers.
func invoke(t *testing.T, r *deployment.Registry, name, qualifier string) string {
	t.Helper()
	result, err := r.Invoke(t.Context(), function.Request{Function: name, Version: qualifier, Payload: []byte("{}")})
	if err != nil {
		return err.Error()
	}
	return string(result.Payload)
}

func want(t *testing.T, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("got %s, wanted %s", got, want)
	}
}

func TestVersionsAndAliasesAreThereAfterARestart(t *testing.T) {
	dir := t.TempDir()
	r, _, end := open(t, dir)
	ctx := t.Context()
	if _, err := r.Create(ctx, "f", python, says(t, "one"), map[string]string{"team": "couriers"}); err != nil {
		t.Fatal(err)
	}
	if v, err := r.Publish(ctx, "f", "first", "", ""); err != nil || v.Number != "1" {
		t.Fatalf("%+v, %v", v, err)
	}
	code := says(t, "two")
	if _, err := r.Update(ctx, "f", "", nil, &code); err != nil {
		t.Fatal(err)
	}
	if _, err := r.SetAlias(ctx, "f", deployment.Alias{Name: "live", Version: "1"}, true); err != nil {
		t.Fatal(err)
	}
	check := func() {
		t.Helper()
		want(t, invoke(t, r, "f", ""), `"two"`)
		want(t, invoke(t, r, "f", "1"), `"one"`)
		want(t, invoke(t, r, "f", "live"), `"one"`)
		want(t, invoke(t, r, "f", "2"), "Function not found: arn:aws:lambda:us-east-1:000000000000:function:f:2")
		if f, err := r.Get("f"); err != nil || f.Tags["team"] != "couriers" {
			t.Errorf("%+v, %v", f, err)
		}
	}
	check()
	end()
	if err := os.WriteFile(filepath.Join(dir, "functions", "code", "nobodys.zip"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r, _, end = open(t, dir)
	check()
	archives, err := os.ReadDir(filepath.Join(dir, "functions", "code"))
	if err != nil || len(archives) != 2 {
		t.Errorf("archives: %v, %v", archives, err)
	}
	if err := r.Delete(ctx, "f", ""); err != nil {
		t.Fatal(err)
	}
	end()
	r, _, _ = open(t, dir)
	if all := r.List(); len(all) != 0 {
		t.Errorf("a deleted function is there again: %v", all)
	}
}

func TestCodeThatCannotBeUsedChangesNothing(t *testing.T) {
	r, _, _ := open(t, t.TempDir())
	if _, err := r.Create(t.Context(), "f", python, says(t, "good"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Update(t.Context(), "f", "", nil, &deployment.Code{Zip: []byte("no archive")}); err == nil {
		t.Fatal("it is taken")
	}
	if _, err := r.Update(t.Context(), "f", "", func(s *deployment.Settings) error { s.Runtime = "cobol"; return nil },
		nil); err == nil {
		t.Fatal("it is taken")
	}
	want(t, invoke(t, r, "f", ""), `"good"`)
	if _, err := r.Create(t.Context(), "g", python, deployment.Code{}, nil); !errors.Is(err, deployment.ErrInvalid) {
		t.Errorf("without code: %v", err)
	}
	if _, err := r.Get("g"); !errors.Is(err, deployment.ErrUnknown) {
		t.Errorf("it is there: %v", err)
	}
}

func TestADefinitionThatDiffersIsShownUnlessItIsAdopted(t *testing.T) {
	r, _, _ := open(t, t.TempDir())
	spec := deployment.Spec{Name: "f", Settings: python, Code: says(t, "one")}
	define := func(adopt bool) error { return r.Define(t.Context(), spec, adopt) }
	for range 2 {
		if err := define(false); err != nil {
			t.Fatal(err)
		}
	}
	spec.Code = says(t, "two") // a new build of the same function
	if err := define(false); err != nil {
		t.Fatal(err)
	}
	want(t, invoke(t, r, "f", ""), `"two"`)
	spec.Settings.MemoryMB = 512
	spec.Settings.Environment = map[string]string{"TOKEN": "secret"}
	one := 1
	spec.Reserved = &one
	err := define(false)
	different := (*deployment.DifferentError)(nil)
	if !errors.As(err, &different) || !errors.Is(err, deployment.ErrExists) || len(different.Differences) != 3 ||
		strings.Contains(err.Error(), "secret") {
		t.Fatalf("%v", err)
	}
	if err := define(true); err != nil {
		t.Fatal(err)
	}
	if err := define(false); err != nil {
		t.Errorf("after it was adopted: %v", err)
	}
}

func TestAQueueFeedsAFunctionByBatches(t *testing.T) {
	dir := t.TempDir()
	r, s, end := open(t, dir)
	seen := filepath.Join(dir, "seen")
	code := filepath.Join(dir, "code")
	if err := os.Mkdir(code, 0o755); err != nil {
		t.Fatal(err)
	}
	text := fmt.Sprintf("def handler(event, context):\n    with open(%q, 'a') as f: f.write(' '.join(r['body'] for r "+
		"in event['Records']) + '\\n')\n", seen)
	if err := os.WriteFile(filepath.Join(code, "app.py"), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Create(t.Context(), "f", python, deployment.Code{Folder: code}, nil); err != nil {
		t.Fatal(err)
	}
	from := queue.Name{Namespace: "default", Name: "work"}
	if _, err := r.Map(t.Context(), deployment.Mapping{Queue: from.String(), Function: "f"}); !errors.Is(err,
		deployment.ErrInvalid) {
		t.Errorf("a queue that is not there: %v", err)
	}
	put(t, s, from, "a", "b", "c")
	m, err := r.Map(t.Context(),
		deployment.Mapping{Queue: from.String(), Function: "f", SourceARN: "arn:aws:sqs:us-east-1:0:work", Batch: 2})
	if err != nil {
		t.Fatal(err)
	}
	empty(t, s, from)
	end()
	r, s, _ = open(t, dir) // it goes on after a restart
	put(t, s, from, "d")
	empty(t, s, from)
	if _, err := r.Unmap(t.Context(), m.ID); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Mapping(m.ID); !errors.Is(err, deployment.ErrUnknown) {
		t.Errorf("it is still there: %v", err)
	}
	f, err := os.Open(seen)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got, err := io.ReadAll(f)
	if err != nil || len(strings.Fields(string(got))) != 4 || strings.Count(string(got), "\n") != 3 {
		t.Errorf("batches: %q, %v", got, err)
	}
}

// TestQueuesAndEventsWaitBesideEachOther has three queues and events feed functions, with batches that wait for more:
// no claim is refused because another one waits.
func TestQueuesAndEventsWaitBesideEachOther(t *testing.T) {
	r, s, end := open(t, t.TempDir(), func(c *deployment.Config) {
		c.Report = func(err error) { t.Error("reported:", err) }
	})
	if _, err := r.Create(t.Context(), "f", python, says(t, "done"), nil); err != nil {
		t.Fatal(err)
	}
	var queues []queue.Name
	for _, name := range []string{"a", "b", "c"} {
		n := queue.Name{Namespace: "default", Name: name}
		queues = append(queues, n)
		put(t, s, n, "first")
		if _, err := r.Map(t.Context(), deployment.Mapping{Queue: n.String(), Function: "f", Batch: 10,
			Window: 300 * time.Millisecond, SourceARN: "arn:aws:sqs:us-east-1:0:" + name}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 5 {
		if _, err := r.Enqueue(t.Context(), function.Request{Function: "f", Payload: []byte("{}")}); err != nil {
			t.Fatal(err)
		}
		for _, n := range queues {
			put(t, s, n, fmt.Sprint(i))
		}
		for _, n := range queues {
			empty(t, s, n)
		}
	}
	end()
}

func put(t *testing.T, s *queue.Store, n queue.Name, bodies ...string) {
	t.Helper()
	if _, err := s.Put(t.Context(), n, messages(bodies...)); err != nil {
		t.Fatal(err)
	}
}

// empty waits until everything in a queue is settled.
func empty(t *testing.T, s *queue.Store, n queue.Name) {
	t.Helper()
	waittest.Until(t, n.Short()+" is empty", func() bool {
		idle, err := s.Idle(t.Context(), n, nil)
		return idle && err == nil
	})
}

// TestFunctionsOfTheConfigurationAreMadeWhenMemoryIsFull, unlike those of clients.
func TestFunctionsOfTheConfigurationAreMadeWhenMemoryIsFull(t *testing.T) {
	j, err := file.Open(t.Context(), file.Options{Dir: t.TempDir(), Durability: journal.OS, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := queue.Open(t.Context(), queue.Options{Journal: j, Limits: queue.Limits{Memory: 1000}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := deployment.Open(t.Context(), deployment.Config{Store: s, Dir: t.TempDir(),
		Pool: function.Config{Isolation: function.None}})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if err := s.KeepNotes(t.Context(), queue.Note{Room: "room", Key: "k", Value: make([]byte, 2000)}); err != nil {
		t.Fatal(err)
	}
	code := says(t, "one")
	if _, err := r.Create(t.Context(), "of_a_client", python, code, nil); !errors.Is(err, queue.ErrQueueFull) {
		t.Errorf("a function of a client: %v", err)
	}
	spec := deployment.Spec{Name: "f", Settings: python, Code: code}
	if err := r.Define(t.Context(), spec, false); err != nil {
		t.Error(err)
	}
	spec.Settings.Environment = map[string]string{"A": strings.Repeat("a", 100)}
	if err := r.Define(t.Context(), spec, true); err != nil {
		t.Errorf("with other settings: %v", err)
	}
}
