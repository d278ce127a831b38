package main

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// TestEachFieldOfADefinitionHasAFlag gives all flags, and finds all fields in what they define.
func TestEachFieldOfADefinitionHasAFlag(t *testing.T) {
	var d definitionFlags
	cmd := &cobra.Command{}
	d.register(cmd, false)
	if err := cmd.ParseFlags([]string{"--column", "n int", "--max-attempts", "3", "--dead-letter", "graves", "--lease",
		"1m", "--retention", "7d", "--delay", "1s", "--dedup-window", "1h", "--history", "1d", "--exactly-once",
		"--unordered", "--max-messages", "10", "--max-bytes", "1000", "--topic", "ev", "--filter", "n > 1", "--label",
		"owner=ops"}); err != nil {
		t.Fatal(err)
	}
	got, err := d.definition()
	if err != nil {
		t.Fatal(err)
	}
	v := reflect.ValueOf(got)
	for i := range v.NumField() {
		if v.Field(i).IsZero() {
			t.Errorf("no flag says %s", v.Type().Field(i).Name)
		}
	}
	if text, err := json.Marshal(got); err != nil || !strings.Contains(string(text), `"retention":"168h0m0s"`) ||
		!strings.Contains(string(text), `"labels":{"owner":"ops"}`) {
		t.Errorf("%s %v", text, err)
	}
}

func TestAQueueIsCreatedAlteredAndDeleted(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	create := []string{"queue", "create", "mail", "--max-attempts", "3", "--lease", "2m", "--label", "owner=ops"}
	s.wants(t, "", "created queue mail\n", create...)
	s.wants(t, "", "queue mail was there, like this\n", create...)
	s.wants(t, "", "{\"name\":\"default/mail\",\"created\":false}\n", append(create, "--json")...)
	s.endsWith(t, "", exitFailed, "hikyaku queue alter", "queue", "create", "mail", "--max-attempts", "4")
	s.endsWith(t, "", exitUsage, "was not told what to change", "queue", "alter", "mail")
	s.wants(t, "", "altered mail: dead_letter, lease, max_attempts\n", "queue", "alter", "mail", "--max-attempts", "5",
		"--lease", "0s", "--dead-letter", "review")
	r := s.do(t, "", "queue", "alter", "mail", "--json", "--history", "7d")
	var stats httpdoor.Stats
	if err := json.Unmarshal([]byte(r.stdout), &stats); err != nil || stats.Definition.MaxAttempts != 5 ||
		stats.Definition.Labels["owner"] != "ops" || stats.Definition.Lease.String() != "30s" ||
		!strings.HasSuffix(stats.Definition.DeadLetter, "review") {
		t.Errorf("%v: %+v", err, r)
	}
	s.wants(t, "1\n2\n", "", "publish", "mail")
	s.endsWith(t, "", exitUsage, "queue mail holds 2 messages, which will be gone", "queue", "rm", "mail")
	s.endsWith(t, "male\n", exitUsage, "nothing was done", "queue", "rm", "mail")
	s.wants(t, "mail\n", "deleted queue mail, which held 2 messages\n", "queue", "rm", "mail")
	s.endsWith(t, "", exitFailed, "mail", "queue", "rm", "mail", "--yes")
}

func TestATopicIsCreatedSubscribedToAndDeleted(t *testing.T) {
	s := serveHere(t, t.TempDir(), quiet)
	s.wants(t, "", "created topic ev\n", "topic", "create", "ev", "--label", "owner=ops")
	s.wants(t, "", "created subscription alerts\n", "topic", "subscribe", "ev", "alerts", "--filter", "level >= 4")
	s.wants(t, "", "created subscription all\n", "topic", "subscribe", "ev", "all")
	s.endsWith(t, "", exitUsage, "not in the namespace", "topic", "subscribe", "ev", "shop/all")
	s.wants(t, "disk full\n", "", "publish", "ev", "--attr", "level=5")
	s.wants(t, "disk checked\n", "", "publish", "ev", "--attr", "level=1")
	s.endsWith(t, "", exitFailed, "none", "topic", "unsubscribe", "ev", "none", "--yes")
	s.endsWith(t, "ev\n", exitUsage, "queue alerts holds 1 message, which", "topic", "unsubscribe", "ev", "alerts")
	s.wants(t, "alerts\n", "deleted queue alerts, which held 1 message\n", "topic", "unsubscribe", "ev", "alerts")
	s.endsWith(t, "", exitUsage, "topic ev has 1 subscription, which will receive nothing more", "topic", "rm", "ev")
	s.wants(t, "", "{\"deleted\":\"default/ev\"}\n", "topic", "rm", "ev", "--yes", "--json")
	if got := s.drain(t, "all"); got != "disk full disk checked" {
		t.Errorf("the queue of the subscription has %q", got)
	}
}
