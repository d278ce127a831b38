package main

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestTheCampaignExampleReachesEveryUserAcrossKills runs the documented command, kills it at random points, and lets it
// finish: from one message came one for each of 10,000 users, with what that user is to be told. Running it once more
// adds nothing.
func TestTheCampaignExampleReachesEveryUserAcrossKills(t *testing.T) {
	const kills, users = 12, 10_000
	dir := t.TempDir()
	makeCampaign(t, filepath.Join(dir, "campaign.db"))
	order := filepath.Join(dir, "campaign.ndjson")
	if err := os.WriteFile(order, []byte("{\"campaign\": 42}\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	env := []string{"HIKYAKU_DATA=" + filepath.Join(dir, "data"), "CAMPAIGN_DB=" + filepath.Join(dir, "campaign.db")}
	example, err := filepath.Abs("../../examples/campaign.yaml")
	if err != nil {
		t.Fatal(err)
	}
	killed, finished := 0, 0
	for try := 0; finished < 2; try++ {
		if try > 10*kills {
			t.Fatalf("it did not finish in %d runs", try)
		}
		in, err := os.Open(order)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cmd := command(ctx, env, "-c", example)
		cmd.Stdin = in
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if killed < kills {
			time.AfterFunc(time.Duration(rand.IntN(400))*time.Millisecond, cancel) // Kill is what the context does
		}
		err = cmd.Wait()
		cancel()
		in.Close()
		switch {
		case cmd.ProcessState.Success(): // also when the kill came too late, and err is the context's
			finished++
		case cmd.ProcessState.Exited(): // by itself
			t.Fatalf("run %d: %v\n%s", try, err, &stderr)
		default:
			killed++
		}
	}
	t.Logf("killed %d times", killed)
	checkOutbox(t, filepath.Join(dir, "data"), users)
}

// makeCampaign makes the example's database.
func makeCampaign(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile("../../examples/campaign.sql")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), string(text)); err != nil {
		t.Fatal(err)
	}
}

// checkOutbox looks into the journal that the runs left.
func checkOutbox(t *testing.T, data string, users int) {
	t.Helper()
	j, err := file.Open(t.Context(), file.Options{Dir: journalDir(data)})
	if err != nil {
		t.Fatal(err)
	}
	defer j.Close()
	s, err := queue.Open(t.Context(), queue.Options{Journal: j})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found, err := s.Peek(t.Context(), queue.Name{Namespace: queue.DefaultNamespace, Name: "outbox"},
		queue.PeekRequest{Max: 2 * users})
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]string{"ja": "飛脚が参ります", "en": "The courier is coming", "fr": "Le courrier arrive"}
	told := map[string]string{}
	for i := range found {
		var m struct{ To, Text string }
		if err := json.Unmarshal(found[i].Body(), &m); err != nil {
			t.Fatal(err)
		}
		if told[m.To] != "" {
			t.Errorf("%s is told twice", m.To)
		}
		told[m.To] = m.Text
	}
	for id := 1; id <= users; id++ {
		want := fmt.Sprintf("user %d: %s", id, titles[[]string{"ja", "en", "fr"}[id%3]])
		if got := told[fmt.Sprintf("token-%d", id)]; got != want {
			t.Fatalf("user %d is told %q, want %q", id, got, want)
		}
	}
	if len(found) != users {
		t.Errorf("%d messages, of %d users", len(found), users)
	}
}
