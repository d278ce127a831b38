package file_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

// ready returns a disk with a closed journal in which the next start has a lot to clean, cold segments among it, and
// what is still needed of it. The older checkpoint lies at horizon.
func ready(t *testing.T) (d *faultfs.Disk, k *kept, horizon journal.Position) {
	t.Helper()
	d = faultfs.New()
	j := mustOpen(t, small(d))
	j.Keep(none)
	k = backlog(t, j, 0, 120, 5)
	covered(t, j)
	if len(coldNames(d)) == 0 {
		t.Fatal("nothing was cleaned")
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	// From now on nothing is cleaned until the next one opens it.
	o := small(d)
	o.CleanBytes = -1
	j = mustOpen(t, o)
	left := new(kept)
	for i, a := range k.addrs {
		if i%4 == 0 {
			left.add(a, k.records[i])
		}
	}
	j.Keep(slices.Values(left.addrs))
	more := backlog(t, j, 1000, 60, 8)
	left.addrs, left.records = append(left.addrs, more.addrs...), append(left.records, more.records...)
	horizon = j.End()
	saveCheckpoint(t, j, horizon, "older")
	saveCheckpoint(t, j, horizon, "newer")
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	return d.Clone(), left, horizon
}

// cleanOn opens the journal, lets it clean, and closes it. Whatever goes wrong is an error.
func cleanOn(t *testing.T, d *faultfs.Disk, k *kept) error {
	o := small(d)
	var mu sync.Mutex
	var errs []error
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		errs = append(errs, err)
	}
	j, err := file.Open(t.Context(), o)
	if err != nil {
		return err
	}
	j.Keep(slices.Values(k.addrs))
	settled()
	err = j.Close()
	mu.Lock()
	defer mu.Unlock()
	return errors.Join(append(errs, err)...)
}

func TestACutAtEveryWriteOfACleaningLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, horizon := ready(t)
		rehearsal := base.Clone()
		before := rehearsal.Changes()
		if err := cleanOn(t, rehearsal, k); err != nil {
			t.Fatal(err)
		}
		changes := rehearsal.Changes() - before
		if slices.Equal(coldNames(rehearsal), coldNames(base)) || changes < 20 {
			t.Fatalf("%d changes left the cold segments as they were", changes)
		}
		lucks := amount(8, 4, 2)
		if testing.Short() {
			lucks = 3
		}
		for cut := 1; cut <= changes+1; cut++ {
			for luck := range lucks {
				d := base.Clone()
				d.CutAfter(cut)
				if err := cleanOn(t, d, k); err != nil && !errors.Is(err, faultfs.ErrCut) {
					t.Fatalf("cut %d: %v", cut, err)
				}
				if luck == 0 {
					d = d.AfterKill()
				} else {
					d = d.AfterPowerCut(rand.New(rand.NewPCG(uint64(cut), uint64(luck))))
				}
				// Twice: the start after it removes what was left over.
				for range 2 {
					j := mustOpen(t, small(d))
					k.check(t, j)
					if j.End() != horizon {
						t.Fatalf("cut %d: the log ends at %d, not %d", cut, j.End(), horizon)
					}
					j.Keep(slices.Values(k.addrs))
					settled()
					k.check(t, j)
					if err := j.Close(); err != nil {
						t.Fatalf("cut %d: %v", cut, err)
					}
				}
				if n, m := len(d.Names()), len(rehearsal.Names()); n > m+1 {
					t.Fatalf("cut %d: %d files are there, %d in a cleaning without a cut: %v", cut, n, m, d.Names())
				}
			}
		}
	})
}

func TestAnErrorAtEveryOperationOfACleaningLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, _ := ready(t)
		for _, failing := range []error{errBroken, syscall.ENOSPC} {
			for _, kind := range []string{"create", "allocate", "write", "sync", "truncate", "rename", "remove",
				"syncdir"} {
				nths := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
				for _, n := range sampletest.Of(t, amount(12, 12, 4), nths...) {
					d := base.Clone()
					o := small(d)
					o.Report = func(error) {}
					j := mustOpen(t, o)
					var seen atomic.Int64
					d.Fault(func(op faultfs.Op) error {
						if op.Kind == kind && seen.Add(1) == int64(n+1) {
							return failing
						}
						return nil
					})
					j.Keep(slices.Values(k.addrs))
					settled()
					d.Fault(nil)
					k.check(t, j)
					settled()
					k.check(t, j)
					_, err := appendWait(j, message(1, 100))
					if err != nil && !errors.Is(err, journal.ErrFailed) {
						t.Fatalf("%s %d, %v: append: %v", kind, n, failing, err)
					}
					if strings.HasPrefix(kind, "create") && err != nil {
						t.Fatalf("a file that could not be made ended the journal: %v", err)
					}
					after := d.AfterKill().Clone()
					if err := j.Close(); err != nil && !errors.Is(err, faultfs.ErrCut) &&
						!errors.Is(err, journal.ErrFailed) {
						t.Fatalf("%s %d: close: %v", kind, n, err)
					}
					j = mustOpen(t, small(after))
					k.check(t, j)
					if err := j.Close(); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
	})
}

func TestAFullDiskInTheMiddleOfACleaningStopsNeitherItNorTheLog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, _ := ready(t)
		d := base.Clone()
		o := small(d)
		o.Report = func(error) {}
		j := mustOpen(t, o)
		defer j.Close()
		d.Limit(1) // from now on nothing new fits: cleaning has the reserve
		cold := coldNames(d)
		before := used(d)
		j.Keep(slices.Values(k.addrs))
		settled()
		if slices.Equal(coldNames(d), cold) {
			t.Fatal("nothing was cleaned on the full disk")
		}
		if after := used(d); after >= before {
			t.Errorf("cleaning took %d bytes and gave back nothing: %d before", after, before)
		}
		k.check(t, j)
		mustAppend(t, j, settle(1))
	})
}

func TestOnAFullDiskCleaningBringsPutsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := faultfs.New()
		d.Limit(600 << 10)
		o := small(d)
		o.Report = func(error) {}
		j := mustOpen(t, o)
		defer j.Close()
		j.Keep(none)
		var all kept
		put := func(n int) bool {
			t.Helper()
			r := message(n, 900)
			p, err := appendWait(j, r)
			if errors.Is(err, journal.ErrFull) {
				return false
			}
			if err != nil {
				t.Fatal(err)
			}
			all.add(journal.Address{Position: p}, r)
			return true
		}
		n := 0
		for ; put(n); n++ {
		}
		if n < 100 {
			t.Fatalf("only %d messages fitted", n)
		}
		for round := range 20 {
			// Of each segment something stays: without cleaning no room comes back.
			var left kept
			for i, a := range all.addrs {
				if i%3 == 0 {
					left.add(a, all.records[i])
					continue
				}
				if i%30 == 1 { // their settles, a few at a time
					mustAppend(t, j, settle(i), settle(i+1))
				}
				j.Release(a)
			}
			all = left
			saveCheckpoint(t, j, j.End(), strings.Repeat("state", 100))
			saveCheckpoint(t, j, j.End(), strings.Repeat("state", 100))
			settled()
			came := 0
			for ; put(n); n++ {
				came++
			}
			if came < 60 {
				t.Fatalf("round %d: %d messages fitted after two thirds were released; the disk has %v", round, came,
					d.Names())
			}
			all.check(t, j)
		}
	})
}

// used is the size of all files.
func used(d *faultfs.Disk) int {
	n := 0
	for _, name := range d.Names() {
		n += len(d.Bytes(name))
	}
	return n
}

func TestADamagedBodyIsCarriedAlongAndStaysDamaged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, _ := ready(t)
		d := base.Clone()
		// One in the log, one in a cold segment.
		moved, _, err := file.MovedIn(d.Bytes(coldNames(d)[0]))
		if err != nil {
			t.Fatal(err)
		}
		hurt := map[journal.Address]bool{}
		for _, m := range moved {
			if slices.Contains(k.addrs, m.From) && len(hurt) == 0 {
				flip(t, d, coldNames(d)[0], m.BodyAt+m.BodyLen/2)
				hurt[m.From] = true
			}
		}
		for i := range slices.Backward(k.addrs) {
			name := d.Names()[len(coldNames(d))] // the first of the log
			if at := strings.Index(string(d.Bytes(name)), string(k.records[i].Body)); at >= 0 && len(hurt) < 2 {
				flip(t, d, name, int64(at)+20)
				hurt[k.addrs[i]] = true
			}
		}
		if len(hurt) != 2 {
			t.Fatalf("damaged %v", hurt)
		}
		report := fmt.Sprint(cleanOn(t, d, k))
		if slices.Equal(coldNames(d), coldNames(base)) {
			t.Fatal("nothing was cleaned")
		}
		if strings.Count(report, "cleaning found") != 2 {
			t.Errorf("reported %s", report)
		}
		for range 2 {
			j := mustOpen(t, small(d))
			for i, err := range readErrors(t, j, k.addrs...) {
				a := k.addrs[i]
				if !hurt[a] {
					if err != nil {
						t.Errorf("%v: %v", a, err)
					}
					continue
				}
				if damage := asDamage(t, err); damage.Record != a || !strings.Contains(damage.Where, ".cold") {
					t.Errorf("%v: %+v", a, damage)
				}
			}
			if err := j.Close(); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func flip(t *testing.T, d *faultfs.Disk, name string, offset int64) {
	t.Helper()
	if err := d.Flip(name, offset, 3); err != nil {
		t.Fatal(err)
	}
}

func TestASegmentWhoseGroupsAreDamagedStaysAndTheOthersAreCleaned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		base, k, _ := ready(t)
		d := base.Clone()
		name := coldNames(d)[0]
		moved, _, err := file.MovedIn(d.Bytes(name))
		if err != nil {
			t.Fatal(err)
		}
		flip(t, d, name, moved[0].GroupAt+40)
		if report := fmt.Sprint(cleanOn(t, d, k)); strings.Count(report, "it stays as it is") != 1 {
			t.Errorf("reported %s", report)
		}
		if logFiles(d) != 1 || !slices.Contains(coldNames(d), name) {
			t.Errorf("there are %v", d.Names())
		}
	})
}

// TestAFlipInEveryKindOfByteOfAColdSegmentIsFound flips bytes of every part of a cold segment, and of the manifest that
// lists it. Every record then answers as it was, or with damage.
func TestAFlipInEveryKindOfByteOfAColdSegmentIsFound(t *testing.T) {
	base, k := cold(t)
	random := rand.New(rand.NewPCG(5, 6))
	found := map[string]int{}
	for _, name := range append(coldNames(base), "log/manifest-0", "log/manifest-1") {
		b := base.Bytes(name)
		moved, footer, err := file.MovedIn(b)
		if err != nil && strings.HasSuffix(name, ".cold") {
			t.Fatal(err)
		}
		for offset := range b {
			part := partOf(name, int64(offset), moved, footer)
			if (part == "body" || part == "header" && offset > 40 || b[offset] == 0) && random.IntN(30) != 0 {
				continue
			}
			if !among(random) {
				continue
			}
			d := base.Clone()
			if err := d.Flip(name, int64(offset), uint(random.IntN(8))); err != nil {
				t.Fatal(err)
			}
			j, err := file.Open(t.Context(), small(d))
			if err != nil {
				asDamage(t, err)
				found[part]++
				continue
			}
			damaged := 0
			err = j.Read(t.Context(), k.addrs, func(i int, r journal.Record, err error) {
				switch {
				case err != nil:
					asDamage(t, err)
					damaged++
				case string(r.Body) != string(k.records[i].Body) || string(r.Head) != string(k.records[i].Head) ||
					r.Sequence != k.records[i].Sequence || r.Queue != k.records[i].Queue:
					t.Fatalf("a flip at %d of %s, in %s, altered the record at %v", offset, name, part, k.addrs[i])
				}
			})
			if err := errors.Join(err, j.Close()); err != nil {
				t.Fatal(err)
			}
			if damaged > 0 {
				found[part]++
			}
			if part == "body" && damaged > 1 {
				t.Fatalf("a flip in a body damaged %d records", damaged)
			}
		}
	}
	t.Logf("found: %v", found)
	for _, part := range []string{"header", "group", "body", "footer"} {
		if found[part] == 0 {
			t.Errorf("no flip in a %s was found", part)
		}
	}
}

// partOf names the part of a file in which an offset lies.
func partOf(name string, offset int64, moved []file.Moved, footer int64) string {
	switch {
	case !strings.HasSuffix(name, ".cold"):
		return "manifest"
	case offset < 4096:
		return "header"
	case offset >= footer:
		return "footer"
	}
	for _, m := range moved {
		if offset >= m.BodyAt && offset < m.BodyAt+m.BodyLen {
			return "body"
		}
	}
	return "group"
}

// cold returns the disk of a closed journal with cold segments, and what is needed.
func cold(t *testing.T) (d *faultfs.Disk, k *kept) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		d = faultfs.New()
		j := mustOpen(t, small(d))
		j.Keep(none)
		k = backlog(t, j, 0, 60, 10)
		covered(t, j)
		if len(coldNames(d)) == 0 {
			t.Fatal("nothing was cleaned")
		}
		if err := j.Close(); err != nil {
			t.Fatal(err)
		}
	})
	return d.Clone(), k
}

// TestReadersAndReleasesGoOnDuringCleaning reads and releases from several goroutines while segments are moved again
// and again.
func TestReadersAndReleasesGoOnDuringCleaning(t *testing.T) {
	d := faultfs.New()
	j := mustOpen(t, small(d))
	defer j.Close()
	j.Keep(none)
	stop := time.Now().Add(time.Second)
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			random := rand.New(rand.NewPCG(uint64(w), 8))
			var mine kept
			for n := 0; time.Now().Before(stop) || j.Stats().CopiedBytes == 0; n++ { // on a busy machine longer
				r := queued(n, random.IntN(1500))
				p, err := appendWait(j, r, settle(n))
				if err != nil {
					t.Error(err)
					return
				}
				mine.add(journal.Address{Position: p}, r)
				for len(mine.addrs) > 300 {
					i := random.IntN(len(mine.addrs))
					j.Release(mine.addrs[i])
					mine.addrs, mine.records = slices.Delete(mine.addrs, i, i+1), slices.Delete(mine.records, i, i+1)
				}
				if n%20 == 0 {
					mine.read(t, j, random)
				}
				if w == 0 && n%100 == 0 {
					saveCheckpoint(t, j, j.End(), "state")
				}
			}
			mine.check(t, j)
		})
	}
	all.Wait()
	if j.Stats().CopiedBytes == 0 {
		t.Error("nothing was cleaned")
	}
}

// read reads a few records.
func (k *kept) read(t *testing.T, j journal.Journal, random *rand.Rand) {
	var some kept
	for range 10 {
		i := random.IntN(len(k.addrs))
		some.add(k.addrs[i], k.records[i])
	}
	err := j.Read(t.Context(), some.addrs, func(i int, r journal.Record, err error) {
		if err != nil || string(r.Body) != string(some.records[i].Body) {
			t.Errorf("the record at %v: %v", some.addrs[i], err)
		}
	})
	if err != nil {
		t.Error(err)
	}
}
