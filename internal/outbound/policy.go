package outbound

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Policy says which addresses may be reached. A nil one lets everything be reached. Its methods may be called from
// any goroutine.
type Policy struct {
	rules     atomic.Pointer[rules]
	machine   addresses
	proxies   proxies
	resolver  resolver
	addresses func() ([]net.Addr, error) // of this machine
}

// rules are a configuration's list, read.
type rules struct {
	any      bool // everything, and nothing has to be looked at
	kinds    []kind
	prefixes []netip.Prefix
	hosts    []string // exact, in small letters, or *.example.com for all below
}

// ErrAllow is what every error about a list is.
var ErrAllow = errors.New("outbound: allow is not valid")

// Check says what is wrong with one entry of a list; nil for a good one.
func Check(entry string) error { return new(rules).add(entry) }

// New makes a policy that allows, beside public addresses, those of a list: the words loopback, link-local, private and
// any; addresses and networks (10.1.0.0/16); and names of hosts, or *.example.com, which may then resolve to whatever
// they do. Errors are ErrAllow.
func New(allow []string) (*Policy, error) {
	p := &Policy{proxies: environment(), resolver: net.DefaultResolver, addresses: net.InterfaceAddrs}
	if err := p.Set(allow); err != nil {
		return nil, err
	}
	return p, nil
}

// Set replaces the list. It counts for connections made from then on; those that stand are used further.
func (p *Policy) Set(allow []string) error {
	r := &rules{}
	for _, entry := range allow {
		if err := r.add(entry); err != nil {
			return err
		}
	}
	p.rules.Store(r)
	return nil
}

// Adopt makes the list that of another policy, as Set does.
func (p *Policy) Adopt(other *Policy) { p.rules.Store(other.rules.Load()) }

func (r *rules) add(entry string) error {
	if kinds, ok := words[entry]; ok {
		r.any = r.any || entry == "any"
		r.kinds = append(r.kinds, kinds...)
		return nil
	}
	if prefix, err := netip.ParsePrefix(entry); err == nil {
		if prefix.Addr().Is4In6() {
			return fmt.Errorf("%w: %.100q: write an IPv4 network as 10.0.0.0/8", ErrAllow, entry)
		}
		r.prefixes = append(r.prefixes, prefix.Masked())
		return nil
	}
	if a, err := netip.ParseAddr(strings.Trim(entry, "[]")); err == nil {
		a = a.Unmap().WithZone("")
		r.prefixes = append(r.prefixes, netip.PrefixFrom(a, a.BitLen()))
		return nil
	}
	host := strings.TrimSuffix(strings.ToLower(entry), ".")
	name := strings.TrimPrefix(host, "*.")
	if name == "" || len(name) > 253 || strings.ContainsFunc(name, notHost) || !strings.ContainsFunc(name, isLetter) {
		return fmt.Errorf("%w: %.100q is no address, no network such as 10.0.0.0/8, no host's name, and none of "+
			"loopback, link-local, private and any", ErrAllow, entry)
	}
	r.hosts = append(r.hosts, host)
	return nil
}

func notHost(c rune) bool {
	return c != '.' && c != '-' && c != '_' && (c < '0' || c > '9') && !isLetter(c)
}

func isLetter(c rune) bool { return c >= 'a' && c <= 'z' }

// RefusedError says that an address may not be reached.
type RefusedError struct {
	Host string     // as it was asked for; the address itself where that was written
	Addr netip.Addr // what it stands for
	what string
}

// Error names the host, the address and the setting.
func (e *RefusedError) Error() string {
	name := e.Host
	if name != e.Addr.String() {
		name += " (" + e.Addr.String() + ")"
	}
	return fmt.Sprintf("%s may not be reached: the address is %s; if it should be, add it to outbound: allow: in the "+
		"configuration", name, e.what)
}

// open tells whether everything may be reached.
func (p *Policy) open() bool { return p == nil || p.rules.Load().any }

// allowed says whether an address may be reached for a host of that name; the error is a *RefusedError.
func (p *Policy) allowed(host string, a netip.Addr) error {
	if p.open() {
		return nil
	}
	r := p.rules.Load()
	a = a.Unmap().WithZone("")
	k := kindOf(a)
	if k == public && !r.allows(own) && p.machine.have(a, p.addresses) {
		k = own
	}
	if r.allows(k) || slices.ContainsFunc(r.prefixes, func(x netip.Prefix) bool { return x.Contains(a) }) ||
		r.names(host) {
		return nil
	}
	return &RefusedError{Host: host, Addr: a, what: what[k]}
}

// names tells whether the list has a host.
func (r *rules) names(host string) bool {
	host = strings.TrimSuffix(strings.ToLower(host), ".")
	return slices.ContainsFunc(r.hosts, func(h string) bool {
		below, wild := strings.CutPrefix(h, "*")
		return h == host || wild && len(host) > len(below) && strings.HasSuffix(host, below)
	})
}

// CheckHost refuses, before anything is resolved, a host that is an address, or a name of this machine, and may not be
// reached: whoever sets it can be told at once. Other names are looked at when they are used. The host may stand in
// brackets, and have no port. Errors are *RefusedError.
func (p *Policy) CheckHost(host string) error {
	if p.open() {
		return nil
	}
	if inner, ok := strings.CutPrefix(host, "["); ok { // as a pair alone: a zone may have one
		if inner, ok = strings.CutSuffix(inner, "]"); ok {
			host = inner
		}
	}
	if a, err := netip.ParseAddr(host); err == nil {
		return p.allowed(host, a)
	}
	name := strings.TrimSuffix(strings.ToLower(host), ".")
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		return p.allowed(host, netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	if a, ok := looseIPv4(name); ok {
		return p.allowed(host, a)
	}
	return nil
}

// addresses remembers this machine's own ones for a while.
type addresses struct {
	mu     sync.Mutex
	looked time.Time
	known  []netip.Addr
}

// lookEvery is how long a look at the machine's addresses is good for.
const lookEvery = 5 * time.Second

func (m *addresses) have(a netip.Addr, look func() ([]net.Addr, error)) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.looked.IsZero() || time.Since(m.looked) >= lookEvery {
		if now, err := look(); err == nil { // else what was known is all there is
			m.known = m.known[:0]
			for _, n := range now {
				if p, err := netip.ParsePrefix(n.String()); err == nil {
					m.known = append(m.known, p.Addr().Unmap().WithZone(""))
				}
			}
		}
		m.looked = time.Now()
	}
	return slices.Contains(m.known, a)
}
