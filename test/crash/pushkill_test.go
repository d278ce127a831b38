//go:build linux

package crash

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const (
	pushUsers    = 6000
	pushKills    = 12
	pushInFlight = 100
)

// pushFarEnd is a sandbox that remembers when each device was told, and the part of a configuration that is for it.
func pushFarEnd(t *testing.T, b farend.Behaviour) (far *apns.Server, app string) {
	t.Helper()
	key, err := apns.NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	far, err = apns.Start(apns.Config{Config: farend.Config{Behaviour: b, Keep: 10 * pushUsers},
		Keys: []*apns.Key{key}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := far.Close(); err != nil {
			t.Error(err)
		}
	})
	dir := t.TempDir()
	for name, text := range map[string][]byte{"ca.pem": far.Authority.PEM, "key.p8": key.PEM} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return far, fmt.Sprintf("{ com.example.news: { team: TEAM123456, key_id: KEY1234567, key_file: %s, endpoint: "+
		"'%s', ca_file: %s } }",
		filepath.Join(dir, "key.p8"), far.Addr(), filepath.Join(dir, "ca.pem"))
}

// TestAPushCampaignGoesOnAfterKills kills the program in the middle of a campaign, again and again: every device is
// told, and one is told twice only if a kill came before its first answer was settled. Each message has one receipt,
// also if it was sent twice.
func TestAPushCampaignGoesOnAfterKills(t *testing.T) {
	t.Parallel()
	random := newRandom(t)
	dir := t.TempDir()
	far, app := pushFarEnd(t,
		farend.Behaviour{Latency: farend.Latency{Median: farend.Duration(10 * time.Millisecond), Sigma: 0.5}})
	config := preamble(filepath.Join(dir, "data")) + fmt.Sprintf(`
sources:
  waiting: { type: queue, queue: outbox, lease: 1s }
transforms:
  notice: { type: jq, inputs: [waiting], program: '{aps: {alert: .text}}', attributes: { token: $body.token } }
sinks:
  phones: { type: apns, inputs: [notice], apps: %s, feedback: gone, receipts: receipts,
            request: { concurrency: %d, retry_attempts: unlimited, retry_max_duration_secs: 0.2 } }
`, app, pushInFlight)
	s := serve(t, config)
	var bodies []string
	for i := range pushUsers {
		bodies = append(bodies, fmt.Sprintf(`{"token": "%064x", "text": "news for %d"}`, i, i))
	}
	s.put(t, "outbox", bodies...)
	reached := func() int { return far.Counts().Devices }
	kills := 0
	for kills < pushKills && reached() < pushUsers {
		before := reached()
		until(t, func() string { return fmt.Sprintf("it goes on after a kill, from %d\n%s", before, s.log()) },
			func() bool { return reached() > before || before == pushUsers })
		<-time.After(between(random, 0, 100*time.Millisecond))
		s.kill()
		kills++
		s = serve(t, config)
	}
	until(t, func() string { return fmt.Sprintf("everybody is told: %d of %d\n%s", reached(), pushUsers, s.log()) },
		func() bool { return s.stats(t, "outbox").Totals.Done == pushUsers })
	checkReceipts(t, s, far)
	c := far.Counts()
	if c.Devices != pushUsers || c.Messages != pushUsers {
		t.Errorf("%d devices got %d messages, want %d", c.Devices, c.Messages, pushUsers)
	}
	// Those in flight at a kill, and those whose settlement waited for a sync: on a busy disk the answers of two full
	// rounds.
	if most := 3 * kills * pushInFlight; c.Doubles > most {
		t.Errorf("%d were told twice, in flight or about to be settled were %d at most", c.Doubles, most)
	}
	// A connection ends with the kill of its program. The far end may read after that what came through it, so it is
	// not the time of the kill that counts.
	told, last := map[string][]farend.Seen{}, map[string]time.Time{}
	for _, seen := range far.Seen() {
		last[seen.From] = seen.Time
		if id := seen.Get("apns-id"); seen.Status == 200 {
			told[id] = append(told[id], seen)
		}
	}
	for id, times := range told {
		for i, again := range times[1:] {
			first := times[i]
			if again.From == first.From || last[first.From].Sub(first.Time) > settlesWithin {
				t.Errorf("%s was settled at %v, through %s, and came again at %v, through %s", id, first.Time,
					first.From, again.Time, again.From)
			}
		}
	}
	t.Logf("%d kills, %d told twice, %d connections", kills, c.Doubles, c.Connections)
	s.kill()
	checkJournal(t, filepath.Join(dir, "data"))
}

// checkReceipts holds the receipts of a campaign against what the far end has taken: one for each message, with its
// apns-id.
func checkReceipts(t *testing.T, s *served, far *apns.Server) {
	t.Helper()
	taken := map[string]bool{}
	for _, seen := range far.Seen() {
		if seen.Status == 200 {
			taken[seen.Get("apns-id")] = true
		}
	}
	if n := s.stats(t, "receipts").Totals.Put; n != pushUsers {
		t.Errorf("%d receipts of %d messages", n, pushUsers)
	}
	had := map[string]bool{}
	for len(had) < pushUsers {
		bodies := take(t, s, "receipts")
		if len(bodies) == 0 {
			break
		}
		for _, body := range bodies {
			var r struct {
				ID      string `json:"id"`
				PushID  string `json:"push_id"`
				Outcome string `json:"outcome"`
			}
			if err := json.Unmarshal([]byte(body), &r); err != nil {
				t.Fatal(err)
			}
			if r.ID != r.PushID || r.Outcome != "delivered" || !taken[r.ID] || had[r.ID] {
				t.Errorf("taken %t, another one %t: %s", taken[r.ID], had[r.ID], body)
			}
			had[r.ID] = true
		}
	}
	if len(had) != pushUsers {
		t.Errorf("receipts of %d messages, want %d", len(had), pushUsers)
	}
}

// TestWhichDevicesAreGoneSurvivesAKill kills the program right after the far end has said so: nothing is sent to them
// any more, and each is reported.
func TestWhichDevicesAreGoneSurvivesAKill(t *testing.T) {
	t.Parallel()
	const devices = 50
	dir := t.TempDir()
	far, app := pushFarEnd(t, farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered"}}})
	config := preamble(filepath.Join(dir, "data")) + fmt.Sprintf(`
sources:
  waiting: { type: queue, queue: outbox, lease: 1s }
transforms:
  notice: { type: jq, inputs: [waiting], program: '{aps: {alert: "news"}}', attributes: { token: $body.token } }
sinks:
  phones: { type: apns, inputs: [notice], apps: %s, feedback: gone }
`, app)
	var bodies []string
	for i := range devices {
		bodies = append(bodies, fmt.Sprintf(`{"token": "%064x"}`, i))
	}
	s := serve(t, config)
	s.put(t, "outbox", bodies...)
	until(t, says("they are reported"), func() bool { return s.stats(t, "gone").Totals.Put == devices })
	s.kill()
	s = serve(t, config)
	until(t, says("the first ones are settled"), func() bool { return s.stats(t, "outbox").Totals.Done == devices })
	asked := far.Counts().Requests
	s.put(t, "outbox", bodies...)
	until(t, says("all are settled"), func() bool { return s.stats(t, "outbox").Totals.Done == 2*devices })
	if more := far.Counts().Requests - asked; more != 0 {
		t.Errorf("%d requests for devices that are gone", more)
	}
	if n := s.stats(t, "gone").Totals.Put; n != devices {
		t.Errorf("%d reports of %d devices", n, devices)
	}
	s.stop(t)
}

// TestAFullQueueOfReceiptsHoldsUpNoPush lets more pushes be answered than their receipts have room: every one is
// settled, the log says what is missing, and once there is room again there are receipts again.
func TestAFullQueueOfReceiptsHoldsUpNoPush(t *testing.T) {
	t.Parallel()
	const devices, room = 60, 10
	dir := t.TempDir()
	far, app := pushFarEnd(t,
		farend.Behaviour{Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered", Every: 2}}})
	s := serve(t, preamble(filepath.Join(dir, "data"))+fmt.Sprintf(`
queues:
  receipts: { max_messages: %d }
sources:
  waiting: { type: queue, queue: outbox, lease: 1s }
transforms:
  notice: { type: jq, inputs: [waiting], program: '{aps: {alert: "news"}}', attributes: { token: $body.token } }
sinks:
  phones: { type: apns, inputs: [notice], apps: %s, receipts: receipts }
`, room, app))
	push := func(first, n int) {
		t.Helper()
		var bodies []string
		for i := range n {
			bodies = append(bodies, fmt.Sprintf(`{"token": "%064x"}`, first+i))
		}
		s.put(t, "outbox", bodies...)
		until(t, says("all are settled"), func() bool { return s.stats(t, "outbox").Totals.Done == uint64(first+n) })
	}
	push(0, devices)
	if c := far.Counts(); c.Requests != devices {
		t.Errorf("%d requests for %d devices", c.Requests, devices)
	}
	if n := s.stats(t, "receipts").Totals.Put; n == 0 || n > room {
		t.Errorf("%d receipts in a queue for %d", n, room)
	}
	if log := s.log(); !strings.Contains(log, "receipts are dropped") || !strings.Contains(log, "queue full") {
		t.Errorf("the log says nothing of it:\n%s", log)
	}
	outcomes := map[string]int{}
	read := func() {
		t.Helper()
		for _, body := range take(t, s, "receipts") {
			var r struct{ Outcome, Reason, Device string }
			if err := json.Unmarshal([]byte(body), &r); err != nil || len(r.Device) != 32 ||
				strings.Contains(body, strings.Repeat("0", 32)) {
				t.Errorf("%v: %s", err, body)
			}
			outcomes[r.Outcome+" "+r.Reason]++
		}
	}
	read()
	if _, err := s.client.Purge(t.Context(), queueName("receipts")); err != nil {
		t.Fatal(err)
	}
	push(devices, 2)
	read()
	if outcomes["delivered "]+outcomes["rejected Unregistered"] < 3 || len(outcomes) != 2 {
		t.Errorf("%v", outcomes)
	}
	s.stop(t)
}
