package sqs

import (
	"errors"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/sqs/wire"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// attempts remembers what ReceiveMessage answered to a ReceiveRequestAttemptId, so that a client whose answer was lost
// gets it again. Messages are not kept: they are read again.
type attempts struct {
	mu     sync.Mutex
	known  map[attemptKey]*answer
	order  []attemptKey // as they came; some are not known any more
	tokens map[queue.Token]attemptKey
}

type attemptKey struct {
	queue queue.Name
	id    string
}

// answer is what was handed out.
type answer struct {
	at     time.Time
	claims []handed
}

// handed is a claim without its message.
type handed struct {
	token   queue.Token
	attempt int
	size    int64 // of the message
}

// maxAttempts is how many answers are remembered; the oldest go first.
const maxAttempts = 10_000

// keep remembers an answer.
func (a *attempts) keep(k attemptKey, claims []queue.Claim, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.known == nil {
		a.known, a.tokens = map[attemptKey]*answer{}, map[queue.Token]attemptKey{}
	}
	a.forget(k)
	an := &answer{at: now, claims: make([]handed, len(claims))}
	for i := range claims {
		an.claims[i] = handed{claims[i].Token, claims[i].Attempt, int64(claims[i].Message.Size())}
		a.tokens[claims[i].Token] = k
	}
	a.known[k] = an
	a.order = append(a.order, k)
	for len(a.order) > 0 {
		oldest := a.order[0]
		an := a.known[oldest]
		if an != nil && len(a.order) <= maxAttempts && now.Sub(an.at) < maxAttemptSeconds*time.Second {
			break
		}
		a.forget(oldest)
		a.order = a.order[1:]
	}
}

// forget removes an answer. The lock is held.
func (a *attempts) forget(k attemptKey) {
	if an := a.known[k]; an != nil {
		for _, h := range an.claims {
			delete(a.tokens, h.token)
		}
		delete(a.known, k)
	}
}

// of returns an answer that is not too old; nil if there is none.
func (a *attempts) of(k attemptKey, now time.Time) *answer {
	a.mu.Lock()
	defer a.mu.Unlock()
	if an := a.known[k]; an != nil && now.Sub(an.at) < maxAttemptSeconds*time.Second {
		return an
	}
	return nil
}

// changed forgets the answers with messages that were deleted, or whose visibility was changed.
func (a *attempts) changed(n queue.Name, hs []handle) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.tokens) == 0 {
		return
	}
	for i := range hs {
		if k, ok := a.tokens[hs[i].receipt.token]; ok && k.queue == n && hs[i].err == nil {
			a.forget(k)
		}
	}
}

// again answers as before to a ReceiveRequestAttemptId, with the visibility timeout begun anew; nil when there is
// nothing to repeat, or not all of it is still the client's.
func (c *call) again(r *receiving) (wire.Response, error) {
	k := attemptKey{r.view.name, r.attempt}
	an := c.d.attempts.of(k, c.d.now())
	if an == nil {
		return nil, nil
	}
	lease := r.claim.Lease
	if lease == 0 {
		lease = r.view.def.ClaimLease()
	}
	tokens, sum := make([]queue.Token, len(an.claims)), int64(0)
	for i := range an.claims {
		tokens[i] = an.claims[i].token
		sum += an.claims[i].size
	}
	if err := c.room(c.ctx(), sum, 0); err != nil {
		return nil, err
	}
	errs, err := c.d.store.Extend(c.ctx(), tokens, lease)
	if err != nil {
		return nil, err
	}
	if errors.Join(errs...) != nil {
		return nil, nil
	}
	out := &wire.ReceiveMessageResponse{Messages: make([]wire.Received, len(an.claims))}
	for i, h := range an.claims {
		p, err := c.d.store.Look(c.ctx(), r.view.name, h.token.Sequence)
		if errors.Is(err, queue.ErrGone) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		claim := queue.Claim{Token: h.token, Queue: r.view.name, Sequence: h.token.Sequence, Attempt: h.attempt,
			Message: p.Message, Columns: p.Columns}
		c.show(&out.Messages[i], r, &claim, an.at)
	}
	return out, nil
}
