package pipeline

import (
	"math"
	"math/bits"
	"time"
)

// What steers an adaptive limit. The reasons stand with the code that uses them.
const (
	firstLimit     = 4
	calm           = 1.5 // slower than the base by less than this: there may be more
	calmDoubling   = 2.0
	headroom       = 1.25 // kept above what the far end works on at once, so that it never idles
	noise          = 0.1  // share of failures that says nothing about concurrency
	leastHold      = 8
	mostHold       = 64
	roundsPerStep  = 4
	roundsPerProbe = 64
	roundsPerDrop  = 8 // that a drop brings the next probe nearer: where there are many, the base may be wrong
)

// adaptive finds out how many requests a far end works on at once, from nothing but how long they take and whether they
// are refused. It judges in rounds: a round is what became of the next so many requests, at least as many as the limit,
// that begin after the last round was judged. (The next so many answers would be those of the quick ones.)
//
//   - Below its goal it doubles every round; at first the goal is the maximum. Beyond, it grows by steps, which get
//     longer while all is well.
//   - When requests take longer than they should, the far end queues them, and the queue is as long as the time tells:
//     the limit drops to what is worked on, and a little more. Should the next rounds be as slow with fewer requests,
//     then it was not our doing: the drop is taken back and the new time becomes the base.
//   - When requests are refused, it drops to the share that was taken, at most by half, and stays there for a while,
//     the longer the more often it happens there. The goal drops too, but once only: after an outage the limit doubles
//     its way back.
//
// The base, the time a request takes when nothing is queued, is kept per size of batch in powers of two, since larger
// batches take longer. Now and then a round at half the limit measures it anew. While the limit is not used up, it does
// not move.
type adaptive struct {
	max  float64
	now  float64 // the limit, whole
	goal float64

	step     float64
	good     int     // good rounds since the last step was lengthened
	hold     int     // rounds to stay for
	patience int     // rounds to stay for after the next refusal
	refusal  float64 // the limit of the last one
	ill      bool    // the last round was refused
	quiet    int     // rounds since the base was last measured
	probe    float64 // the limit to come back to while the base is measured; 0: it is not
	cut      drops

	number   uint64 // of the round
	round    round
	trip     float64          // seconds that requests took in the last round in which some were good
	lastGood time.Time        // when the last good answer came
	base     [classes]float64 // seconds by size class; 0: not known
}

// drops is a run of drops because of slowness.
type drops struct {
	limit, goal float64 // before the first one; 0: there is none
	from, ratio float64 // the limit that the evidence was measured at, and how slow it was
}

// round gathers samples.
type round struct {
	from, to     time.Time
	begun, done  int // of those that count
	others       int // answers to later ones
	full         int
	slow         bool
	good, failed float64 // seconds of requests
	took         [classes]struct {
		under int // begun and not answered
		n     float64
		sum   float64 // seconds
	}
}

// classes are the sizes of batches, in powers of two.
const classes = 32

func class(size int) int { return min(bits.Len(uint(max(size, 0))), classes-1) }

func newAdaptive(maximum int) *adaptive {
	m := float64(max(1, maximum))
	return &adaptive{max: m, now: min(firstLimit, m), goal: m, step: 1, patience: leastHold}
}

func (a *adaptive) limit() int { return int(a.now) }

// Tickets hold the number of the round, whether the request counts in it, and whether it took the last free slot.
const (
	ticketCounts = 1 << iota
	ticketFull
	ticketRound = iota
)

func (a *adaptive) begin(busy, size int) uint64 {
	ticket := a.number << ticketRound
	if a.round.begun < a.wanted() {
		a.round.begun++
		a.round.took[class(size)].under++
		ticket |= ticketCounts
	}
	if busy >= a.limit() {
		ticket |= ticketFull
	}
	return ticket
}

func (a *adaptive) end(ticket uint64, s sample) {
	if s.failed < 1 {
		a.lastGood = s.at
	}
	r := &a.round
	switch {
	case ticket>>ticketRound != a.number:
		return
	case ticket&ticketCounts == 0:
		r.others++
	default:
		r.add(s, ticket&ticketFull != 0)
	}
	wanted := a.wanted()
	switch {
	case r.done >= wanted:
		a.judge()
	case 2*r.done >= wanted && r.done+r.others >= 3*wanted: // the last ones hang
		r.late(&a.base)
		a.judge()
	}
}

func (r *round) add(s sample, full bool) {
	r.done++
	if full {
		r.full++
	}
	if began := s.at.Add(-s.took); r.from.IsZero() || began.Before(r.from) {
		r.from = began
	}
	r.to = s.at
	took := max(s.took, time.Microsecond).Seconds()
	r.failed += s.failed * took
	r.good += (1 - s.failed) * took
	r.slow = r.slow || s.slow
	t := &r.took[class(s.size)]
	t.under--
	if s.failed < 1 {
		t.n++
		t.sum += took
	}
}

// late adds those that have not answered and should have, as if they did now.
func (r *round) late(base *[classes]float64) {
	elapsed := r.to.Sub(r.from).Seconds()
	for i := range r.took {
		if t := &r.took[i]; elapsed > base[i] {
			t.n += float64(t.under)
			t.sum += float64(t.under) * elapsed
		}
	}
}

// wanted is how many samples make a round: more where their times are measured than where the limit is only on its way
// back.
func (a *adaptive) wanted() int {
	least := 16
	switch {
	case a.hold > 0:
		least = 1
	case a.now < a.goal && a.goal < a.max:
		least = 2
	case a.now < a.goal:
		least = 8
	}
	return max(least, a.limit())
}

func (a *adaptive) judge() {
	r := a.round
	a.round = round{}
	a.number++
	// The share of the requests' time tells how many of those that were under way at once failed, however fast they
	// did.
	bad := r.failed / (r.failed + r.good)
	if r.good > 0 {
		a.trip = r.mean()
	}
	if r.slow || bad >= noise+1/math.Sqrt(float64(max(1, r.done))) { // more than chance
		a.probe = 0
		if r.good == 0 && r.to.Sub(a.lastGood).Seconds() < 2*a.trip {
			bad = 0 // refusals come back faster than answers, which are still on their way
		}
		a.refused(bad)
		return
	}
	a.ill = false
	if a.probe > 0 {
		a.learn(&r, true)
		a.move(a.probe)
		a.probe = 0
		return
	}
	ratio := a.ratio(&r)
	used := 2*r.full >= r.done
	tolerated := calm
	if a.now < a.goal {
		tolerated = calmDoubling
	}
	tolerated += 1 / math.Sqrt(float64(max(1, r.done))) // a mean of few varies by chance
	switch {
	case !used:
		a.learn(&r, false)
	case ratio >= tolerated:
		a.slower(&r, ratio)
	default:
		a.learn(&r, false)
		a.cut = drops{}
		a.grow()
	}
}

// refused answers to a round of which a share was refused or failed.
func (a *adaptive) refused(bad float64) {
	a.cut = drops{}
	a.step, a.good = 1, 0
	to := min(a.now-1, math.Floor(a.now*max(1-bad, 0.5)))
	if bad >= 0.5 {
		a.hold = 0
	}
	if !a.ill {
		a.goal = max(1, to)
		if bad < 0.5 { // it took most of them: this is about how many
			if a.now > 1.25*a.refusal || a.now < 0.75*a.refusal {
				a.patience = leastHold
			}
			a.hold, a.refusal = a.patience, a.now
			a.patience = min(2*a.patience, mostHold)
		} else { // it is not about how many, but about whether at all
			a.goal = max(1, math.Floor(0.75*a.now))
		}
	}
	a.ill = true
	a.move(to)
}

// slower answers to a round that took longer than it should.
func (a *adaptive) slower(r *round, ratio float64) {
	a.step, a.good = 1, 0
	switch {
	case a.cut.limit == 0:
		a.quiet += roundsPerDrop
		a.cut = drops{limit: a.now, goal: a.goal, from: a.now, ratio: ratio}
	case ratio > 1.2*a.cut.ratio: // things are changing: what was measured before is no evidence
		a.cut.from, a.cut.ratio = a.now, ratio
	default:
		queued := a.cut.ratio * a.now / a.cut.from // what it would be now, had it been our queue
		if ratio > (a.cut.ratio+queued)/2 {
			a.learn(r, true)
			before := a.cut
			a.cut = drops{}
			a.goal = before.goal
			a.move(before.limit)
			return
		}
	}
	if a.now <= 1 { // nothing is queued behind a single request: that is how long they take
		a.learn(r, true)
		a.cut = drops{}
		return
	}
	to := max(1, min(a.now-1, math.Ceil(a.now/ratio*headroom)))
	a.goal = to
	a.move(to)
}

func (a *adaptive) grow() {
	if a.hold > 0 {
		a.hold--
		return
	}
	if a.quiet++; a.quiet >= roundsPerProbe && a.now > firstLimit {
		a.quiet = 0
		a.probe = a.now
		a.move(math.Floor(a.now / 2))
		return
	}
	if a.now < a.goal {
		a.move(min(2*a.now, a.goal))
		return
	}
	if a.now+a.step >= a.refusal-1 && a.now < 1.1*a.refusal {
		a.step, a.good = 1, 0 // slowly past the place of the last refusal
	}
	if a.good++; a.good > roundsPerStep {
		a.good = 1
		a.step = min(2*a.step, max(1, math.Floor(a.now/4)))
	}
	a.move(a.now + a.step)
}

func (a *adaptive) move(to float64) {
	to = min(max(to, 1), a.max)
	if to == a.now {
		return
	}
	a.now = to
}

// ratio compares the times of a round with the base; 1 where no base is known.
func (a *adaptive) ratio(r *round) float64 {
	sum, n := 0.0, 0.0
	for i, t := range r.took {
		if t.n == 0 {
			continue
		}
		n += t.n
		if a.base[i] == 0 {
			sum += t.n
		} else {
			sum += t.sum / a.base[i]
		}
	}
	if n == 0 {
		return 1
	}
	return sum / n
}

// mean is how long the good requests of a round took, in seconds.
func (r *round) mean() float64 {
	sum, n := 0.0, 0.0
	for _, t := range r.took {
		sum, n = sum+t.sum, n+t.n
	}
	return sum / max(1, n)
}

// learn brings the base down to what was measured, if that can not be chance. When it is sure that nothing was queued,
// it brings it there from both sides.
func (a *adaptive) learn(r *round, sure bool) {
	for i, t := range r.took {
		if t.n == 0 {
			continue
		}
		mean := t.sum / t.n
		switch {
		case a.base[i] == 0, sure:
			a.base[i] = mean
		case mean < a.base[i]*(1-2/math.Sqrt(max(4, t.n))): // two standard deviations of times as random as can be
			a.base[i] = mean
		}
	}
}
