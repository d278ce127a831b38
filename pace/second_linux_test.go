package pace_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/pace"
)

// playersHere are those of this system.
func playersHere() pace.Players {
	return pace.Players{
		"beset":    func([]byte) (pace.Player, error) { return new(beset), nil },
		"littered": func([]byte) (pace.Player, error) { return littered{}, nil },
	}
}

// beset is a player whose processor is taken, again and again, by somebody with a higher priority, who gives it back
// when frames are played all the same. Then it fails, and says so.
type beset struct {
	played atomic.Int64
	ended  chan string
}

const (
	rounds = 20
	round  = 500 * time.Millisecond // after which the other one gives way by itself
	enough = 3                      // frames that are played meanwhile
)

func (b *beset) Frame(n int64) error {
	b.played.Add(1)
	if n == 0 {
		var here unix.CPUSet
		if err := unix.SchedGetaffinity(0, &here); err != nil || here.Count() != 1 {
			return errors.New("not watched")
		}
		b.ended = make(chan string, 1)
		thread := unix.Gettid()
		go func() {
			runtime.LockOSThread()
			b.ended <- b.besiege(thread)
		}()
	}
	select {
	case told := <-b.ended:
		return errors.New(told)
	default:
		return nil
	}
}

func (b *beset) Stop() error { return nil }

// besiege takes the processor of a thread until frames are played while it has it.
func (b *beset) besiege(player int) string {
	for range rounds {
		// one that plays just now would be held up in the middle, and only one that sleeps is fetched
		for !asleep(player) {
			runtime.Gosched()
		}
		var here unix.CPUSet
		if err := unix.SchedGetaffinity(player, &here); err != nil {
			return err.Error()
		}
		if err := unix.SchedSetaffinity(0, &here); err != nil {
			return err.Error()
		}
		if err := schedule(unix.SCHED_FIFO, 60); err != nil {
			return err.Error()
		}
		fetched := b.occupy()
		if err := schedule(unix.SCHED_NORMAL, 0); err != nil {
			return err.Error()
		}
		if fetched {
			return "fetched"
		}
	}
	return "nobody fetched the player"
}

func asleep(thread int) bool {
	b, err := os.ReadFile(fmt.Sprintf("/proc/self/task/%d/stat", thread))
	_, state, ok := bytes.Cut(b, []byte(") "))
	return err != nil || ok && bytes.HasPrefix(state, []byte("S"))
}

func schedule(policy, priority uint32) error {
	return unix.SchedSetAttr(0, &unix.SchedAttr{Size: uint32(unsafe.Sizeof(unix.SchedAttr{})), Policy: policy,
		Priority: priority}, 0)
}

// occupy calls nothing that the runtime could use to take its place away: it would let the player pass.
func (b *beset) occupy() bool {
	end := b.played.Load() + enough
	var begin, now unix.Timespec
	_, _, _ = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&begin)), 0)
	for b.played.Load() < end {
		_, _, _ = syscall.RawSyscall(unix.SYS_CLOCK_GETTIME, unix.CLOCK_MONOTONIC, uintptr(unsafe.Pointer(&now)), 0)
		if now.Nano()-begin.Nano() > int64(round) {
			return false
		}
	}
	return true
}

// littered is a player that has to have its garbage collected.
type littered struct{}

func (littered) Frame(n int64) error {
	if n%10 == 5 {
		runtime.GC()
	}
	return nil
}

func (littered) Stop() error { return nil }

func TestACollectionIsPossibleWhileThePlayerIsWatched(t *testing.T) {
	for _, rate := range []pace.Rate{pace.NTSC(), kilohertz(t)} {
		run, err := pace.Child(players()).Start(t.Context(), pace.Job{Player: "littered", Rate: rate, Frames: 30})
		if err != nil {
			t.Fatal(err)
		}
		if report, err := run.Wait(); err != nil || report.Played != 30 {
			t.Errorf("%d frames, %v", report.Played, err)
		}
	}
}

// TestAPlayerWhoseProcessorIsTakenIsFetched holds on machines with several processors, and where real-time priorities
// are permitted; elsewhere it is told that nobody watches.
func TestAPlayerWhoseProcessorIsTakenIsFetched(t *testing.T) {
	run, err := pace.Child(players()).Start(t.Context(), pace.Job{Player: "beset", Rate: pace.NTSC()})
	if err != nil {
		t.Fatal(err)
	}
	report, err := run.Wait()
	told := fmt.Sprint(err)
	_, told, _ = strings.Cut(told, ": ")
	f := report.Footing
	switch {
	case f.Watched && (told != "fetched" || report.Fetched == 0):
		t.Errorf("%v, %d times: %s", err, report.Fetched, f)
	case !f.Watched && (told != "not watched" || len(f.Lacking) == 0):
		t.Errorf("%v, and nothing is lacking: %s", err, f)
	}
	if f.Step() == 1 && runtime.NumCPU() > 1 && !strings.Contains(f.String(), "watched from another processor") {
		t.Errorf("everything is permitted, and it stands on %s", f)
	}
}
