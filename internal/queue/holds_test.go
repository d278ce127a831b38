package queue

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// What the Store does under its lock is counted by steps. TestNoHoldOfTheLockGrows compiles the package once more: at
// the head of each loop, of each function literal and of each comparison stands a call of holdsStep, and the Store's
// lock is a holdsMutex. So nothing has to be counted by hand, nothing can be forgotten, and the package that everybody
// else gets is the same as without this test.

// Bounds of one hold of the lock.
const (
	holdsLoop     = 4096           // turns of any one loop, calls of any one function literal
	holdsFew      = 100            // values that a condition asks for under all holds of a walk
	holdsCompares = 16 * holdsLoop // calls of any one comparison: sorting and heaps make some for each element
)

// holdsPlace is where a step was put into the package's code.
type holdsPlace struct {
	at   string // file:line
	in   string // the function
	most uint32 // under one hold
}

// Of the package compiled with steps these are set; else there are no steps.
var (
	holdsPlaces []holdsPlace
	holdsMade   []atomic.Uint32 // steps at each place, whoever made them
	holdsCounts []atomic.Uint32 // under the present hold
)

// Only the package compiled with steps uses these.
var _ = []any{holdsStep, holdsAsk, (*holdsMutex)(nil), holdsLoop, holdsCompares}

// holdsNow is what is known of the lock of the one Store that is counted.
var holdsNow struct {
	holder  atomic.Uint64 // the goroutine that has the lock; 0: nobody, or nothing is counted
	on      atomic.Bool
	touched []int // places with a count. The holder's

	mu      sync.Mutex
	doing   string
	longest map[string]map[int]uint32 // by what was done, by place
	reads   map[string]string         // by what was done: where the disk was read
	read    atomic.Bool               // it was, by what is being done

	walks atomic.Bool   // what is being done walks through a queue
	asked atomic.Uint32 // values that a condition of it asked for under the lock
}

// holdsEvery is how many steps count together: who has made them is asked once for all, since asking takes a thousand
// times as long as a step.
const holdsEvery = 64

// holdsStep is called by the package compiled with steps.
func holdsStep(place int) {
	h := holdsNow.holder.Load()
	if h == 0 || holdsMade[place].Add(1)%holdsEvery != 0 || holdsCounts[place].Load() > 8*holdsPlaces[place].most ||
		h != goroutine() {
		return
	}
	if holdsCounts[place].Add(holdsEvery) == holdsEvery {
		holdsNow.touched = append(holdsNow.touched, place)
	}
}

// holdsAsk is called by the package compiled with steps when a condition asks for a value of a message.
func holdsAsk() {
	if holdsNow.walks.Load() && holdsNow.holder.Load() == goroutine() {
		holdsNow.asked.Add(1)
	}
}

// holdsWalks tells whether an exercise walks through a queue: such a one asks no message under the lock, but for those
// that it has found.
func holdsWalks(doing string) bool {
	return strings.HasPrefix(doing, "Peek") || strings.HasPrefix(doing, "Replay") ||
		strings.HasPrefix(doing, "Idle") && strings.HasSuffix(doing, "not ready")
}

// goroutine is the number of the goroutine that calls.
func goroutine() uint64 {
	var b [40]byte
	text := b[len("goroutine "):runtime.Stack(b[:], false)]
	n, _ := strconv.ParseUint(string(text[:bytes.IndexByte(text, ' ')]), 10, 64)
	return n
}

// holdsMutex is the lock of a Store that is counted.
type holdsMutex struct{ sync.Mutex }

func (m *holdsMutex) Lock() {
	m.Mutex.Lock()
	if holdsNow.on.Load() {
		holdsNow.holder.Store(goroutine())
	}
}

func (m *holdsMutex) Unlock() {
	if holdsNow.holder.Swap(0) != 0 {
		holdsNow.mu.Lock()
		for _, place := range holdsNow.touched {
			if n := holdsCounts[place].Swap(0); n > holdsMost(holdsNow.doing, &holdsPlaces[place]) {
				longest := holdsNow.longest[holdsNow.doing]
				if longest == nil {
					longest = map[int]uint32{}
					holdsNow.longest[holdsNow.doing] = longest
				}
				longest[place] = max(longest[place], n)
			}
		}
		holdsNow.touched = holdsNow.touched[:0]
		holdsNow.mu.Unlock()
	}
	m.Mutex.Unlock()
}

// holdsCount counts what is done from now on.
func holdsCount(doing string) {
	holdsNow.mu.Lock()
	holdsNow.doing = doing
	holdsNow.read.Store(false)
	if holdsNow.walks.Store(holdsWalks(doing)); doing != "" {
		holdsNow.asked.Store(0)
	}
	if holdsNow.longest == nil {
		holdsNow.longest, holdsNow.reads = map[string]map[int]uint32{}, map[string]string{}
	}
	holdsNow.mu.Unlock()
	holdsNow.on.Store(doing != "")
}

// holdsFound says what went beyond its bounds while that was done, by the function that did it.
func holdsFound(doing string) map[string]string {
	holdsNow.mu.Lock()
	defer holdsNow.mu.Unlock()
	found := map[string]string{}
	for place, n := range holdsNow.longest[doing] {
		p := holdsPlaces[place]
		found[p.in] = fmt.Sprintf("%s, %s: %d turns or more under one hold of the lock", p.in, p.at, n)
	}
	if n := holdsNow.asked.Load(); n > holdsFew {
		found["entryEnv.Lookup"] = fmt.Sprintf("a walk asked %d times under the lock for values of messages", n)
	}
	if where := holdsNow.reads[doing]; where != "" {
		found[holdsRead] = "it reads the disk under the lock, called by " + where
	}
	return found
}

// holdsRead is what holdsFound calls reading the disk.
const holdsRead = "a read of the disk"

// holdsJournal is a journal that notes who reads it while he has the lock.
type holdsJournal struct{ *memory }

func (j holdsJournal) noteRead() {
	if h := holdsNow.holder.Load(); h == 0 || holdsNow.read.Load() || h != goroutine() {
		return
	}
	holdsNow.read.Store(true)
	callers := make([]uintptr, 16)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var where []string
	for more := true; more; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.Contains(f.Function, "internal/queue.") && len(where) < 6 {
			where = append(where, fmt.Sprintf("%s:%d", filepath.Base(f.File), f.Line))
		}
	}
	holdsNow.mu.Lock()
	holdsNow.reads[holdsNow.doing] = strings.Join(where, ", ")
	holdsNow.mu.Unlock()
}

func (j holdsJournal) Read(ctx context.Context, addrs []journal.Address, each func(int, journal.Record, error)) error {
	j.noteRead()
	return j.memory.Read(ctx, addrs, each)
}

func (j holdsJournal) Sync(ctx context.Context) error {
	j.noteRead()
	return j.memory.Sync(ctx)
}
