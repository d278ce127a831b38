package push

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestTheWheelGivesEachCallOutAfterItsDeadlineAndSoon(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w wheel
		now := time.Duration(0)
		deadlines := map[*Call]time.Duration{}
		for range rapid.IntRange(1, 100).Draw(t, "steps") {
			switch rapid.IntRange(0, 4).Draw(t, "step") {
			case 0, 1:
				c := &Call{}
				d := now + time.Duration(rapid.Int64Range(-int64(time.Second), int64(2*time.Minute)).Draw(t,
					"deadline"))
				w.add(c, tickOf(d))
				deadlines[c] = max(d, now) // one that has passed is noticed with the next tick
			case 2:
				for c := range deadlines {
					w.remove(c)
					w.remove(c) // harmless
					delete(deadlines, c)
					break
				}
			default:
				if at, ok := w.next(); ok != (len(deadlines) > 0) {
					t.Fatalf("%d deadlines, next %v %v", len(deadlines), at, ok)
				} else if ok {
					first := time.Duration(1<<62 - 1)
					for _, d := range deadlines {
						first = min(first, d)
					}
					if latest := max(first, now) + 2*tickLen; at > latest {
						t.Fatalf("looks at %v, after %v", at, latest)
					}
				}
				now += time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "passes"))
				w.expire(now, func(c *Call) {
					if d, ok := deadlines[c]; !ok || d > now {
						t.Fatalf("given out at %v with %v, known %v", now, d, ok)
					}
					delete(deadlines, c)
				})
				for _, d := range deadlines {
					if d+2*tickLen < now {
						t.Fatalf("%v is not given out at %v", d, now)
					}
				}
			}
			if w.n != len(deadlines) {
				t.Fatalf("%d in the wheel, want %d", w.n, len(deadlines))
			}
		}
	})
}

func TestConnectionsAreBoundedWhateverHappens(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, err := Config{Address: "a:1", DialBurst: rapid.IntRange(1, 20).Draw(t, "burst"),
			DialRate: rapid.Float64Range(0.01, 5).Draw(t, "rate")}.complete()
		if err != nil {
			t.Fatal(err)
		}
		b := newBudget(&c)
		var now time.Duration
		begun, answers := 0, 0
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			if at := b.wait(now); at <= now {
				b.spend(now)
				begun++
				switch rapid.IntRange(0, 2).Draw(t, "end") {
				case 0:
					rest := b.failed(now)
					if rest < c.BackoffMin || rest > c.BackoffMax {
						t.Fatalf("a rest of %v", rest)
					}
				case 1:
					n := rapid.IntRange(1, 50).Draw(t, "answers")
					b.answered(n)
					answers += n
				}
			} else {
				now = min(at, now+time.Duration(rapid.Int64Range(1, int64(10*time.Second)).Draw(t, "passes")))
			}
			if most := float64(c.DialBurst) + now.Seconds()*c.DialRate + float64(answers)/answersPerDial +
				0.001; float64(begun) > most {
				t.Fatalf("%d connections in %v, at most %.1f are allowed", begun, now, most)
			}
		}
	})
}

func TestTheLineKeepsItsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var l line
		var want []*Call
		for range rapid.IntRange(1, 50).Draw(t, "steps") {
			switch n := rapid.IntRange(0, 3).Draw(t, "step"); {
			case n == 0:
				c := &Call{}
				l.back(c)
				want = append([]*Call{c}, want...)
			case n == 1 && len(want) > 0:
				i := rapid.IntRange(0, len(want)-1).Draw(t, "which")
				l.remove(want[i])
				want = append(want[:i:i], want[i+1:]...)
			default:
				c := &Call{}
				l.push(c)
				want = append(want, c)
			}
			i := 0
			for c := l.first; c != nil; c = c.next {
				if i >= len(want) || c != want[i] {
					t.Fatal("out of order")
				}
				i++
			}
			if i != len(want) || l.n != i || (l.last == nil) != (i == 0) {
				t.Fatal("its ends do not meet")
			}
		}
	})
}

// FuzzReader reads anything, once whole and once in two parts: what it understands may not depend on where the network
// cuts.
func FuzzReader(f *testing.F) {
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x05\x00\x00\x00\x01\x88\x00\x00\x02\x00\x01\x00\x00\x00\x03ok"), 12)
	f.Add([]byte("\x00\x00\x00\x04\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00\x00\x00\x00\x01\x88\x00\x00\x04\x09\x04\x00\x00\x00\x01\x40\x01a\x00"), 20)
	f.Add([]byte("\x00\x00\x06\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x01\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00"), 17)
	config, err := Config{Address: "a:1"}.complete()
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte, cut int) {
		whole := newReader(&config)
		n, bad := whole.frames(data)
		parts := newReader(&config)
		cut = max(0, min(cut, len(data)))
		m, worse := parts.frames(data[:cut])
		if worse == nil {
			var more int
			more, worse = parts.frames(data[m:])
			m += more
		}
		if n != m || (bad == nil) != (worse == nil) || len(whole.events) != len(parts.events) {
			t.Fatalf("whole: %d bytes, %v, %d events; in parts: %d bytes, %v, %d events", n, bad, len(whole.events), m,
				worse, len(parts.events))
		}
		for i, e := range whole.events {
			p := parts.events[i]
			if e.kind != p.kind || e.stream != p.stream || e.end != p.end || e.n != p.n || e.bad != p.bad ||
				string(e.data) != string(p.data) {
				t.Fatalf("event %d: %+v and %+v", i, e, p)
			}
			if e.response != nil && (e.response.Status != p.response.Status ||
				len(e.response.Header) != len(p.response.Header)) {
				t.Fatalf("response %+v and %+v", e.response, p.response)
			}
		}
	})
}

func TestFieldValuesAreCheckedByteByByteOrEightAtOnceAlike(t *testing.T) {
	for at := range 20 {
		for b := range 256 {
			value := []byte("abcdefghij\xff\x80klmnopqr")
			value[at] = byte(b)
			want := areValueBytes(string(value)) && (at > 0 && at < len(value)-1 || b != ' ' && b != '\t')
			if isFieldValue(string(value)) != want {
				t.Errorf("byte %#x at %d: %v", b, at, !want)
			}
		}
	}
}

func TestWhatComesBeforeARequestIsWrittenIsNotItsAnswer(t *testing.T) {
	k := newConn(&Client{}, 1)
	call := &Call{stream: 5}
	k.streams[5] = call
	k.asked.Store(3) // the last one, which is answered
	if got := k.only(); got != nil {
		t.Errorf("%+v is answered before it is asked", got)
	}
	k.asked.Store(5)
	if got := k.only(); got != call {
		t.Errorf("%+v is answered", got)
	}
}
