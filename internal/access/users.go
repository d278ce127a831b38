package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Users is a checked list of users. A nil *Users has none, as has one made from an empty list: then everyone may do everything.
type Users struct {
	key    [32]byte // makes digests of secrets comparable in constant time, whatever their lengths
	users  []account
	byName map[string]*account
}

type account struct {
	user   User
	digest [sha256.Size]byte
	grants []rule
}

// rule is one action on one pattern.
type rule struct {
	can Action
	on  pattern
}

// New checks the users and makes the list. Every error is ErrUsers and names the user. Two users may not share a name, nor a
// secret: a bearer token has to say who comes.
func New(users []User) (*Users, error) {
	us := &Users{users: make([]account, 0, len(users)), byName: make(map[string]*account, len(users))}
	_, _ = rand.Read(us.key[:]) // never fails
	secrets := make(map[Secret]string, len(users))
	for _, u := range users {
		if err := u.check(); err != nil {
			return nil, err
		}
		if us.byName[u.Name] != nil {
			return nil, fmt.Errorf("%w: two users are named %s", ErrUsers, u.Name)
		}
		if other, taken := secrets[u.Secret]; taken {
			return nil, fmt.Errorf("%w: users %s and %s have the same secret (a bearer token could not tell them apart)", ErrUsers, other, u.Name)
		}
		secrets[u.Secret] = u.Name
		us.users = append(us.users, account{user: u, digest: us.digest(u.Secret.Reveal()), grants: rules(u.Grants)})
		us.byName[u.Name] = &us.users[len(us.users)-1]
	}
	return us, nil
}

func rules(grants []Grant) []rule {
	var rs []rule
	for _, g := range grants {
		for _, on := range g.On {
			for _, can := range g.Can {
				rs = append(rs, rule{Action(can), parsePattern(on)})
			}
		}
	}
	return rs
}

func (us *Users) digest(secret string) (sum [sha256.Size]byte) {
	h := hmac.New(sha256.New, us.key[:])
	h.Write([]byte(secret))
	h.Sum(sum[:0])
	return sum
}

// Any tells whether there are users at all. When there are none, everyone may do everything.
func (us *Users) Any() bool { return us != nil && len(us.users) > 0 }

// ByToken finds the user whose secret a bearer token is. The time it takes does not depend on how much of the token is right.
func (us *Users) ByToken(token string) (*User, bool) {
	if !us.Any() || token == "" {
		return nil, false
	}
	digest := us.digest(token)
	found := -1
	for i := range us.users {
		if subtle.ConstantTimeCompare(us.users[i].digest[:], digest[:]) == 1 {
			found = i
		}
	}
	if found < 0 {
		return nil, false
	}
	return &us.users[found].user, true
}

// ByPassword finds a user by name and secret. An unknown name takes the time of a wrong secret.
func (us *Users) ByPassword(name, secret string) (*User, bool) {
	if !us.Any() || secret == "" {
		return nil, false
	}
	digest := us.digest(secret)
	a, known := us.byName[name]
	if !known {
		a = &us.users[0]
	}
	same := subtle.ConstantTimeCompare(a.digest[:], digest[:]) == 1
	if !known || !same {
		return nil, false
	}
	return &a.user, true
}

// ByName finds a user without checking anything: for protocols that prove the secret instead of sending it (SigV4,
// MySQL's scrambles). The caller must check the proof against User.Secret.
func (us *Users) ByName(name string) (*User, bool) {
	if !us.Any() {
		return nil, false
	}
	a, ok := us.byName[name]
	if !ok {
		return nil, false
	}
	return &a.user, true
}

// Allowed tells whether the user may do it with that queue or topic. Without users everyone may; with users, nobody (a nil user)
// may nothing. The name's namespace must be resolved (queue.Store.Resolve): grants do not follow aliases.
func (us *Users) Allowed(user *User, action Action, name queue.Name) bool {
	return us.some(user, func(r rule) bool { return r.can == action && r.on.matches(name) })
}

// Visible tells whether the user may do anything at all with that queue or topic.
func (us *Users) Visible(user *User, name queue.Name) bool {
	return us.some(user, func(r rule) bool { return r.on.matches(name) })
}

// AllowedAll tells whether the user may do it with everything there is: whether the action is granted on "*".
func (us *Users) AllowedAll(user *User, action Action) bool {
	return us.some(user, func(r rule) bool { return r.can == action && r.on.all })
}

func (us *Users) some(user *User, fits func(rule) bool) bool {
	if !us.Any() {
		return true
	}
	if user == nil {
		return false
	}
	a, ok := us.byName[user.Name]
	if !ok {
		return false
	}
	for _, r := range a.grants {
		if fits(r) {
			return true
		}
	}
	return false
}
