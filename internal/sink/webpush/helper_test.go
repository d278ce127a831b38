package webpush

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/webpush"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// far is a push service, and what a sink has to know of it.
type far struct {
	*sandbox.Server
	key, ca string
}

func newFar(t testing.TB, change func(*sandbox.Config)) *far {
	t.Helper()
	c := sandbox.Config{Config: farend.Config{Keep: 1000, Seed: 1}}
	if change != nil {
		change(&c)
	}
	s, err := sandbox.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.CloseAfter(t, s)
	dir := t.TempDir()
	f := &far{s, filepath.Join(dir, "vapid.pem"), filepath.Join(dir, "ca.pem")}
	pushtest.Write(t, f.ca, s.Authority.PEM)
	newKey(t, f.key)
	return f
}

// newKey writes a fresh key for VAPID.
func newKey(t testing.TB, path string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.Write(t, path, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func (f *far) subscribe(t testing.TB) sandbox.Subscription {
	t.Helper()
	sub, err := f.Subscribe("")
	if err != nil {
		t.Fatal(err)
	}
	return sub
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
	return pushtest.Start[*Sink](t, New, c, component.Env{Name: "browsers", Store: store})
}

// newSink is a sink for a sandbox.
func newSink(t testing.TB, f *far, change func(*Config)) *Sink {
	t.Helper()
	c := Config{KeyFile: f.key, Subject: "mailto:push@example.com", CAFile: f.ca, Services: []string{f.Addr().String()},
		Feedback: pushtest.Feedback}
	if change != nil {
		change(&c)
	}
	return started(t, c, pushtest.Store(t))
}

// to makes a message for a subscription; what follows are names and values of attributes.
func to(sub sandbox.Subscription, attributes ...string) *message.Message {
	text, _ := json.Marshal(sub) // of strings
	return pushtest.Message(`{"title":"news 42"}`, append([]string{"subscription", string(text)}, attributes...)...)
}
