package access

import (
	"sync"
	"time"
)

// Why a login failed. They are labels of a metric, too.
const (
	WrongSecret = "secret"    // of a user there is, or a token that is nobody's
	UnknownName = "name"      // nobody is named so
	NeedsSecret = "hash-only" // the protocol wants the secret itself, and only its hash is known
	BadProof    = "proof"     // a signature that is too old, or made for something else
	TooMany     = "slowed"    // it was refused unlooked at, since so many have failed
	NoLogin     = "missing"   // no secret was shown at all: counted, and not logged
)

// Failure is a login that failed, or several of one kind that were logged together.
type Failure struct {
	Door    string
	Reason  string
	Name    string // of the user; "" where nobody is named so: people type secrets there
	Address string // without the port
	Count   uint64 // how many since the last that was logged
}

// Watch says who is told of logins that fail: count of each, log of the first at once and then of each door's and
// reason's once in ten seconds at most. Both may be called from several goroutines, and must be quick. It is called
// before the doors open.
func (us *Users) Watch(count func(door, reason string), log func(Failure)) {
	if us != nil {
		us.failures.count, us.failures.log = count, log
	}
}

// failures gathers what is logged.
type failures struct {
	count func(door, reason string)
	log   func(Failure)

	mu    sync.Mutex
	kinds map[[2]string]*failureKind // by door and reason, both out of few
}

type failureKind struct {
	logged time.Time
	since  uint64
}

const logEvery = 10 * time.Second

func (fs *failures) note(f Failure) {
	if fs.count != nil {
		fs.count(f.Door, f.Reason)
	}
	if fs.log == nil || f.Reason == NoLogin {
		return
	}
	now := time.Now()
	fs.mu.Lock()
	k := fs.kinds[[2]string{f.Door, f.Reason}]
	if k == nil {
		if fs.kinds == nil {
			fs.kinds = map[[2]string]*failureKind{}
		}
		k = &failureKind{}
		fs.kinds[[2]string{f.Door, f.Reason}] = k
	}
	k.since++
	f.Count = k.since
	due := k.logged.IsZero() || now.Sub(k.logged) >= logEvery
	if due {
		k.logged, k.since = now, 0
	}
	fs.mu.Unlock()
	if due {
		fs.log(f)
	}
}
