package file_test

import (
	"errors"
	"fmt"
	"io"
	"slices"

	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"

	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// TestWithoutHandlesPutsAreRefusedSettlesGoOnAndTheyComeBack: what a roll needs was opened before. Nothing but a
// restart would end a failure of the journal, and handles come back by themselves.
func TestWithoutHandlesPutsAreRefusedSettlesGoOnAndTheyComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.IdleSeal = time.Second
		var reports atomic.Int64
		o.Report = func(err error) {
			if !errors.Is(err, syscall.EMFILE) {
				t.Error(err)
			}
			reports.Add(1)
		}
		j := mustOpen(t, o)
		mustAppend(t, j, message(1, 1000))
		synctest.Wait()
		d.Handles(false)
		put := 1
		for {
			_, err := appendWait(j, message(put+1, 1000))
			if err != nil {
				if !errors.Is(err, journal.ErrRefused) || !errors.Is(err, syscall.EMFILE) {
					t.Fatal(err)
				}
				break
			}
			put++
		}
		if err := j.Health(); !errors.Is(err, journal.ErrRefused) || !errors.Is(err, syscall.EMFILE) {
			t.Fatalf("health: %v", err)
		}
		settled := 0
		for ; settled < 100; settled++ { // more than the newest segment holds
			if _, err := appendWait(j, settle(settled)); err != nil {
				t.Fatalf("after %d settles: %v", settled, err)
			}
		}
		time.Sleep(10 * time.Second)
		if n := reports.Load(); n == 0 || n > 5 {
			t.Errorf("it was reported %d times", n)
		}
		for {
			if _, err := appendWait(j, settle(settled)); err != nil {
				if !errors.Is(err, journal.ErrRefused) || !errors.Is(err, syscall.EMFILE) {
					t.Fatal(err)
				}
				break
			}
			settled++
		}
		d.Handles(true)
		time.Sleep(2 * time.Second)
		if err := j.Health(); err != nil {
			t.Errorf("with handles: %v", err)
		}
		for range 100 {
			put++
			mustAppend(t, j, message(put, 1000))
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = mustOpen(t, small(d))
		defer j.Close()
		text, err := content(t.Context(), j)
		if puts, settles := strings.Count(text, "head of"), strings.Count(text, "settled"); err != nil || puts != put ||
			settles != settled {
			t.Errorf("%d puts, %d settles, want %d, %d: %v", puts, settles, put, settled, err)
		}
	})
}

// TestCleaningGoesOnWithoutHandles: like on a full disk it has the reserve.
func TestCleaningGoesOnWithoutHandles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, _ := ready(t)
		d := base.Clone()
		o := small(d)
		o.Report = func(error) {}
		j := mustOpen(t, o)
		defer j.Close()
		d.Handles(false)
		cold, before := coldNames(d), used(d)
		j.Keep(slices.Values(k.addrs))
		settled()
		if slices.Equal(coldNames(d), cold) {
			t.Fatal("nothing was cleaned without handles")
		}
		if after := used(d); after >= before {
			t.Errorf("cleaning took %d bytes and gave back nothing: %d before", after, before)
		}
		k.check(t, j)
		mustAppend(t, j, settle(1))
		d.Handles(true)
		settled()
		mustAppend(t, j, message(1, 1000))
		if err := j.Health(); err != nil {
			t.Error(err)
		}
	})
}

// TestWhatWasRemovedWhileThereAreNoHandlesIsWrittenAgainWhenThereAre: the folder and the list in memory are as they
// were, so it is no reason to end.
func TestWhatWasRemovedWhileThereAreNoHandlesIsWrittenAgainWhenThereAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.Report = func(error) {}
		j := mustOpen(t, o)
		defer j.Close()
		for n := range 40 {
			mustAppend(t, j, message(n, 1000))
		}
		time.Sleep(time.Second) // the bubble's clock
		d.Handles(false)
		removed := []string{"log/manifest-0", "log/manifest-1", "log/synced"}
		for _, name := range removed {
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		for n := range 100 {
			if _, err := appendWait(j, settle(n)); err != nil && !errors.Is(err, journal.ErrRefused) {
				t.Fatal(err)
			}
		}
		d.Handles(true)
		time.Sleep(time.Second)
		for _, name := range removed {
			if !slices.Contains(d.Names(), name) {
				t.Errorf("%s was not written again", name)
			}
		}
		mustAppend(t, j, message(41, 1000))
	})
}

// TestACheckpointIsTakenWithoutHandles: it has the reserve, but for the last of it. One that finds nothing there fails
// and changes nothing.
func TestACheckpointIsTakenWithoutHandles(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		o := small(d)
		o.Report = func(error) {}
		j := mustOpen(t, o)
		at := mustAppend(t, j, message(1, 1000))
		synctest.Wait()
		saveCheckpoint(t, j, at, "zero")
		d.Handles(false)
		saved := 0
		for ; ; saved++ {
			err := j.SaveCheckpoint(t.Context(), at, func(w io.Writer) error {
				_, err := fmt.Fprint(w, "state ", saved)
				return err
			})
			if err != nil {
				if !errors.Is(err, syscall.EMFILE) {
					t.Fatal(err)
				}
				break
			}
		}
		if saved == 0 {
			t.Fatal("none was taken")
		}
		n := 0
		for ; n < 20; n++ { // more than the newest segment holds
			mustAppend(t, j, settle(n))
		}
		d.Handles(true)
		if text, err := content(t.Context(), j); err != nil || !strings.Contains(text, fmt.Sprint("state ", saved-1)) {
			t.Errorf("%s: %v", text, err)
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
		j = mustOpen(t, o)
		defer j.Close()
		if text, err := content(t.Context(), j); err != nil || !strings.Contains(text, fmt.Sprint("state ", saved-1)) {
			t.Errorf("after a restart: %s: %v", text, err)
		}
		saveCheckpoint(t, j, j.End(), "second")
	})
}

// TestASpareThatWasRemovedOrReplacedIsNotUsed: a segment in a file without a name would end with the process.
func TestASpareThatWasRemovedOrReplacedIsNotUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		j := mustOpen(t, small(d))
		mustAppend(t, j, message(0, 1000))
		synctest.Wait()
		for n, name := range d.Names() {
			if !strings.Contains(name, "spare-") {
				continue
			}
			if err := d.Remove(name); err != nil {
				t.Fatal(err)
			}
			if n%2 == 0 {
				if _, err := d.Create(name); err != nil {
					t.Fatal(err)
				}
			}
		}
		for n := range 300 { // over several segments
			mustAppend(t, j, settle(n))
		}
		for n := range 100 {
			mustAppend(t, j, message(n+1, 1000))
		}
		after := d.AfterKill()
		if err := j.Close(); err == nil {
			t.Error("a disk that was cut closes well")
		}
		j = mustOpen(t, small(after))
		defer j.Close()
		if text, err := content(t.Context(), j); err != nil || strings.Count(text, "head of") != 101 {
			t.Errorf("%d puts: %v", strings.Count(text, "head of"), err)
		}
	})
}
