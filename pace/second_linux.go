package pace

import (
	"errors"
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// second is a second thread, on another processor than the one that plays, which looks after it: when the player should
// have been awake for a while and is not, it fetches it to its own processor.
//
// A thread that is woken waits for its processor, whatever its priority: for the end of a system call where kernels are
// built without preemption, for an interrupt that is late, and, in a virtual machine, for the processor to be given
// back by the host. Such things last for milliseconds now and then, but seldom on two processors at once.
type second struct {
	player  int            // the thread that plays
	nudged  *atomic.Uint32 // what it sleeps on
	due     atomic.Int64   // when it should be awake, on CLOCK_MONOTONIC; 0: it is
	fetched atomic.Int64   // how often it had to be fetched
	over    atomic.Bool
	ended   chan struct{}

	// What follows belongs to the second thread.
	cpus []int // that may be used
	here int   // the place in cpus where it is
	word atomic.Uint32
	at   unix.Timespec
}

const (
	// after which the player is fetched: threads that do not wait for anything are awake by then
	grace         = int64(150 * time.Microsecond)
	blinkMin      = int64(time.Millisecond) // how often it looks again when the player is awake
	blinkMax      = int64(8 * time.Millisecond)
	farAway       = int64(50 * time.Millisecond) // what is later than this is looked at again
	maxProcessors = 1024                         // that the kernel's interface has room for
	// rounds after which the collector could have its way, which otherwise it has not: see run
	breathing = 8
)

var errAlone = errors.New("there is one processor only")

// newSecond starts a second thread for this one, to which its goroutine is locked, and which sleeps on word. From now
// on both are bound to one processor each.
func newSecond(word *atomic.Uint32) (*second, error) {
	var all unix.CPUSet
	if err := unix.SchedGetaffinity(0, &all); err != nil {
		return nil, err
	}
	s := &second{player: unix.Gettid(), nudged: word, ended: make(chan struct{})}
	for cpu := range maxProcessors {
		if all.IsSet(cpu) {
			s.cpus = append(s.cpus, cpu)
		}
	}
	if len(s.cpus) < 2 {
		return nil, errAlone
	}
	first := s.player % len(s.cpus) // runs that go on side by side are spread
	if err := bind(0, s.cpus[first]); err != 0 {
		return nil, err
	}
	s.here = (first + len(s.cpus)/2) % len(s.cpus) // far from the player: neighbours may be two halves of one
	runtime.GOMAXPROCS(runtime.GOMAXPROCS(0) + 1)
	begun := make(chan error)
	go func() {
		defer close(s.ended)
		runtime.LockOSThread() // for good: the thread ends with its goroutine
		err := fifo(0, fifoPriority-1)
		if e := bind(0, s.cpus[s.here]); err == nil && e != 0 {
			err = e
		}
		begun <- err
		if err == nil {
			s.run()
		}
	}()
	if err := <-begun; err != nil {
		_ = unix.SchedSetaffinity(0, &all)
		return nil, err
	}
	return s, nil
}

// end ends the thread and returns how often it had to fetch the player.
func (s *second) end() int64 {
	s.over.Store(true)
	s.word.Store(1) // nobody goes to sleep on it any more
	wake(&s.word)
	<-s.ended
	return s.fetched.Load()
}

// run watches until the end. It keeps its place in the runtime while it sleeps, as the player does, and calls nothing
// that the runtime could use to take it away: what that costs would be more than all the rest. In turn it has to let go
// now and then, since a collection waits for all places.
func (s *second) run() {
	blink := blinkMin
	for round := 1; !s.over.Load(); round++ {
		if round%breathing == 0 {
			runtime.Gosched()
		}
		now, due := monotonic(), s.due.Load()
		switch {
		case due == 0:
			s.sleep(now + blink)
			blink = min(2*blink, blinkMax)
			continue
		case due > now+farAway:
			s.sleep(now + farAway)
		case now < due+grace:
			s.sleep(due + grace)
		case !s.fetch(due):
			return
		}
		blink = blinkMin
	}
}

// fetch takes the player to this thread's processor, and this thread to another one. false: that is not permitted any
// more, and the player may be anywhere.
//
//go:nosplit
func (s *second) fetch(due int64) bool {
	if !s.due.CompareAndSwap(due, 0) {
		return true // it has woken
	}
	if err := bind(s.player, s.cpus[s.here]); err != 0 {
		return false // the processors that may be used are others now, and the system has let go of the player, too
	}
	wake(s.nudged) // if its timer is what is late. Its word stays, so that this is no nudge
	s.fetched.Add(1)
	s.here = (s.here + max(1, len(s.cpus)/2)) % len(s.cpus)
	return bind(0, s.cpus[s.here]) == 0
}

// What run calls has no room for the runtime to step in, either.

// sleep sleeps until t or until it is woken.
//
//go:nosplit
func (s *second) sleep(t int64) {
	s.at = unix.NsecToTimespec(t)
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(&s.word)), futexWaitBitset|futexPrivate, 0,
		uintptr(unsafe.Pointer(&s.at)), 0, futexAny)
	runtime.KeepAlive(s)
}

// bind binds a thread of this process to a processor; 0 is this one.
//
//go:nosplit
func bind(thread, cpu int) syscall.Errno {
	var set [maxProcessors / 64]uint64
	set[cpu/64] = 1 << (cpu % 64)
	_, _, err := syscall.RawSyscall(unix.SYS_SCHED_SETAFFINITY, uintptr(thread), unsafe.Sizeof(set),
		uintptr(unsafe.Pointer(&set)))
	return err
}

// wake wakes who sleeps on a word.
//
//go:nosplit
func wake(word *atomic.Uint32) {
	_, _, _ = syscall.RawSyscall6(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWake|futexPrivate, 1, 0, 0, 0)
	runtime.KeepAlive(word)
}

// monotonic reads CLOCK_MONOTONIC.
//
//go:nosplit
func monotonic() int64 {
	var now unix.Timespec
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0)
	return now.Nano()
}
