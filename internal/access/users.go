package access

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// Users is a checked list of users, which can be replaced. A nil *Users has none, as has one made from an empty list:
// then everyone may do everything.
type Users struct {
	key   [32]byte // makes digests of secrets comparable in constant time, whatever their lengths
	decoy string   // a secret that nobody has
	list  atomic.Pointer[list]
	gate  gate

	guarded bool   // without users Admin is the account's own: see Guard
	own     uint32 // that this process runs as

	failures  failures
	computing chan struct{} // holds one for each hash that is being computed
	queued    atomic.Int64

	replacing sync.Mutex
	looked    atomic.Int64 // when the files were looked at, in ns since begun
	begun     time.Time
	report    func(error)
}

// list is one state of the list. It does not change.
type list struct {
	given  []User
	users  []account
	byName map[string]*account
	hashed int   // users with a hash
	decoy  *hash // of nothing, as costly as another
	files  []fileStamp
}

type account struct {
	user        User
	credentials []*credential
	hashed      bool // one of the credentials is a hash
	grants      []rule
}

// rule is one action on one pattern.
type rule struct {
	can Action
	on  pattern
}

// fileStamp tells a version of a secret_file.
type fileStamp struct {
	path string
	time time.Time
	size int64
}

// New checks the users, reads the files of their secrets and makes the list. Every error is ErrUsers and names the
// user. Two users may not share a name, nor a secret: a bearer token has to say who comes.
func New(users []User) (*Users, error) {
	us := &Users{decoy: rand.Text(), computing: make(chan struct{}, hashesAtOnce), begun: time.Now(),
		report: func(error) {}}
	_, _ = rand.Read(us.key[:]) // never fails
	l, err := us.read(users)
	if err != nil {
		return nil, err
	}
	us.list.Store(l)
	return us, nil
}

// Checker looks at users one by one, and finds what New would, but for what is in the files of secrets, which it does
// not open. The zero value is ready.
type Checker struct {
	names   map[string]bool
	secrets map[string]string // of whom, by their texts
}

// Add says what is wrong with a user, also beside those that were added before. One that is wrong is not added. Errors
// are ErrUsers.
func (c *Checker) Add(u *User) error {
	if c.names == nil {
		c.names, c.secrets = map[string]bool{}, map[string]string{}
	}
	if err := u.check(); err != nil {
		return err
	}
	if c.names[u.Name] {
		return fmt.Errorf("%w: two users are named %s", ErrUsers, u.Name)
	}
	cs, err := u.written()
	if err != nil {
		return fmt.Errorf("%w: user %s: %w", ErrUsers, u.Name, err)
	}
	if err := apart(c.secrets, u.Name, cs); err != nil {
		return err
	}
	c.names[u.Name] = true
	return nil
}

// apart refuses a secret that another user has.
func apart(secrets map[string]string, name string, cs []*credential) error {
	for _, c := range cs {
		if other, taken := secrets[c.text()]; taken && other != name {
			return fmt.Errorf("%w: users %s and %s have the same secret (a bearer token could not tell them apart)",
				ErrUsers, other, name)
		}
		secrets[c.text()] = name
	}
	return nil
}

// read makes a list.
func (us *Users) read(users []User) (*list, error) {
	var check Checker
	for i := range users {
		if err := check.Add(&users[i]); err != nil {
			return nil, err
		}
	}
	before := map[string]*credential{} // what was learned of a secret stays known
	if was := us.list.Load(); was != nil {
		for i := range was.users {
			for _, c := range was.users[i].credentials {
				before[was.users[i].user.Name+"\x00"+c.text()] = c
			}
		}
	}
	l := &list{given: users, users: make([]account, len(users)), byName: make(map[string]*account, len(users))}
	secrets := make(map[string]string, len(users))
	for i, u := range users {
		if u.SecretFile != "" {
			l.files = append(l.files, stampOf(u.SecretFile)) // before it is read: what changes meanwhile is seen later
		}
		cs, err := u.credentials()
		if err != nil {
			return nil, fmt.Errorf("%w: user %s: %w", ErrUsers, u.Name, err)
		}
		if err := apart(secrets, u.Name, cs); err != nil {
			return nil, err
		}
		for k, c := range cs {
			if known := before[u.Name+"\x00"+c.text()]; known != nil {
				cs[k] = known
			}
		}
		a := &l.users[i]
		*a = account{user: u, credentials: cs, grants: rules(u.Grants)}
		a.user.keys = cs
		for _, c := range cs {
			if c.hash != nil {
				a.hashed, l.decoy = true, c.hash
				continue
			}
			digest := us.digest(c.secret.Reveal())
			c.digest.Store(&digest)
		}
		if a.hashed {
			l.hashed++
		}
		l.byName[u.Name] = a
	}
	return l, nil
}

func stampOf(path string) fileStamp {
	s := fileStamp{path: path}
	if info, err := os.Stat(path); err == nil {
		s.time, s.size = info.ModTime(), info.Size()
	}
	return s
}

// ErrAnyOrNone says that a list cannot be replaced while doors are open.
var ErrAnyOrNone = errors.New("whether there are users at all is decided at the start: restart to change it")

// Replace makes these the users, as New does: who is let in, and what for, follows from then on, also on connections
// that stand. After an error the list is as it was.
func (us *Users) Replace(users []User) error {
	us.replacing.Lock()
	defer us.replacing.Unlock()
	if (len(users) > 0) != us.Any() {
		return ErrAnyOrNone
	}
	l, err := us.read(users)
	if err == nil {
		us.list.Store(l)
	}
	return err
}

// Follow says who is told when the file of a secret has changed and cannot be used: the secrets there were stay good.
// It is called before the doors open.
func (us *Users) Follow(report func(error)) {
	if us != nil {
		us.report = report
	}
}

// current is the list, after a look at the files of secrets: at most one a second, by one caller, while others go on
// with what there is.
func (us *Users) current() *list {
	if us == nil {
		return nil
	}
	l := us.list.Load()
	if len(l.files) == 0 {
		return l
	}
	now, last := int64(time.Since(us.begun)), us.looked.Load()
	if now-last < int64(lookEvery) || !us.looked.CompareAndSwap(last, now) {
		return l
	}
	return us.follow(l)
}

// follow reads the users again if a file has changed.
func (us *Users) follow(l *list) *list {
	changed := false
	for _, f := range l.files {
		changed = changed || stampOf(f.path) != f
	}
	if !changed {
		return l
	}
	us.replacing.Lock()
	defer us.replacing.Unlock()
	if now := us.list.Load(); now != l {
		return now
	}
	next, err := us.read(l.given)
	if err != nil {
		us.report(fmt.Errorf("%w (the secrets there were stay good)", err))
		return l // it may be half written: look again
	}
	us.list.Store(next)
	return next
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

// Any tells whether there are users at all. When there are none, everyone may do everything, but for what Guard keeps
// back.
func (us *Users) Any() bool { return us != nil && len(us.list.Load().users) > 0 }

// Named finds a user without checking anything, for protocols that have to know how somebody can prove to be one.
func (us *Users) Named(name string) (*User, bool) {
	l := us.current()
	if l == nil || l.byName[name] == nil {
		return nil, false
	}
	return &l.byName[name].user, true
}

// Signing are the secrets of a user that a signature can be checked with: none if only hashes are known. ok is false
// when nobody is named so.
func (us *Users) Signing(name string) (secrets []string, ok bool) {
	user, ok := us.Named(name)
	if !ok {
		return nil, false
	}
	return user.Known(), true
}

// AnyHashed tells whether the secret of some user is known by its hash.
func (us *Users) AnyHashed() bool { return us != nil && us.list.Load().hashed > 0 }

// Allowed tells whether the user may do it with that queue or topic. Without users everyone may, but after Guard only
// Local tells who may Admin and Push; with users, nobody (a nil user) may nothing. The name's namespace must be
// resolved (queue.Service.Resolve): grants do not follow aliases.
func (us *Users) Allowed(user *User, action Action, name queue.Name) bool {
	return us.some(user, action.everyones(), func(r rule) bool { return r.can == action && r.on.matches(name) })
}

// Visible tells whether the user may do anything at all with that queue or topic.
func (us *Users) Visible(user *User, name queue.Name) bool {
	return us.some(user, true, func(r rule) bool { return r.on.matches(name) })
}

// AllowedAll tells whether the user may do it with everything there is: whether the action is granted on "*". Without
// users it is as Allowed.
func (us *Users) AllowedAll(user *User, action Action) bool {
	return us.some(user, action.everyones(), func(r rule) bool { return r.can == action && r.on.all })
}

// everyones tells whether without users anyone may do it, also after Guard.
func (a Action) everyones() bool { return a == Put || a == Take }

// some tells whether a grant of the user fits. everyones: without users anyone may, guarded or not.
func (us *Users) some(user *User, everyones bool, fits func(rule) bool) bool {
	if !us.Any() {
		return everyones || us == nil || !us.guarded
	}
	if user == nil {
		return false
	}
	a, ok := us.list.Load().byName[user.Name]
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
