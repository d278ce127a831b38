package file

import (
	"context"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// notes is a memory that survives the restarts of a test.
type notes struct {
	mu    sync.Mutex
	kept  map[string]queue.Note
	fail  error // what KeepNotes answers
	calls int
}

func newNotes() *notes { return &notes{kept: map[string]queue.Note{}} }

func (n *notes) KeepNotes(ctx context.Context, ns ...queue.Note) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.calls++
	if err := errors.Join(ctx.Err(), n.fail); err != nil {
		return err
	}
	for _, note := range ns {
		if note.Value == nil {
			delete(n.kept, note.Key)
			continue
		}
		n.kept[note.Key] = note
	}
	return nil
}

func (n *notes) Notes(context.Context, string) ([]queue.Note, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Collect(maps.Values(n.kept)), nil
}

func (n *notes) failWith(err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.fail = err
}

func (n *notes) len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.kept)
}

// folder is where a test's files are.
type folder struct {
	t   *testing.T
	dir string
}

func newFolder(t *testing.T) folder { return folder{t, t.TempDir()} }

func (f folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f folder) check(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

func (f folder) append(name, text string) {
	f.t.Helper()
	file, err := os.OpenFile(f.path(name), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	f.check(err)
	_, err = file.WriteString(text)
	f.check(errors.Join(err, file.Close()))
}

func (f folder) rename(from, to string) {
	f.t.Helper()
	f.check(os.Rename(f.path(from), f.path(to)))
}

func (f folder) truncate(name string) {
	f.t.Helper()
	f.check(os.Truncate(f.path(name), 0))
}

// running is a source that runs.
type running struct {
	t *testing.T
	*Source
	got    chan component.Delivery
	cancel context.CancelFunc
	ended  chan error
}

type out struct{ got chan component.Delivery }

func (o out) Send(ctx context.Context, d component.Delivery) error {
	select {
	case o.got <- d:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// begin starts a source over files of the folder. Times that tests would wait for are short unless the test says
// otherwise.
func begin(t *testing.T, m memory, c Config) *running {
	t.Helper()
	return beginAs(t, m, c, true)
}

// beginAs is begin for a source that is told of changes, or is not and has to poll.
func beginAs(t *testing.T, m memory, c Config, watching bool) *running {
	t.Helper()
	r := prepare(t, m, c)
	r.watching = watching
	r.run()
	return r
}

// prepare makes a source that was started and does not run yet.
func prepare(t *testing.T, m memory, c Config) *running {
	t.Helper()
	if c.PollInterval == 0 {
		c.PollInterval = 2 * time.Millisecond
	}
	if c.RotateWait == 0 {
		c.RotateWait = 50 * time.Millisecond
	}
	made, err := New(c, component.Env{Name: "logs"})
	if err != nil {
		t.Fatal(err)
	}
	r := &running{t: t, Source: made.(*Source), got: make(chan component.Delivery), ended: make(chan error, 1)}
	r.memory = m
	if err := r.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// run lets a prepared source run.
func (r *running) run() {
	ctx, cancel := context.WithCancel(r.t.Context())
	r.cancel = cancel
	go func() { r.ended <- r.Run(ctx, out{r.got}) }()
}

// next receives a delivery.
func (r *running) next() component.Delivery {
	r.t.Helper()
	select {
	case d := <-r.got:
		return d
	case err := <-r.ended:
		r.t.Fatalf("the source ended: %v", err)
	case <-time.After(time.Minute):
		r.t.Fatalf("no line came; notices: %q", r.Notices())
	}
	return component.Delivery{}
}

// expect receives and settles lines, which have to come in this order, and returns their messages.
func (r *running) expect(bodies ...string) []*message.Message {
	r.t.Helper()
	var ms []*message.Message
	for _, want := range bodies {
		d := r.next()
		if got := string(d.Message.Body); got != want {
			r.t.Fatalf("got %q, want %q", got, want)
		}
		d.Settle(component.OK(time.Now()))
		ms = append(ms, d.Message)
	}
	return ms
}

// nothing checks that no line comes for a while.
func (r *running) nothing() {
	r.t.Helper()
	select {
	case d := <-r.got:
		r.t.Fatalf("got %q", d.Message.Body)
	case err := <-r.ended:
		r.t.Fatalf("the source ended: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
}

// stop ends the source cleanly.
func (r *running) stop() {
	r.t.Helper()
	r.kill()
	if err := r.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
}

// kill ends the source without letting it note anything more.
func (r *running) kill() {
	r.t.Helper()
	r.cancel()
	if err := <-r.ended; !errors.Is(err, context.Canceled) {
		r.t.Errorf("Run: %v", err)
	}
}

// finish waits for a source that does not follow.
func (r *running) finish() {
	r.t.Helper()
	select {
	case d := <-r.got:
		r.t.Fatalf("got %q", d.Message.Body)
	case err := <-r.ended:
		if err != nil {
			r.t.Fatalf("Run: %v", err)
		}
	}
	if err := r.Close(); err != nil {
		r.t.Errorf("Close: %v", err)
	}
}

var no = false

func numbered(prefix string, n int) (text string, lines []string) {
	var b strings.Builder
	for i := range n {
		l := prefix + string(rune('a'+i%26)) + strings.Repeat("+", i/26)
		lines = append(lines, l)
		b.WriteString(l + "\n")
	}
	return b.String(), lines
}

// eventually waits for what the source does in the background.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(time.Minute)
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatalf("it never came that %s", what)
		}
	}
}

func queueNote(key, value string) queue.Note {
	return queue.Note{Room: room, Key: key, Value: []byte(value)}
}
