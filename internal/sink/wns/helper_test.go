package wns

import (
	"fmt"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/push/pushtest"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/wns"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	appID  = "ms-app://s-1-15-2-297"
	secret = "Vex8L9WOFZ/+="
	toast  = `<toast><visual><binding template="ToastGeneric"><text>news 42</text></binding></visual></toast>`
)

// far is a sandbox, and what a sink has to know of it.
type far struct {
	*sandbox.Server
	app App
	ca  string
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
	dir, a := t.TempDir(), c.Apps[0]
	f := &far{Server: s, ca: filepath.Join(dir, "ca.pem"), app: App{ClientID: a.ID, Tenant: a.Tenant,
		SecretFile: filepath.Join(dir, "secret"), TokenURL: s.TokenURL(a.Tenant)}}
	pushtest.Write(t, f.app.SecretFile, []byte(a.Secret+"\n"))
	pushtest.Write(t, f.ca, s.Authority.PEM)
	return f
}

// channel makes a channel of a number, which is anybody's.
func (f *far) channel(n int) string { return fmt.Sprintf("%s/?token=AwYAAAB%%2f%06d%%3d", f.URL(), n) }

// channelToken is what the sandbox knows such a channel by.
func channelToken(n int) string { return fmt.Sprintf("AwYAAAB/%06d=", n) }

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

// refuseOne refuses what is for one channel.
func (f *far) refuseOne(t testing.TB, n int, reason string) {
	t.Helper()
	f.behave(t, farend.Behaviour{Devices: []farend.Device{{Tokens: []string{channelToken(n)},
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: reason}}}}})
}

// started makes and starts a sink, which the test's end closes.
func started(t testing.TB, c Config, store *queue.Store) *Sink {
	t.Helper()
	return pushtest.Start[*Sink](t, New, c, component.Env{Name: "desktops", Store: store})
}

// config is for one app of a sandbox.
func (f *far) config() Config {
	return Config{Apps: map[string]App{"news": f.app}, CAFile: f.ca, Hosts: []string{f.Addr().String()},
		Feedback: pushtest.Feedback}
}

func newSink(t testing.TB, f *far, change func(*Config)) *Sink {
	t.Helper()
	c := f.config()
	if change != nil {
		change(&c)
	}
	return started(t, c, pushtest.Store(t))
}

// to makes a message for a channel; what follows are names and values of attributes.
func to(channel string, attributes ...string) *message.Message {
	return pushtest.Message(toast, append([]string{"channel", channel}, attributes...)...)
}

// campaign makes messages for n channels.
func (f *far) campaign(n int) []*message.Message {
	ms := make([]*message.Message, n)
	for i := range ms {
		ms[i] = to(f.channel(i))
	}
	return ms
}
