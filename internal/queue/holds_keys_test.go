package queue

import (
	"errors"
	"fmt"
	"time"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// How much there is of keys, owners and alarms.
const (
	holdsOfKey    = 100_000 // messages of one key
	holdsHeld     = 20_000  // messages that an owner holds, of one key and of as many others
	holdsSleeping = 50_000  // delayed messages of one key, and of none
	holdsOffsets  = 50_000  // places of a source above its mark

	holdsScattered = 4000 // messages whose leases end at once
	holdsApart     = 16   // and how far they are apart
)

// holdsLater is how far ahead the delayed messages sleep.
const holdsLater = 20 * time.Minute

// fillKeys puts what the exercises on keys need.
func (w *holdsWorld) fillKeys() {
	w.create("onekey", Definition{})
	w.put("onekey", holdsOfKey, "k")
	w.create("lapsing", Definition{})
	w.put("lapsing", holdsHeld, "k")
	w.create("scattered", Definition{})
	w.put("scattered", holdsApart*holdsScattered, "")
	w.create("nacked", Definition{})
	w.put("nacked", holdsHeld, "k")
	w.create("sleeping", Definition{})
	w.create("unslept", Definition{})
	w.create("keys", Definition{})
	w.create("file", Definition{})
	later := w.s.clock().Add(holdsLater)
	w.each("sleeping", holdsSleeping, func(_ int, m *message.Message) { m.Key, m.NotBefore = "k", later })
	w.each("unslept", holdsSleeping, func(_ int, m *message.Message) { m.NotBefore = later.Add(time.Hour) })
	w.each("keys", 2*holdsHeld, func(i int, m *message.Message) { m.Key = fmt.Sprintf("k%d", i%holdsHeld) })
	w.each("file", holdsOffsets, func(i int, m *message.Message) {
		m.Origin = message.Origin{Source: "file", Offset: uint64(i + 1)}
	})
}

// each puts messages that shape has shaped by their number.
func (w *holdsWorld) each(name string, n int, shape func(i int, m *message.Message)) {
	w.t.Helper()
	for first := 0; first < n; first += w.puts {
		ms := make([]message.Message, min(w.puts, n-first))
		for i := range ms {
			ms[i].Body = []byte("x")
			shape(first+i, &ms[i])
		}
		if _, err := w.s.Put(w.t.Context(), holdsName("%s", name), ms); err != nil {
			w.t.Fatal(err)
		}
	}
}

// holdsKeys are the exercises on what of one key is held, sleeps or follows.
func holdsKeys() []holdsExercise {
	return []holdsExercise{
		{"Settle: back, of a key of many", func(w *holdsWorld) error {
			n, err := w.claim("onekey", "", 1)
			return holdsWants(1, n, err)
		}},
		{"Settle: back, when its owner holds many of the key", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			defer o.Close()
			cs, err := holdsOwn(w, o, "nacked", 0)
			if err != nil {
				return err
			}
			_, err = w.s.Settle(w.t.Context(), []Settlement{{Token: cs[0].Token, Kind: Back}})
			return err
		}},
		{"Claim: by the owner of many keys", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			defer o.Close()
			if _, err := holdsOwn(w, o, "keys", 0); err != nil {
				return err
			}
			_, err := w.s.Put(w.t.Context(), holdsName("keys"), []message.Message{{Key: "k7"}})
			if err != nil {
				return err
			}
			cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from(holdsName("keys")), Max: 1, Owner: o})
			return holdsWants(1, len(cs), err)
		}},
		{"Idle: by a condition, of what is not ready", func(w *holdsWorld) error {
			if !must(w.s.Idle(w.t.Context(), holdsName("unslept"), holdsWhere("n % 7 = 3"))) {
				return errors.New("want true")
			}
			return nil
		}},
		{"Stats: when the leases of many of a key end", func(w *holdsWorld) error {
			o := w.s.NewOwner("test")
			defer o.Close()
			if _, err := holdsOwn(w, o, "lapsing", 5*time.Minute); err != nil {
				return err
			}
			w.skipped.Add(int64(5 * time.Minute))
			return w.until("lapsing", "all leases have ended", func(st Stats) bool { return st.Claimed == 0 })
		}},
		{"Stats: when leases of messages far apart end", func(w *holdsWorld) error {
			for where, lease := range map[string]time.Duration{
				fmt.Sprintf("n %% %d = 0", holdsApart): 5 * time.Minute,
				fmt.Sprintf("n %% %d > 0", holdsApart): 12 * time.Hour,
			} {
				for {
					cs, err := w.s.Claim(w.t.Context(), ClaimRequest{
						From: []From{{holdsName("scattered"), holdsWhere(where)}}, Max: 1000, Lease: lease})
					if err != nil {
						return err
					}
					if len(cs) == 0 {
						break
					}
				}
			}
			w.saving(w.t, true) // of the pages as they are now
			w.skipped.Add(int64(5 * time.Minute))
			return w.until("scattered", "the short leases have ended",
				func(st Stats) bool { return st.Claimed == (holdsApart-1)*holdsScattered })
		}},
		{"Stats: when many of a key wake", func(w *holdsWorld) error {
			w.skipped.Add(int64(holdsLater))
			return w.until("sleeping", "all are awake", func(st Stats) bool { return st.Delayed == 0 })
		}},
		{"Purge: of many that sleep", func(w *holdsWorld) error {
			n, err := w.s.Purge(w.t.Context(), holdsName("unslept"))
			return holdsWants(holdsSleeping, n, err)
		}},
		{"Put: with a mark that leaves many places behind", func(w *holdsWorld) error {
			_, err := w.s.Put(w.t.Context(), holdsName("file"), []message.Message{
				{Origin: message.Origin{Source: "file", Offset: holdsOffsets + 1, Mark: holdsOffsets + 1}}})
			return err
		}},
	}
}

// holdsOwn lets an owner claim all that it can get of a queue.
func holdsOwn(w *holdsWorld, o Owner, name string, lease time.Duration) (all []Claim, err error) {
	for {
		cs, err := w.s.Claim(w.t.Context(), ClaimRequest{From: from(holdsName("%s", name)), Max: 1000, Owner: o,
			Lease: lease})
		if err != nil || len(cs) == 0 {
			return all, err
		}
		all = append(all, cs...)
	}
}

// until waits for something that the numbers of a queue tell.
func (w *holdsWorld) until(name, what string, is func(Stats) bool) error {
	var err error
	waittest.Until(w.t, what, func() bool {
		var st Stats
		st, err = w.s.Stats(w.t.Context(), holdsName("%s", name))
		return err != nil || is(st)
	})
	return err
}
