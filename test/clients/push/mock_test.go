package push_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// sending is a configuration: a line of standard input is a push, whose attributes and text it names.
func sending(b badges, addr string) string {
	return fmt.Sprintf(`
data_dir: %s/data
sources:
  pushes: { type: stdin, decoding: { codec: json } }
transforms:
  addressed:
    type: jq
    inputs: [pushes]
    program: .
    attributes: '{token, expiration, priority, push_type, collapse_id}'
sinks:
  phones:
    type: apns
    inputs: [addressed]
    apps:
      %s: { endpoint: "%s", ca_file: %s, team: %s, key_id: %s, key_file: %s }
    payload: '{aps: {alert: .text}}'
    connections: 1
`, b.dir, topic, addr, b.ca, team, keyID, b.signer)
}

// device is the token of the nth phone.
func device(n int) string { return fmt.Sprintf("%064x", n) }

func lines(t *testing.T, pushes []map[string]any) *bytes.Buffer {
	t.Helper()
	var in bytes.Buffer
	write := json.NewEncoder(&in)
	for _, p := range pushes {
		if err := write.Encode(p); err != nil {
			t.Fatal(err)
		}
	}
	return &in
}

// TestPushysServerTakesWhatWeSend lets pushy's own code judge: its handler checks the signature of the provider token,
// the topic, the device, the priority and the expiration, and its listener reads every header as it understands it.
func TestPushysServerTakesWhatWeSend(t *testing.T) {
	t.Parallel()
	const phones = 300
	b := newBadges(t)
	var known []string
	for n := 1; n <= phones; n++ {
		known = append(known, device(n))
	}
	gone, unknown := device(phones+1), device(phones+2)
	far := startMock(t, b, strings.Join(known, ","), gone)

	later := time.Now().Add(time.Hour).Unix()
	want := map[string]seen{}
	var in []map[string]any
	for n, token := range known {
		text := fmt.Sprintf("飛脚 %d 🏃", n)
		payload, err := json.Marshal(map[string]any{"aps": map[string]any{"alert": text}})
		if err != nil {
			t.Fatal(err)
		}
		push := map[string]any{"text": text, "token": token}
		s := seen{Token: token, Topic: topic, Payload: string(payload), PushType: "alert", Expiration: -1}
		switch n % 3 {
		case 0:
			push["expiration"], push["priority"], push["collapse_id"] = later, 10, fmt.Sprintf("score-%d", n)
			s.Expiration, s.Priority, s.CollapseID = later, 10, fmt.Sprintf("score-%d", n)
		case 1:
			push["push_type"], push["priority"] = "background", 5
			s.PushType, s.Priority = "background", 5
		}
		in, want[token] = append(in, push), s
	}
	in = append(in, map[string]any{"text": "x", "token": gone}, map[string]any{"text": "x", "token": unknown})
	want[gone] = seen{Rejected: "UNREGISTERED"}
	want[unknown] = seen{Rejected: "DEVICE_TOKEN_NOT_FOR_TOPIC"}

	status, said := hikyaku(t.Context(), t, b.dir, sending(b, far.addr), lines(t, in))
	far.stop()
	ids := map[string]bool{}
	for got := range far.pushes {
		w, ok := want[got.Token]
		if !ok {
			t.Errorf("sent twice, or to nobody: %+v", got)
			continue
		}
		delete(want, got.Token)
		if len(got.ID) != 36 || ids[got.ID] {
			t.Errorf("the apns-id %q is none, or comes twice", got.ID)
		}
		ids[got.ID] = true
		if w.Rejected != "" {
			if got.Rejected != w.Rejected {
				t.Errorf("%s: %q, want %q", got.Token, got.Rejected, w.Rejected)
			}
			continue
		}
		got.ID = ""
		if diff := cmp.Diff(w, got); diff != "" {
			t.Errorf("what pushy understood (-want +got):\n%s", diff)
		}
	}
	if len(want) != 0 {
		t.Errorf("%d pushes did not come, such as %v", len(want), want)
	}
	const someDead = 3
	if status != someDead {
		t.Errorf("exit status %d, want %d\n%s", status, someDead, said)
	}
}

// TestPushysServerRefusesAnotherKey shows that the signature is looked at: with a key that the server does not know
// nothing is taken.
func TestPushysServerRefusesAnotherKey(t *testing.T) {
	t.Parallel()
	b, others := newBadges(t), newBadges(t)
	far := startMock(t, b, device(1), "")
	b.signer = others.signer
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	refused := make(chan seen, 1)
	go func() { // hikyaku waits for a better key: it has to be stopped
		refused <- <-far.pushes
		cancel()
	}()
	hikyaku(ctx, t, b.dir, sending(b, far.addr), lines(t, []map[string]any{{"text": "x", "token": device(1)}}))
	if got := <-refused; got.Rejected != "INVALID_PROVIDER_TOKEN" {
		t.Errorf("%+v, want it to be refused", got)
	}
}
