package topic_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/push/topic"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// started is a sandbox and a client for it.
func started(t *testing.T) (*fcm.Server, *topic.Client) {
	t.Helper()
	account, err := fcm.NewAccount("news")
	if err != nil {
		t.Fatal(err)
	}
	s, err := fcm.Start(fcm.Config{Config: farend.Config{Keep: 10}, Accounts: []*fcm.Account{account}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	c := topic.Config{AccountFile: filepath.Join(dir, "account.json"), CAFile: filepath.Join(dir, "ca.pem"),
		Endpoint: s.Addr().String(), Proxy: "direct"}
	for path, text := range map[string][]byte{c.AccountFile: account.JSON(s.TokenURL()), c.CAFile: s.Authority.PEM} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	made, err := topic.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(made.Close)
	return s, made
}

func device(i int) string { return fmt.Sprintf("bk3RNwTe3H0:CI2k_HHwgIpoDKCIZ-%030d", i) }

func TestDevicesBecomeMembersOfATopicAndLeaveIt(t *testing.T) {
	s, c := started(t)
	devices := []string{device(1), device(2), "none", "", "cx0mHBlDR4-y_ZEWDqvXb1"}
	for range 2 { // who is one stays one
		errs := c.Subscribe(t.Context(), "/topics/weather", devices)
		var refused *topic.Refusal
		if errs[0] != nil || errs[1] != nil || errs[4] != nil || errs[3] == nil ||
			!errors.As(errs[2], &refused) || refused.Code != "INVALID_ARGUMENT" {
			t.Errorf("%v", errs)
		}
	}
	s.Revoke() // the next request has to fetch a new access token
	for i, err := range c.Subscribe(t.Context(), "a.b-c~d%25_e", devices[:1]) {
		if err != nil {
			t.Errorf("%d: %v", i, err)
		}
	}
	if got := s.Topics("news", device(1)); len(got) != 2 || got[0] != "a.b-c~d%25_e" || got[1] != "weather" {
		t.Errorf("%q", got)
	}
	for range 2 {
		if errs := c.Unsubscribe(t.Context(), "weather", devices[:2]); errs[0] != nil || errs[1] != nil {
			t.Errorf("%v", errs)
		}
	}
	if got := s.Topics("news", device(2)); len(got) != 0 {
		t.Errorf("%q", got)
	}
	if err := c.Subscribe(t.Context(), "no topic", devices[:1])[0]; err == nil {
		t.Error("a name that is none is taken")
	}
}

func TestManyDevicesShareFewConnections(t *testing.T) {
	s, c := started(t)
	devices := make([]string, 1000)
	for i := range devices {
		devices[i] = device(i)
	}
	if err := errors.Join(c.Subscribe(t.Context(), "weather", devices)...); err != nil {
		t.Fatal(err)
	}
	if n := s.Counts().Connections; n > 4 {
		t.Errorf("%d connections", n)
	}
	if s.Issued() != 1 {
		t.Errorf("%d access tokens", s.Issued())
	}
}

func TestATopicsNameHasABound(t *testing.T) {
	for _, name := range []string{"", "a b", strings.Repeat("n", 901)} {
		errs := new(topic.Client).Subscribe(t.Context(), name, []string{"device"})
		if len(errs) != 1 || errs[0] == nil || !strings.Contains(errs[0].Error(), "900 at most") {
			t.Errorf("%.20q: %v", name, errs)
		}
	}
}
