package queue

import (
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/message"
)

// BenchmarkState puts, claims and settles messages in a state alone, as a Store does under its lock: no journal, no
// goroutine, no clock. msgs/s are whole lives of messages a second on one core.
func BenchmarkState(b *testing.B) {
	for name, waiting := range map[string]int{"empty": 0, "100000 wait": 100_000} {
		b.Run(name, func(b *testing.B) {
			l := Limits{}.WithDefaults()
			s := newState()
			s.limits = &l
			s.advance(time.Unix(1, 0))
			position := journal.Position(0)
			apply := func(group []applied) {
				position++
				for i := range group {
					group[i].at, group[i].addr = s.now, journal.Address{Position: position, Index: uint32(i)}
				}
				if err := s.apply(group, s.now); err != nil {
					b.Fatal(err)
				}
				s.serve()
				s.released = s.released[:0]
			}
			apply([]applied{{event: &queueDefined{queue: 1, name: news, def: Definition{}.normal(news)}}})
			q := s.queueNames[news]
			var d draft
			var p plan // of a flight, as the draft
			m := message.Message{ID: message.NewID(), Body: []byte("small"), Time: timeOf(s.now)}
			put := func() {
				d = draft{}
				d.group = d.one[:0]
				p = plan{s: s, now: s.now, draft: &d}
				if _, err := p.put(q, &m, false); err != nil {
					b.Fatal(err)
				}
				apply(d.group)
				p.giveBack()
			}
			for range waiting {
				put()
			}
			a := asker{from: make([]wanted, 1), max: 1, claimant: 1, lease: time.Minute}
			settle := make([]applied, 1)
			var done settled
			b.ReportAllocs()
			for b.Loop() {
				put()
				a.from[0] = wanted{q: q, find: everything{}}
				a.picks = a.picks[:0]
				if a.bytes = 0; s.choose(&a) != 1 {
					b.Fatal("nothing is there")
				}
				done = settled{queue: q.id, seq: a.picks[0].e.seq(), end: endDone}
				settle[0] = applied{event: &done}
				apply(settle)
			}
			b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msgs/s")
		})
	}
}
