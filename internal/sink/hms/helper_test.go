package hms

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/hms"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const appID, secret = "100123456", "a1b2c3d4"

// device makes a token of a number.
func device(n int) string { return fmt.Sprintf("IQAAAA%06d_%s", n, strings.Repeat("x", 60)) }

// far is a sandbox, and what a sink has to know of it.
type far struct {
	*sandbox.Server
	app App
}

func newFar(t testing.TB, change func(*sandbox.Config)) *far {
	t.Helper()
	c := sandbox.Config{Config: farend.Config{Keep: 1000, Seed: 1}, Apps: []sandbox.App{{ID: appID, Secret: secret}}}
	if change != nil {
		change(&c)
	}
	s, err := sandbox.Start(c)
	if err != nil {
		t.Fatal(err)
	}
	pushtest.CloseAfter(t, s)
	dir := t.TempDir()
	f := &far{Server: s, app: App{ClientID: c.Apps[0].ID, SecretFile: filepath.Join(dir, "secret"),
		Endpoint: s.Addr().String(), TokenURL: s.TokenURL(), CAFile: filepath.Join(dir, "ca.pem")}}
	pushtest.Write(t, f.app.SecretFile, []byte(c.Apps[0].Secret+"\n"))
	pushtest.Write(t, f.app.CAFile, s.Authority.PEM)
	return f
}

func (f *far) behave(t testing.TB, b farend.Behaviour) {
	t.Helper()
	if err := f.Behave(b); err != nil {
		t.Fatal(err)
	}
}

func (f *far) refuse(t testing.TB, reason string, after int) {
	t.Helper()
	f.behave(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason, RetryAfter: after}}})
}

// refuseOne refuses what is for one device.
func (f *far) refuseOne(t testing.TB, token, reason string) {
	t.Helper()
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{token},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason}}}}})
}

// last is the latest message that the sandbox saw.
func (f *far) last(t *testing.T) map[string]any {
	t.Helper()
	var body struct {
		Message map[string]any `json:"message"`
	}
	if err := json.Unmarshal(pushtest.Last(t, f.Seen()).Body, &body); err != nil {
		t.Fatal(err)
	}
	return body.Message
}

// started makes and starts a sink, which the test's end closes.
func started(t testing.TB, c Config, store *queue.Store) *Sink {
	t.Helper()
	return pushtest.Start[*Sink](t, New, c, component.Env{Name: "phones", Store: store})
}

// newSink is a sink for one app of a sandbox.
func newSink(t testing.TB, f *far, change func(*Config)) *Sink {
	t.Helper()
	c := Config{Apps: map[string]App{"news": f.app}, Feedback: pushtest.Feedback}
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
	return pushtest.Message(`{"data":"{\"title\":\"news 42\"}"}`, attributes...)
}

// campaign makes messages for n devices.
func campaign(n int) []*message.Message {
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(device(i))
	}
	return ms
}
