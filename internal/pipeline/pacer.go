package pipeline

import "time"

// pacer spreads the beginnings of requests evenly, so that no window of RateDuration sees more than RateNum of them. The zero
// value lets everything pass. It is used under its stage's lock.
type pacer struct {
	num  int64
	per  time.Duration
	from time.Time // where the present run of even steps began
	step int64     // requests in it so far
}

func newPacer(r Request) pacer { return pacer{num: int64(max(0, r.RateNum)), per: r.RateDuration} }

// next is the earliest time for another request; zero: any.
func (p *pacer) next() time.Time {
	if p.num == 0 || p.step == 0 {
		return time.Time{}
	}
	whole, rest := p.step/p.num, p.step%p.num
	// Rounding up, so that num steps are never shorter than per.
	part := (time.Duration(rest)*(p.per/time.Duration(p.num)) + (time.Duration(rest)*(p.per%time.Duration(p.num))+time.Duration(p.num)-1)/time.Duration(p.num))
	return p.from.Add(time.Duration(whole)*p.per + part)
}

// took notes that a request began.
func (p *pacer) took(now time.Time) {
	if p.num == 0 {
		return
	}
	if next := p.next(); p.step == 0 || now.Sub(next) > 0 {
		p.from, p.step = now, 0 // it was late, or the first: the even steps begin anew, so that nothing is caught up in a burst
	}
	p.step++
}
