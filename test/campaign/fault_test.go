package campaign

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
	sandbox "github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

const users = 1500

func ms(n int) farend.Duration { return farend.Duration(time.Duration(n) * time.Millisecond) }

// misbehaviours are what a far end can do, each by itself.
func misbehaviours() map[string]farend.Behaviour {
	fault := func(f farend.Fault) farend.Behaviour {
		return farend.Behaviour{Latency: farend.Latency{Median: ms(3), Sigma: 0.5}, Faults: []farend.Fault{f}}
	}
	all := map[string]farend.Behaviour{
		"none":         {},
		"a heavy tail": {Latency: farend.Latency{Median: ms(5), Sigma: 1.2, Most: ms(1500)}},
		"one stream":   {Streams: farend.Limit(1)},
		"one stream until trusted": {OneUntilTrusted: true, Streams: farend.Limit(50),
			Latency: farend.Latency{Median: ms(3)}},
		"newcomers are reset": {Newcomers: farend.Newcomers{PerSecond: 2, Burst: 1}, Streams: farend.Limit(20),
			Latency: farend.Latency{Median: ms(3)}},
		"goodbyes":          fault(farend.Fault{Do: farend.GoAway, Every: 700, Unprocessed: 0.5}),
		"streams reset":     fault(farend.Fault{Do: farend.ResetStream, Probability: 0.02, Processed: true}),
		"streams refused":   fault(farend.Fault{Do: farend.ResetStream, Probability: 0.02, Code: 7}),
		"connections reset": fault(farend.Fault{Do: farend.ResetConnection, Every: 900, Processed: true}),
		"half an answer":    fault(farend.Fault{Do: farend.Half, Every: 900}),
		"silence":           fault(farend.Fault{Do: farend.Silence, Probability: 0.01, Processed: true}),
		"slow reading":      fault(farend.Fault{Do: farend.SlowRead, Every: 1000, For: ms(300)}),
		"slow devices":      {Devices: []farend.Device{{OneIn: 100, Latency: &farend.Latency{Fixed: ms(1000)}}}},
	}
	for _, reason := range sandbox.Reasons() {
		if !ofTheKey[reason] {
			all[reason] = fault(farend.Fault{Do: farend.Refuse, Probability: 0.02, Reason: reason})
		}
	}
	return all
}

// ofTheKey are the reasons for which everything rests until a person has done something. What they mean is tested with
// the sink.
var ofTheKey = map[string]bool{
	"BadCertificate": true, "BadCertificateEnvironment": true, "BadEnvironmentKeyIdInToken": true, "Forbidden": true,
	"InvalidProviderToken": true,
	"MissingProviderToken": true, "TooManyProviderTokenUpdates": true, "UnrelatedKeyIdInToken": true,
	"ExpiredProviderToken": true,
}

func TestEveryMessageHasOneEndWhateverTheFarEndDoes(t *testing.T) {
	all := misbehaviours()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tr := newTrial(t, journal.OS, all[name])
			if name == "silence" {
				tr.beHasty()
			}
			tr.put(t, users, nil)
			r := tr.run(t)
			tr.account(t, r)
			if f := all[name].Faults; len(f) == 0 && r.Delivered != users {
				t.Errorf("nothing was refused, and of %d %d are delivered", users, r.Delivered)
			}
			if c := tr.far.Counts(); c.OverLimit > 0 {
				t.Errorf("%d streams beyond the limit", c.OverLimit)
			}
		})
	}
}

func TestEveryMessageHasOneEndWhenTheFarEndDoesEverythingAtOnce(t *testing.T) {
	b := farend.Behaviour{
		Latency: farend.Latency{Median: ms(5), Sigma: 0.8, Most: ms(500)}, OneUntilTrusted: true,
		Streams:   farend.Limit(100),
		Newcomers: farend.Newcomers{PerSecond: 5, Burst: 5, Do: farend.MixThem},
		Devices:   []farend.Device{{OneIn: 300, Latency: &farend.Latency{Fixed: ms(800)}}},
	}
	all := misbehaviours()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		for _, f := range all[name].Faults {
			f.Probability /= 10
			f.Every *= 2
			b.Faults = append(b.Faults, f)
		}
	}
	tr := newTrial(t, journal.OS, b)
	tr.beHasty()
	const many = 3 * users
	tr.put(t, many, func(i int, m *message.Message) {
		switch i % 100 {
		case 1:
			m.Attributes.Set("token", message.String(strings.Repeat("rubbish/", 30)))
		case 2:
			m.Attributes.Set("expiration", message.Int(time.Now().Unix()-1))
		case 3:
			m.Body = []byte(strings.Repeat(" ", 5000))
		}
	})
	changing := make(chan struct{})
	go func() { // the limit of streams changes all the while
		defer close(changing)
		for i := range 20 {
			c := b
			c.Streams = farend.Limit([]uint32{1, 100, 0, 20, 1000}[i%5])
			if err := tr.far.Behave(c); err != nil {
				t.Error(err)
			}
			select {
			case <-time.After(100 * time.Millisecond): // as a far end's limit changes: by the clock
			case <-t.Context().Done():
				return
			}
		}
		if err := tr.far.Behave(b); err != nil {
			t.Error(err)
		}
	}()
	r := tr.run(t)
	<-changing
	tr.account(t, r)
	if want := uint64(many / 100); r.Dropped != want || r.DeadLettered < 2*want {
		t.Errorf("%d were expired and %d had rubbish in them: %+v", want, 2*want, r)
	}
	t.Logf("%d delivered, %d dead letters, %d dropped, %d retries; %v", r.Delivered, r.DeadLettered, r.Dropped,
		r.Retried, tr.counts)
}

func TestADeadDeviceCostsNoRequestInTheNextCampaign(t *testing.T) {
	tr := newTrial(t, journal.OS,
		farend.Behaviour{Devices: []farend.Device{{OneIn: 10,
			Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered"}}}}})
	tr.put(t, users, nil)
	first := tr.run(t)
	tr.account(t, first)
	asked := tr.far.Counts().Requests
	gone, err := tr.store.Stats(t.Context(), named("gone"))
	if err != nil || uint64(gone.Messages()) != first.DeadLettered || first.DeadLettered == 0 {
		t.Fatalf("%d reports for %d dead devices, %v", gone.Messages(), first.DeadLettered, err)
	}
	tr.put(t, users, nil)
	second := tr.run(t)
	if second.DeadLettered != first.DeadLettered || second.Delivered != first.Delivered {
		t.Errorf("%+v\nthen %+v", first, second)
	}
	if more := tr.far.Counts().Requests - asked; uint64(more) != second.Delivered {
		t.Errorf("%d requests for %d devices that live", more, second.Delivered)
	}
	if st, err := tr.store.Stats(t.Context(), named("gone")); err != nil || st.Messages() != gone.Messages() {
		t.Errorf("%d reports then, %v", st.Messages(), err)
	}
}

func TestTheMessagesOfOneDeviceKeepTheirNumber(t *testing.T) {
	tr := newTrial(t, journal.OS, farend.Behaviour{Latency: farend.Latency{Median: ms(2), Sigma: 1}})
	const each = 200
	tr.put(t, 10*each, func(i int, m *message.Message) {
		m.Attributes.Set("token", message.String(device(i%10)))
		m.Key = device(i % 10)
	})
	r := tr.run(t)
	tr.account(t, r)
	for i := range 10 {
		if n := tr.far.CountDevice(device(i)); n != each {
			t.Errorf("device %d got %d", i, n)
		}
	}
}
