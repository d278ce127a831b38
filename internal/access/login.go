package access

import (
	"context"
	"crypto/subtle"
	"errors"
	"strings"
	"time"
)

// Attempt is where somebody asks to come in.
type Attempt struct {
	Door    string // a constant: it is a label of a metric
	Address string // host:port, or what the door has instead
}

// ErrDenied says that a secret is wrong, or a name unknown.
var ErrDenied = errors.New("no user has this secret")

// Token finds the user whose secret a bearer token is; a token may also be NAME:SECRET, which says whose hash has to be
// looked at. Errors are as Login's.
func (us *Users) Token(ctx context.Context, a Attempt, token string) (*User, error) {
	l := us.current()
	if l == nil {
		return nil, ErrDenied
	}
	name, secret := "", token
	if before, after, ok := strings.Cut(token, ":"); ok && l.byName[before] != nil {
		if user, _ := l.find(us, "", token); user == nil { // else the colon is the secret's
			name, secret = before, after
		}
	}
	return us.login(ctx, a, l, name, secret)
}

// Login finds the user with a name and a secret. The error is ErrDenied, a *SlowError or that of ctx. The time it takes
// does not depend on how much of a secret is right, and an unknown name takes the time of a wrong secret.
//
// Who has shown a right secret from an address before is never slowed there, whoever else tries.
func (us *Users) Login(ctx context.Context, a Attempt, name, secret string) (*User, error) {
	l := us.current()
	if l == nil {
		return nil, ErrDenied
	}
	if name == "" {
		return nil, us.deny(ctx, a, "", UnknownName)
	}
	return us.login(ctx, a, l, name, secret)
}

// login is Login, or for the name "" Token.
func (us *Users) login(ctx context.Context, a Attempt, l *list, name, secret string) (*User, error) {
	if len(l.users) == 0 {
		return nil, ErrDenied
	}
	if secret == "" {
		return nil, us.deny(ctx, a, l.known(name), NoLogin)
	}
	from := place(a.Address)
	if user, c := l.find(us, name, secret); user != nil {
		if !us.gate.idle() && !c.knows(from) {
			if err := us.wait(ctx, a, user.Name); err != nil {
				return nil, err
			}
		}
		c.learn(from)
		return user, nil
	}
	if l.mayBeHashed(name) {
		if err := us.wait(ctx, a, name); err != nil {
			return nil, err
		}
		user, c, err := us.compute(ctx, l, name, secret)
		if user != nil {
			c.learn(from)
			return user, nil
		}
		if err != nil {
			return nil, us.slowed(a, l.known(name), err)
		}
	}
	reason := WrongSecret
	if name != "" && l.byName[name] == nil {
		reason = UnknownName
	}
	return nil, us.deny(ctx, a, l.known(name), reason)
}

// Prove lets in a user who does not send a secret but proves to have it: fits is asked with each secret of the user
// whether the proof fits it, and with one that nobody has if there is no such user. Errors are as Login's.
func (us *Users) Prove(ctx context.Context, a Attempt, name string, fits func(secret string) bool) (*User, error) {
	l := us.current()
	if l == nil || len(l.users) == 0 {
		return nil, ErrDenied
	}
	acc := l.byName[name]
	if acc == nil {
		fits(us.decoy)
		return nil, us.deny(ctx, a, "", UnknownName)
	}
	var right *credential
	for _, c := range acc.credentials {
		if c.hash == nil && fits(c.secret.Reveal()) && right == nil {
			right = c
		}
	}
	from := place(a.Address)
	if right == nil {
		reason := WrongSecret
		if acc.user.HashOnly() {
			reason = NeedsSecret
		}
		return nil, us.deny(ctx, a, name, reason)
	}
	if !us.gate.idle() && !right.knows(from) {
		if err := us.wait(ctx, a, name); err != nil {
			return nil, err
		}
	}
	right.learn(from)
	return &acc.user, nil
}

// Proved lets in a user whose proof the door has found to be right (reason ""), and denies the others for a reason.
// Errors are as Login's.
func (us *Users) Proved(ctx context.Context, a Attempt, name, reason string) (*User, error) {
	l := us.current()
	if l == nil || len(l.users) == 0 {
		return nil, ErrDenied
	}
	acc := l.byName[name]
	if acc == nil && reason == "" {
		reason = UnknownName
	}
	if reason != "" {
		return nil, us.deny(ctx, a, l.known(name), reason)
	}
	from := place(a.Address)
	c := acc.credentials[0]
	if !us.gate.idle() && !c.knows(from) {
		if err := us.wait(ctx, a, name); err != nil {
			return nil, err
		}
	}
	c.learn(from)
	return &acc.user, nil
}

// deny notes a failure and lets whoever caused it wait. It returns ErrDenied, or why nothing was looked at.
func (us *Users) deny(ctx context.Context, a Attempt, name, reason string) error {
	us.failures.note(Failure{Door: a.Door, Reason: reason, Name: name, Address: place(a.Address)})
	if reason == NoLogin || reason == NeedsSecret || reason == BadProof { // nothing was guessed
		return ErrDenied
	}
	if err := us.gate.pass(ctx, a.Address, name, true); err != nil {
		return us.slowed(a, name, err)
	}
	return ErrDenied
}

// wait lets one whose secret is not wrong wait behind those whose are.
func (us *Users) wait(ctx context.Context, a Attempt, name string) error {
	if err := us.gate.pass(ctx, a.Address, name, false); err != nil {
		return us.slowed(a, name, err)
	}
	return nil
}

func (us *Users) slowed(a Attempt, name string, err error) error {
	if slow := (*SlowError)(nil); errors.As(err, &slow) {
		us.failures.note(Failure{Door: a.Door, Reason: TooMany, Name: name, Address: place(a.Address)})
	}
	return err
}

// find looks for a secret among those whose digest is known, all of them each time.
func (l *list) find(us *Users, name, secret string) (*User, *credential) {
	digest := us.digest(secret)
	var user *User
	var found *credential
	look := func(a *account) {
		for _, c := range a.credentials {
			if d := c.digest.Load(); d != nil && subtle.ConstantTimeCompare(d[:], digest[:]) == 1 {
				user, found = &a.user, c
			}
		}
	}
	if name != "" {
		a, known := l.byName[name]
		if !known {
			a = &l.users[0]
		}
		if look(a); !known {
			return nil, nil
		}
		return user, found
	}
	for i := range l.users {
		look(&l.users[i])
	}
	return user, found
}

// known is a name if somebody is named so, and else "".
func (l *list) known(name string) string {
	if l.byName[name] == nil {
		return ""
	}
	return name
}

// mostTokenHashes is how many users' hashes a bare token is held against. With more, those that are known by their hash
// alone have to name themselves: each costs some ten milliseconds.
const mostTokenHashes = 8

// mayBeHashed tells whether a hash has to be computed to know that a secret is wrong.
func (l *list) mayBeHashed(name string) bool {
	if name == "" {
		return l.hashed > 0 && l.hashed <= mostTokenHashes
	}
	a := l.byName[name]
	return l.hashed > 0 && (a == nil || a.hashed) // an unknown name takes as long
}

// How many hashes are computed at once, and how many logins wait for that.
const (
	hashesAtOnce = 2
	hashesQueued = 64
)

// compute holds a secret against hashes. It returns nobody and no error when it fits none.
func (us *Users) compute(ctx context.Context, l *list, name, secret string) (*User, *credential, error) {
	if us.queued.Add(1) > hashesQueued {
		us.queued.Add(-1)
		return nil, nil, &SlowError{time.Second}
	}
	defer us.queued.Add(-1)
	select {
	case us.computing <- struct{}{}:
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
	defer func() { <-us.computing }()
	if user, c := l.find(us, name, secret); user != nil {
		return user, c, nil // another has found out meanwhile
	}
	check := func(a *account) (*User, *credential) {
		for _, c := range a.credentials {
			if c.hash != nil && c.hash.fits(secret) {
				digest := us.digest(secret)
				c.digest.Store(&digest)
				return &a.user, c
			}
		}
		return nil, nil
	}
	if name != "" {
		if a := l.byName[name]; a != nil {
			user, c := check(a)
			return user, c, nil
		}
		l.decoy.fits(secret)
		return nil, nil, nil
	}
	for i := range l.users {
		if user, c := check(&l.users[i]); user != nil {
			return user, c, nil
		}
	}
	return nil, nil, nil
}
