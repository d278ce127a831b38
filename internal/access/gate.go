package access

import (
	"context"
	"fmt"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

// gate slows down whoever tries wrong secrets, by address and by name. Each has some tries at once and then one a
// while; the next tries wait for theirs, and what would wait for long is refused unlooked at. Nobody is locked out:
// when the tries end, the debt does after mostDebt at the latest.
//
// The zero value is ready. Its methods may be called from any goroutine.
type gate struct {
	// how many keys have a debt that was not seen to have passed: 0, and nothing has to be looked at
	indebted atomic.Int64

	mu    sync.Mutex
	debts map[gateKey]time.Time // when all that was tried is paid for
}

// gateKey is an address, or a name.
type gateKey struct {
	addr netip.Prefix
	name string
}

// An allowance is how many wrong secrets may come at once, and how long each costs.
type allowance struct {
	burst int
	each  time.Duration
}

var (
	byAddress = allowance{10, time.Second}
	byName    = allowance{50, 200 * time.Millisecond} // it may come from everywhere, and strangers may spend it
)

const (
	longestWait = 5 * time.Second  // for one's turn; what would wait longer is refused
	mostDebt    = 30 * time.Second // whatever was tried
	mostDebts   = 8192             // addresses and names that are remembered
)

// SlowError says that too many logins have failed to look at this one now.
type SlowError struct{ After time.Duration }

// Error says when to try again.
func (e *SlowError) Error() string {
	return fmt.Sprintf("too many logins have failed: try again in %d s", e.Seconds())
}

// Seconds is After, rounded up.
func (e *SlowError) Seconds() int { return int((e.After + time.Second - 1) / time.Second) }

// idle tells whether nobody has to be slowed.
func (g *gate) idle() bool { return g.indebted.Load() == 0 }

// pass waits until it is the turn of one who comes from an address with a name ("": it is not known). wrong says that
// the secret was found to be wrong, which has to be paid for. The error is a *SlowError, or that of ctx.
func (g *gate) pass(ctx context.Context, address, name string, wrong bool) error {
	if !wrong && g.idle() {
		return nil
	}
	keys := make([]gateKey, 0, 2)
	if a, ok := addressKey(address); ok {
		keys = append(keys, gateKey{addr: a})
	}
	if name != "" {
		keys = append(keys, gateKey{name: name})
	}
	now := time.Now()
	g.mu.Lock()
	var wait time.Duration
	for _, k := range keys {
		wait = max(wait, g.owes(k, now))
	}
	if wrong {
		for _, k := range keys {
			g.charge(k, now)
		}
	}
	g.mu.Unlock()
	switch {
	case wait <= 0:
		return nil
	case wait > longestWait:
		return &SlowError{wait}
	}
	turn := time.NewTimer(wait)
	defer turn.Stop()
	select {
	case <-turn.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k gateKey) allowance() allowance {
	if k.name != "" {
		return byName
	}
	return byAddress
}

// owes is how long a key has to wait. g.mu is held.
func (g *gate) owes(k gateKey, now time.Time) time.Duration {
	a := k.allowance()
	paid, ok := g.debts[k]
	if !ok {
		return 0
	}
	if !paid.After(now) {
		g.forget(k)
		return 0
	}
	return paid.Sub(now) - time.Duration(a.burst-1)*a.each
}

// charge adds what a wrong secret costs. g.mu is held.
func (g *gate) charge(k gateKey, now time.Time) {
	a := k.allowance()
	paid, ok := g.debts[k]
	if !ok {
		if len(g.debts) >= mostDebts {
			g.makeRoom(now)
		}
		if g.debts == nil {
			g.debts = map[gateKey]time.Time{}
		}
		g.indebted.Add(1)
	}
	if paid.Before(now) {
		paid = now
	}
	most := now.Add(time.Duration(a.burst)*a.each + mostDebt)
	if paid = paid.Add(a.each); paid.After(most) {
		paid = most
	}
	g.debts[k] = paid
}

// makeRoom forgets those who have paid, and else the one who is nearest to it. g.mu is held.
func (g *gate) makeRoom(now time.Time) {
	var least gateKey
	var soonest time.Time
	for k, paid := range g.debts {
		if !paid.After(now) {
			g.forget(k)
			continue
		}
		if soonest.IsZero() || paid.Before(soonest) {
			least, soonest = k, paid
		}
	}
	if len(g.debts) >= mostDebts {
		g.forget(least)
	}
}

func (g *gate) forget(k gateKey) {
	delete(g.debts, k)
	g.indebted.Add(-1)
}

// addressKey is the part of an address (host:port, or host) that one customer has: an IPv4 address, or 64 bits of an
// IPv6 address. ok is false for sockets of the file system.
func addressKey(address string) (netip.Prefix, bool) {
	a, err := netip.ParseAddr(place(address))
	if err != nil {
		return netip.Prefix{}, false
	}
	a = a.Unmap().WithZone("")
	bits := 32
	if a.Is6() {
		bits = 64
	}
	p, err := a.Prefix(bits)
	return p, err == nil
}

// place is an address without its port, and without brackets.
func place(address string) string {
	if n := len(address); n > 0 && address[n-1] != ']' {
		for i := n - 1; i >= 0; i-- {
			if c := address[i]; c == ':' {
				if host := address[:i]; i > 0 && (host[len(host)-1] == ']' || !hasColon(host)) {
					address = host
				}
				break
			} else if c < '0' || c > '9' {
				break
			}
		}
	}
	if n := len(address); n > 1 && address[0] == '[' && address[n-1] == ']' {
		return address[1 : n-1]
	}
	return address
}

func hasColon(s string) bool {
	for i := range len(s) {
		if s[i] == ':' {
			return true
		}
	}
	return false
}
