package mysql

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
)

// locks are the locks of GET_LOCK() and its like. go-mysql-server has them too, but never forgets a name, and while it
// waits looks again ten thousand times a second, whether the client is still there or not. Here only what is held is in
// memory. The zero value has none.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock // by the name in lower case
}

// lock is a lock that a session holds.
type lock struct {
	name    string
	owner   *session
	times   int64 // that the owner took it and did not release it
	waiting []*lockWait
}

// lockWait is a session that waits for a lock.
type lockWait struct {
	of   *session
	done chan struct{} // closed when the lock is the session's
}

// get takes a lock, and waits for it until ctx ends or, if timeout is not negative, so long. taken is false after the
// time-out. The error is ctx's, or MySQL's for a deadlock or too little memory. Who waits longest is next.
func (l *locks) get(ctx context.Context, s *session, name string, timeout time.Duration) (taken bool, err error) {
	if !s.kept.lock(1) {
		return false, errKept("one more lock")
	}
	again := false
	defer func() {
		if again || !taken {
			s.kept.lock(-1)
		}
	}()
	l.mu.Lock()
	one := l.held[name]
	if one == nil {
		if l.held == nil {
			l.held = map[string]*lock{}
		}
		one = &lock{name: name}
		l.held[name] = one
		l.give(one, s)
	} else if again = one.owner == s; again {
		one.times++
	}
	if one.owner == s || timeout == 0 {
		defer l.mu.Unlock()
		return one.owner == s, nil
	}
	if closesCircle(s, one) {
		l.mu.Unlock()
		return false, sqlError(3058, "HY000", "Deadlock found when trying to get user-level lock; try rolling back "+
			"transaction/releasing locks and restarting lock acquisition.")
	}
	w := &lockWait{s, make(chan struct{})}
	one.waiting = append(one.waiting, w)
	s.awaited = one
	l.mu.Unlock()
	return l.wait(ctx, one, w, timeout)
}

// wait is the waiting of get.
func (l *locks) wait(ctx context.Context, one *lock, w *lockWait, timeout time.Duration) (taken bool, err error) {
	var expired <-chan time.Time
	if timeout > 0 {
		timer := time.NewTimer(timeout)
		defer timer.Stop()
		expired = timer.C
	}
	select {
	case <-w.done:
		return true, nil
	case <-expired:
	case <-ctx.Done():
		err = context.Cause(ctx)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.of.awaited = nil; one.owner == w.of { // in that moment
		return true, nil
	}
	one.waiting = slices.DeleteFunc(one.waiting, func(o *lockWait) bool { return o == w })
	return false, err
}

// closesCircle tells whether the owner of a lock waits, over others or not, for one of the session's. The locks' mu is
// held.
func closesCircle(s *session, one *lock) bool {
	for ; one != nil; one = one.owner.awaited {
		if one.owner == s {
			return true
		}
	}
	return false
}

// give makes a lock the session's. mu is held.
func (l *locks) give(one *lock, s *session) {
	one.owner, one.times, s.awaited = s, 1, nil
	s.locked = append(s.locked, one)
}

// free gives a lock to the next who waits for it. mu is held.
func (l *locks) free(one *lock) {
	if len(one.waiting) == 0 {
		delete(l.held, one.name)
		return
	}
	next := one.waiting[0]
	one.waiting = one.waiting[1:]
	l.give(one, next.of)
	close(next.done)
}

// release gives a lock back once. held tells whether somebody has it, own whether the session has.
func (l *locks) release(s *session, name string) (held, own bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.held[name]
	if one == nil || one.owner != s {
		return one != nil, false
	}
	if one.times--; one.times == 0 {
		s.locked = slices.DeleteFunc(s.locked, func(o *lock) bool { return o == one })
		s.kept.lock(-1)
		l.free(one)
	}
	return true, true
}

// releaseAll gives back all that a session has, and tells how often it had taken them.
func (l *locks) releaseAll(s *session) (times int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, one := range s.locked {
		times += one.times
		s.kept.lock(-1)
		l.free(one)
	}
	s.locked = nil
	return times
}

// owner is the connection that has a lock; ok: there is one.
func (l *locks) owner(name string) (connection uint32, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one := l.held[name]
	if one == nil {
		return 0, false
	}
	return one.owner.ID(), true
}

// maxLockName is the most characters of a lock's name.
const maxLockName = 64

// lockName is the name of a lock in a function's first argument.
func lockName(function string, args []argument, want int) (string, error) {
	if err := count(function, args, want); err != nil {
		return "", err
	}
	name := args[0].text
	if args[0].null {
		name = "NULL"
	}
	if args[0].null || name == "" || utf8.RuneCountInString(name) > maxLockName {
		return "", sqlError(3057, "42000", "Incorrect user-level lock name '%.128s'.", name)
	}
	return strings.ToLower(name), nil
}

// getLock is GET_LOCK(name, seconds): 1 when the lock is the connection's, 0 when it was not within the time. A
// negative time has no end.
func (s *session) getLock(ctx *gms.Context, args []argument) (any, error) {
	name, err := lockName("get_lock", args, 2)
	if err != nil {
		return nil, err
	}
	timeout := seconds(args[1])
	if wholeNumber(args[1]) < 0 {
		timeout = -1
	}
	waiting, over := s.waiting(ctx)
	defer over()
	taken, err := s.door.locks.get(waiting, s, name, timeout)
	if err != nil || taken {
		return int64(1), err
	}
	return int64(0), nil
}

// releaseLock is RELEASE_LOCK(name): 1, 0 when another connection has the lock, NULL when nobody has.
func (s *session) releaseLock(args []argument) (any, error) {
	name, err := lockName("release_lock", args, 1)
	if err != nil {
		return nil, err
	}
	switch held, own := s.door.locks.release(s, name); {
	case own:
		return int64(1), nil
	case held:
		return int64(0), nil
	}
	return nil, nil
}

// isFreeLock is IS_FREE_LOCK(name).
func (s *session) isFreeLock(args []argument) (any, error) {
	name, err := lockName("is_free_lock", args, 1)
	if err != nil {
		return nil, err
	}
	if _, held := s.door.locks.owner(name); held {
		return int64(0), nil
	}
	return int64(1), nil
}

// isUsedLock is IS_USED_LOCK(name): the number of the connection that has the lock, or NULL.
func (s *session) isUsedLock(args []argument) (any, error) {
	name, err := lockName("is_used_lock", args, 1)
	if err != nil {
		return nil, err
	}
	if connection, held := s.door.locks.owner(name); held {
		return uint64(connection), nil
	}
	return nil, nil
}
