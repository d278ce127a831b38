package apns

import (
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	bundle = "com.example.news"
	team   = "TEAM123456"
	keyID  = "KEY1234567"
)

// device makes a token of a number.
func device(n int) string { return fmt.Sprintf("%064x", n+1) }

// far is a sandbox, and what a sink has to know of it.
type far struct {
	*sandbox.Server
	dir, ca, key string
	app          App
}

// newFar starts a sandbox. The config may be changed before.
func newFar(t testing.TB, change func(*sandbox.Config)) *far {
	t.Helper()
	key, err := sandbox.NewKey(team, keyID)
	if err != nil {
		t.Fatal(err)
	}
	c := sandbox.Config{Config: farend.Config{Keep: 1000, Seed: 1}, Keys: []*sandbox.Key{key}, Topics: []string{bundle}}
	if change != nil {
		change(&c)
	}
	s, err := sandbox.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.CloseAfter(t, s)
	f := &far{Server: s, dir: t.TempDir()}
	f.ca, f.key = filepath.Join(f.dir, "ca.pem"), filepath.Join(f.dir, "key.p8")
	pushtest.Write(t, f.ca, s.Authority.PEM)
	pushtest.Write(t, f.key, key.PEM)
	f.app = App{Endpoint: s.Addr().String(), CAFile: f.ca, Team: team, KeyID: keyID, KeyFile: f.key}
	return f
}

func (f *far) behave(t testing.TB, b farend.Behaviour) {
	t.Helper()
	if err := f.Behave(b); err != nil {
		t.Fatal(err)
	}
}

// last is the latest request that the sandbox saw.
func (f *far) last(t *testing.T) farend.Seen {
	t.Helper()
	return pushtest.Last(t, f.Seen())
}

// started makes and starts a sink, which the test's end closes.
func started(t testing.TB, c Config, store *queue.Store) *Sink {
	t.Helper()
	return pushtest.Start[*Sink](t, New, c, component.Env{Name: "phones", Store: store})
}

// newSink is a sink for one app of a sandbox.
func newSink(t testing.TB, f *far, change func(*Config)) *Sink {
	t.Helper()
	c := Config{Apps: map[string]App{bundle: f.app}, Feedback: pushtest.Feedback}
	if change != nil {
		change(&c)
	}
	return started(t, c, pushtest.Store(t))
}

// to makes a message for a device; what follows are names and values of attributes.
func to(token string, attributes ...string) *message.Message {
	if token != "" {
		attributes = append([]string{"token", token}, attributes...)
	}
	return pushtest.Message(`{"aps":{"alert":"news"}}`, attributes...)
}
