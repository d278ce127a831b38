package pipeline

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
)

// budget bounds what is in flight, in messages and bytes, of all pipelines that share it. Half is shared out among the
// accounts, half is common to them. An account with nothing in flight may always take one message.
type budget struct {
	crowded atomic.Int64 // how many wait

	mu             sync.Mutex
	mostN, mostB   int
	shareN, shareB int // each account's own
	usedN, usedB   int // of the common half
	accounts       []*account
	full           []*func() // called when somebody has to wait, without the lock
}

// account is one source's part of a budget.
type account struct {
	n, bytes int
	waiting  []*request // in order
}

type request struct {
	size    int
	granted chan struct{}
}

func newBudget(messages, bytes int) *budget { return &budget{mostN: messages, mostB: bytes} }

// open takes so many accounts in. full is called when somebody of any account has to wait. close takes them out again:
// nothing of them may be in flight then.
func (b *budget) open(accounts int, full func()) (opened []*account, close func()) {
	for range accounts {
		opened = append(opened, &account{})
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.accounts = append(b.accounts, opened...)
	b.full = append(slices.Clone(b.full), &full)
	b.share()
	return opened, func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.accounts = slices.DeleteFunc(b.accounts, func(a *account) bool { return slices.Contains(opened, a) })
		b.full = slices.DeleteFunc(slices.Clone(b.full), func(f *func()) bool { return f == &full }) // others call it
		b.share()
		b.grant()
	}
}

// bound changes how much there may be. What is in flight stays so.
func (b *budget) bound(messages, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.mostN, b.mostB = messages, bytes
	b.share()
	b.grant()
}

// share shares half of the budget out anew.
func (b *budget) share() {
	n := max(1, len(b.accounts))
	b.shareN, b.shareB = max(1, b.mostN/2/n), b.mostB/2/n
	b.usedN, b.usedB = 0, 0
	for _, a := range b.accounts {
		b.usedN += max(0, a.n-b.shareN)
		b.usedB += max(0, a.bytes-b.shareB)
	}
}

// take waits until the account may have a message of the first of these sizes in flight, ctx ends or stop is closed;
// the error is ctx.Err() or ErrStopping. It takes as many of the others as there is room for at once, in their order,
// and returns how many it took.
func (b *budget) take(ctx context.Context, stop <-chan struct{}, a *account, sizes ...int) (n int, err error) {
	b.mu.Lock()
	for n < len(sizes) && len(a.waiting) == 0 && b.fits(a, sizes[n]) {
		b.add(a, 1, sizes[n])
		n++
	}
	if n > 0 {
		b.mu.Unlock()
		return n, nil
	}
	r := &request{sizes[0], make(chan struct{})}
	a.waiting = append(a.waiting, r)
	b.crowded.Add(1)
	full := b.full
	b.mu.Unlock()
	for _, tell := range full {
		(*tell)()
	}
	select {
	case <-r.granted:
		return 1, nil
	case <-ctx.Done():
		err = ctx.Err()
	case <-stop:
		err = ErrStopping
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i, w := range a.waiting {
		if w == r {
			a.waiting = slices.Delete(a.waiting, i, i+1)
			b.crowded.Add(-1)
			b.grant() // a smaller one behind it may fit
			return 0, err
		}
	}
	return 1, nil // it was granted meanwhile
}

// addMade counts what does not ask: the messages that transforms make.
func (b *budget) addMade(a *account, n, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(a, n, bytes)
}

// give returns what was taken or added.
func (b *budget) give(a *account, n, bytes int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.add(a, -n, -bytes)
	b.grant()
}

func (b *budget) add(a *account, n, bytes int) {
	b.usedN -= max(0, a.n-b.shareN)
	b.usedB -= max(0, a.bytes-b.shareB)
	a.n += n
	a.bytes += bytes
	b.usedN += max(0, a.n-b.shareN)
	b.usedB += max(0, a.bytes-b.shareB)
}

func (b *budget) fits(a *account, size int) bool {
	if a.n == 0 {
		return true
	}
	moreN := max(0, a.n+1-b.shareN) - max(0, a.n-b.shareN)
	moreB := max(0, a.bytes+size-b.shareB) - max(0, a.bytes-b.shareB)
	commonN, commonB := max(0, b.mostN-len(b.accounts)*b.shareN), b.mostB-len(b.accounts)*b.shareB
	return (moreN == 0 || b.usedN+moreN <= commonN) && (moreB == 0 || b.usedB+moreB <= commonB)
}

// grant serves those who wait, as far as there is room.
func (b *budget) grant() {
	for _, a := range b.accounts {
		for len(a.waiting) > 0 && b.fits(a, a.waiting[0].size) {
			r := a.waiting[0]
			a.waiting[0] = nil
			a.waiting = a.waiting[1:]
			b.add(a, 1, r.size)
			b.crowded.Add(-1)
			close(r.granted)
		}
	}
}
