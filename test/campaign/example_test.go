package campaign

import (
	"database/sql"
	"errors"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/fcm"
)

// TestTheExampleReachesEveryUserOnTheirPhone runs examples/push.yaml as it stands: from one line to a push for each of
// 10,000 users, two thirds of them by APNs and one third by FCM.
func TestTheExampleReachesEveryUserOnTheirPhone(t *testing.T) {
	dir := t.TempDir()
	authority, err := farend.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	latency := farend.Behaviour{Latency: farend.Latency{Median: ms(20), Sigma: 0.5}}
	key, err := apns.NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	apple, err := apns.Start(apns.Config{Config: farend.Config{Authority: authority, Behaviour: latency, Keep: 1},
		Keys: []*apns.Key{key}, Topics: []string{bundle}})
	if err != nil {
		t.Fatal(err)
	}
	account, err := fcm.NewAccount("news")
	if err != nil {
		t.Fatal(err)
	}
	google, err := fcm.Start(fcm.Config{Config: farend.Config{Authority: authority, Behaviour: latency, Keep: 1},
		Accounts: []*fcm.Account{account}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"authority.pem": authority.PEM, "AuthKey_KEY1234567.p8": key.PEM,
		"account-news.json": account.JSON(google.TokenURL())} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	makeUsers(t, filepath.Join(dir, "push.db"))
	values := map[string]string{
		"HIKYAKU_DATA": filepath.Join(dir, "data"), "PUSH_DB": filepath.Join(dir, "push.db"), "SANDBOX": dir,
		"APNS": apple.Addr().String(), "FCM": google.Addr().String(),
	}
	f, err := config.Load("../../examples/push.yaml",
		func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(store.Close(), j.Close(), apple.Close(), google.Close()); err != nil {
			t.Error(err)
		}
	})
	if err := f.Define(t.Context(), store, false); err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(store, component.Env{Stdin: strings.NewReader(`{"news": 42}` + "\n")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(a.Nodes, pipeline.Options{Store: store, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Run(t.Context())
	if err != nil || r.DeadLettered+r.Dropped+r.GivenBack != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	if c := apple.Counts(); c.Devices != 6667 || c.Messages != 6667 || c.Doubles != 0 {
		t.Errorf("Apple's far end: %+v", c)
	}
	if c := google.Counts(); c.Devices != 3333 || c.Messages != 3333 || c.Doubles != 0 {
		t.Errorf("Google's far end: %+v", c)
	}
	if seen := apple.Seen(); len(seen) != 1 || !strings.Contains(string(seen[0].Body), ", this was picked for you") ||
		seen[0].Get("apns-expiration") == "" {
		t.Errorf("a push: %+v", seen)
	}
	if seen := google.Seen(); len(seen) != 1 || !strings.Contains(string(seen[0].Body), ", this was picked for you") {
		t.Errorf("a message: %+v", seen)
	}
}

func makeUsers(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile("../../examples/push.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", (&url.URL{Scheme: "file", Path: path}).String())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
}
