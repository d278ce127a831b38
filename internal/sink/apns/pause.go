package apns

import (
	"sync"
	"time"
)

// pause keeps everything of one key back for a while. When it is over, one message goes first, and the others only when
// the far end has taken that: what waits is much, and sending all of it with a key that is not trusted yet would look
// like an attack.
type pause struct {
	mu     sync.Mutex
	until  time.Time
	reason error
	token  string // it is about this provider token, and over when there is another; "": it is not
	doubt  bool   // nothing was taken since
	first  *first // the one that goes first is under way; nil: none is
}

// first is held by the one that goes first. It has a size, so that each has an address of its own.
type first struct{ _ byte }

// lookAgain is how long messages wait at a time for the one that goes first.
const lookAgain = time.Second

// left tells how long requests with a provider token have to wait yet, and why; 0: they need not.
func (p *pause) left(at time.Time, token string) (time.Duration, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.wait(at, token), p.reason
}

func (p *pause) wait(at time.Time, token string) time.Duration {
	switch {
	case p.token != "" && p.token != token:
		return 0
	case p.until.After(at):
		return p.until.Sub(at)
	case p.doubt && p.first != nil:
		return lookAgain
	}
	return 0
}

// enter is left for a request that is about to be sent: where it need not wait, it may be the one that goes first,
// which has to call leave. The others are given nil.
func (p *pause) enter(at time.Time, token string) (wait time.Duration, goes *first, reason error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if wait := p.wait(at, token); wait > 0 {
		return wait, nil, p.reason
	}
	if !p.doubt || p.first != nil {
		return 0, nil, nil
	}
	p.first = &first{}
	return 0, p.first, nil
}

// leave ends the one that goes first; taken says that the far end trusts us again. It does nothing for one that has
// left.
func (p *pause) leave(gone *first, taken bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if gone == nil || p.first != gone {
		return
	}
	p.first = nil
	if taken {
		p.doubt = false
	}
}

// begin makes it last for d at least.
func (p *pause) begin(at time.Time, d time.Duration, reason error, token string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.doubt = true
	if until := at.Add(d); until.After(p.until) || p.token != token {
		p.until, p.reason, p.token = until, reason, token
	}
}

// why is its reason, from its beginning until the far end has taken something; nil: there is none.
func (p *pause) why() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.doubt {
		return nil
	}
	return p.reason
}
