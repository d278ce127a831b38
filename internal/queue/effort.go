package queue

import "github.com/hikyaku/hikyaku/internal/condition"

// What asking a condition costs grows with the condition, with what the message has in memory, and with its body. What
// is little is done under the lock, and counts among the steps of the hold. What is much is not: a claim or a walk that
// looks for messages takes them along and asks without the lock, as if it had to read their bodies. Who waits is told
// to look himself. So it is a cost to him who asks.

const (
	// lightEffort is the most that is asked of one message under the lock: some 40 µs.
	lightEffort = 4096
	// littleEffort is likewise, when much was asked under the hold of the lock already: some microseconds.
	littleEffort  = 256
	muchUnderLock = 64 * lightEffort
	// stepEffort is the work that counts as one step, or as one more message that was looked at.
	stepEffort = 64
)

// planAll works out what indexes can serve of conditions, and how those are written that none serves alone, so that
// nobody does it under the lock.
func planAll(from []From) {
	for _, f := range from {
		if f.Where != nil && f.Where.Plan().Residue != nil {
			_ = f.Where.String()
		}
	}
}

// answer is what is known of whether a message meets a condition.
type answer uint8

const (
	notMet answer = iota
	isMet
	mustRead // its body would have to be read
	tooMuch  // it is not asked under the lock
)

// ask asks the message whether it meets a condition; nil is met by all. steps are what that counts.
func (v *entryEnv) ask(where *condition.Expr) (a answer, steps int) {
	if where == nil {
		return isMet, 1
	}
	steps, much := v.Weigh(where.Effort())
	if much {
		return tooMuch, steps
	}
	meets := where.Match(v)
	switch {
	case v.body == bodyMissed:
		return mustRead, steps
	case meets:
		return isMet, steps
	}
	return notMet, steps
}

// Weigh tells how many steps it counts to ask a condition, and whether that is too much under the lock. What is not is
// noted as done.
func (v *entryEnv) Weigh(e condition.Effort) (steps int, much bool) {
	effort := e.On(len(v.bytes()) + len(v.part))
	if v.s == nil { // nobody has the lock
		return 1 + effort/stepEffort, false
	}
	if effort > lightEffort || effort > littleEffort && v.s.effort > muchUnderLock {
		return 1, true
	}
	v.s.effort += effort
	return 1 + effort/stepEffort, false
}

// lookItself lets a waiter look for messages itself, for it is not known whether it wants one: in its old place, should
// it have to wait again. Who has taken some already has them.
func (s *state) lookItself(w *waiter) {
	w.again = w.taken == 0
	s.unwait(w)
	s.tell(w)
}
