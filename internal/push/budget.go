package push

import (
	"math/rand/v2"
	"time"
)

// answersPerDial is how many answers pay for a connection: a far end that says goodbye after so many each time is
// followed at once.
const answersPerDial = 100

// budget decides when the next connection may be begun. It bounds them in two ways: after failures by a rest of random
// length that grows, and always by tokens, which come back slowly and with answers.
type budget struct {
	min, max time.Duration
	rate     float64
	burst    float64

	tokens   float64
	counted  time.Duration // when tokens was true
	failures int
	rest     time.Duration // none before
	random   func() float64
}

func newBudget(c *Config) budget {
	return budget{min: c.BackoffMin, max: c.BackoffMax, rate: c.DialRate, burst: float64(c.DialBurst),
		tokens: float64(c.DialBurst), random: rand.Float64}
}

// wait is when a connection may be begun: now, or later.
func (b *budget) wait(now time.Duration) time.Duration {
	b.count(now)
	at := max(now, b.rest)
	if b.tokens < 1 {
		at = max(at, now+time.Duration((1-b.tokens)/b.rate*float64(time.Second))+1)
	}
	return at
}

// spend is called when a connection is begun.
func (b *budget) spend(now time.Duration) {
	b.count(now)
	b.tokens--
}

func (b *budget) count(now time.Duration) {
	b.tokens = min(b.burst, b.tokens+b.rate*(now-b.counted).Seconds())
	b.counted = now
}

// answered is called with the number of answers that came.
func (b *budget) answered(n int) {
	b.tokens = min(b.burst, b.tokens+float64(n)/answersPerDial)
	b.failures = 0
}

// paid is called when the far end ends a connection with a good answer: that pays for the next one, for far ends that
// take one request a connection.
func (b *budget) paid() { b.tokens = min(b.burst, b.tokens+1) }

// failed is called when a connection came to nothing; it answers how long none will be begun.
func (b *budget) failed(now time.Duration) time.Duration {
	b.failures++
	most := b.max
	if shift := b.failures; shift < 30 && b.min<<shift < b.max && b.min<<shift > 0 {
		most = b.min << shift
	}
	rest := b.min + time.Duration(b.random()*float64(most-b.min))
	b.rest = max(b.rest, now+rest)
	return rest
}
