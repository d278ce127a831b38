package queue

import (
	"math"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// about says what the rows of a contest are about. Fields that are empty do not apply and are left out.
type about struct {
	work      string
	writers   int // callers at once
	depth     int // messages waiting when a call begins
	matching  string
	condition string
	start     string
	call      string // what others do meanwhile; of beside only
	waiters   int    // others that wait; of hand-over only

	claims *measure.Histogram // of claim works: the claims alone
	looks  *measure.Histogram // the time that claims looked in memory
	log    *logged            // what was written
	peers  []peer             // as in the contest
	goals  []harness.Goal
	more   func(r *measure.Row) // sets more values of our row, before it is judged
}

// peer says what ours was compared with.
type peer struct {
	name    string // its case; CasePeer is the same work
	perSync int64  // messages
	read    int64  // bytes

	depth, waiters int
	claims, looks  *measure.Histogram
	log            *logged
	goals          []harness.Goal
	more           func(r *measure.Row) // sets more values of its row
}

// rows adds the rows of a contest: ours, with the ratios, and one a peer. Times are of calls, rates of messages.
func (s *session) rows(c harness.Contest, a about) {
	r := s.Report.Row(harness.CaseOurs, a.work)
	a.identify(r)
	r.Times(c.Ours.Calls).Rate(c.Ours.N, c.Ours.Elapsed)
	for i, p := range a.peers {
		harness.SetRatio(r, p.ratio(), c.Peers[i].Ratios)
	}
	setWork(r, a.claims, a.looks, a.log)
	r.Set("rss_mb", harness.Megabytes(machine.ResidentBytes()))
	if a.more != nil {
		a.more(r)
	}
	harness.Judge(r, s.Quick, a.goals...)
	for i, p := range a.peers {
		s.peerRow(&c.Peers[i].Total, a, p)
	}
}

func (s *session) peerRow(t *harness.Total, a about, p peer) {
	name := p.name
	if name == harness.CasePeer {
		name = harness.CaseOurs
		a.depth, a.waiters = p.depth, p.waiters
	}
	r := s.Report.Row(name, a.work)
	a.identify(r)
	r.Times(t.Calls).Rate(t.N, t.Elapsed)
	if p.perSync > 0 {
		r.Set("per_sync", p.perSync)
	}
	if p.read > 0 {
		r.Set("read_mb", harness.Megabytes(p.read))
	}
	setWork(r, p.claims, p.looks, p.log)
	if p.more != nil {
		p.more(r)
	}
	harness.Judge(r, s.Quick, p.goals...)
}

// identify sets what tells the rows of one work apart.
func (a *about) identify(r *measure.Row) {
	if a.writers > 0 {
		r.Set("writers", a.writers)
	}
	r.Set("depth", a.depth).Set("bytes", harness.BodyBytes)
	for _, v := range []struct{ name, value string }{{"condition", a.condition}, {"matching", a.matching},
		{"start", a.start}, {"call", a.call}} {
		if v.value != "" {
			r.Set(v.name, v.value)
		}
	}
	if a.work == workHandOver {
		r.Set("waiters", a.waiters)
	}
}

// ratio is the name of the ratio to p.
func (p peer) ratio() string {
	if p.name == harness.CaseLone {
		return "ratio_lone"
	}
	return "ratio"
}

func setWork(r *measure.Row, claims, looks *measure.Histogram, log *logged) {
	if claims != nil {
		sum := claims.Summary()
		r.Set("claim_p50_ms", measure.Milliseconds(sum.P50)).Set("claim_p99_ms", measure.Milliseconds(sum.P99))
	}
	if looks != nil {
		sum := looks.Summary()
		r.Set("look_p50_us", harness.Microseconds(sum.P50)).Set("look_p99_us", harness.Microseconds(sum.P99))
	}
	if log != nil {
		r.Set("per_sync", harness.Hundredths(log.perSync())).Set("log_bytes", math.Round(log.bytesEach()))
	}
}
