package file_test

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
)

// reports is what a journal reports.
type reports struct {
	mu   sync.Mutex
	errs []error
}

func (s *reports) add(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.errs = append(s.errs, err)
}

// take returns what was reported since the last take.
func (s *reports) take() []error {
	s.mu.Lock()
	defer s.mu.Unlock()
	errs := s.errs
	s.errs = nil
	return errs
}

// scrubbing are options of a journal that looks for damage every ten minutes.
func scrubbing(d *faultfs.Disk, said *reports) file.Options {
	o := small(d)
	o.Scrub = file.Scrub{Every: 10 * time.Minute}
	o.Report = said.add
	return o
}

// busy makes a journal with segments of all kinds, two checkpoints and messages in all of them, and returns where the
// living messages are.
func busy(t *testing.T, j *file.Journal) owned {
	t.Helper()
	o := owned{}
	for n := range 60 {
		o[n] = journal.Address{Position: mustAppend(t, j, message(n, 1000))}
	}
	j.Keep(maps.Values(o))
	for n := range 40 {
		if n%5 != 0 {
			mustAppend(t, j, settle(n))
			j.Release(o[n])
			delete(o, n)
		}
	}
	covered(t, j)
	for n := 60; n < 100; n++ {
		o[n] = journal.Address{Position: mustAppend(t, j, message(n, 1000))}
	}
	return o
}

// readable counts the messages that can be read, and those of which damage is told.
func (o owned) readable(t *testing.T, j journal.Journal) (sound, damaged int) {
	t.Helper()
	err := j.Read(t.Context(), slices.Collect(maps.Values(o)), func(_ int, _ journal.Record, err error) {
		var damage *journal.DamageError
		switch {
		case err == nil:
			sound++
		case errors.As(err, &damage):
			damaged++
		default:
			t.Error(err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return sound, damaged
}

// TestAScrubFindsAFlipInEveryKindOfFileOfARunningJournal: and names file and place, once, while everybody goes on.
func TestAScrubFindsAFlipInEveryKindOfFileOfARunningJournal(t *testing.T) {
	const round = 11 * time.Minute
	for _, c := range []struct {
		kind   string
		file   func(names []string) string
		at     func(b []byte) int
		costs  int  // messages that cannot be read
		mended bool // at once
	}{
		{"sealed segment, a body", byEnding(".log", 0), bodyIn, 1, false},
		{"sealed segment, its header", byEnding(".log", 0), at(30), 0, false},
		{"sealed segment, its end", byEnding(".log", 0), lastByte, 0, false},
		{"newest segment, a body", byEnding(".log", -1), bodyIn, 1, false},
		{"cold segment, a body", byEnding(".cold", 0), movedBody, 1, false},
		{"cold segment, a group", byEnding(".cold", 0), at(4096 + 12), 8, false},
		{"cold segment, its header", byEnding(".cold", 0), at(20), 0, false},
		{"cold segment, its footer", byEnding(".cold", 0), lastByte, 0, false},
		{"newer checkpoint", byStart("log/checkpoint", -1), at(34), 0, false},
		{"older checkpoint", byStart("log/checkpoint", 0), at(3), 0, false},
		{"manifest 0", byStart("log/manifest-0", 0), at(40), 0, true},
		{"manifest 1", byStart("log/manifest-1", 0), at(40), 0, true},
		{"note, one place", byStart("log/synced", 0), at(27), 0, true},
		{"note, the other place", byStart("log/synced", 0), at(64 + 27), 0, true},
	} {
		t.Run(c.kind, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				d, said := faultfs.New(), new(reports)
				j := mustOpen(t, scrubbing(d, said))
				o := busy(t, j)
				time.Sleep(round)
				st := j.Stats()
				if errs := said.take(); len(errs) > 0 || st.ScrubRounds == 0 || st.DamageFound > 0 ||
					st.ScrubbedBytes == 0 {
					t.Fatalf("undamaged: %v, %+v", errs, st)
				}
				name := c.file(d.Names())
				offset := c.at(d.Bytes(name))
				if err := d.Flip(name, int64(offset), 3); err != nil {
					t.Fatal(err)
				}
				broken := d.Bytes(name)
				time.Sleep(round)
				errs := said.take()
				if len(errs) != 1 {
					t.Fatalf("byte %d of %s was flipped, and it told %d: %v", offset, name, len(errs), errs)
				}
				if damage := asDamage(t, errs[0]); !strings.HasPrefix(damage.Where, name+", offset ") {
					t.Errorf("byte %d of %s: it told %v", offset, name, damage)
				}
				places := 1
				if c.mended {
					places = 0
					if slices.Equal(broken, d.Bytes(name)) {
						t.Error("it was not written again")
					}
				}
				if st := j.Stats(); st.DamagedPlaces != places || st.DamageFound != 1 {
					t.Errorf("%d places, %d found", st.DamagedPlaces, st.DamageFound)
				}
				time.Sleep(round)
				if errs := said.take(); len(errs) > 0 {
					t.Errorf("told again: %v", errs)
				}
				mustAppend(t, j, message(1000, 10))
				if sound, damaged := o.readable(t, j); damaged != c.costs || sound+damaged != len(o) {
					t.Errorf("%d messages are sound, %d damaged, of %d", sound, damaged, len(o))
				}
				if err := j.Close(); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

func byEnding(ending string, i int) func([]string) string {
	return chosen(func(name string) bool { return strings.HasSuffix(name, ending) }, i)
}

func byStart(start string, i int) func([]string) string {
	return chosen(func(name string) bool { return strings.HasPrefix(name, start) }, i)
}

// chosen returns the ith of the names that a function takes, counted from the end when it is negative.
func chosen(takes func(string) bool, i int) func([]string) string {
	return func(names []string) string {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { return !takes(name) })
		if i < 0 {
			i += len(names)
		}
		return names[i]
	}
}

func at(offset int) func([]byte) int { return func([]byte) int { return offset } }

// bodyIn is in the body of the first message in a segment.
func bodyIn(b []byte) int {
	for i := 4096; i < len(b); i++ {
		if strings.HasPrefix(string(b[i:min(len(b), i+8)]), "head of ") {
			return i + 100
		}
	}
	return -1
}

// movedBody is in the body of the first record of a cold segment.
func movedBody(b []byte) int {
	list, _, err := file.MovedIn(b)
	if err != nil {
		return -1
	}
	return int(list[0].BodyAt) + 5
}

func lastByte(b []byte) int {
	for i := len(b) - 1; ; i-- {
		if b[i] != 0 {
			return i
		}
	}
}

// TestAScrubGivesNoFalseAlarm: while segments are begun, sealed, cleaned, taken away and used again, checkpoints come
// and go, and everything is synced.
func TestAScrubGivesNoFalseAlarm(t *testing.T) {
	t.Run("disk in memory",
		func(t *testing.T) { scrubUnderLoad(t, small(faultfs.New()), uint64(amount(1500, 500, 60))) })
	t.Run("disk of the system", func(t *testing.T) { // where writes are torn, and the note is memory
		o := small(nil)
		o.FS, o.Dir = nil, t.TempDir()
		scrubUnderLoad(t, o, uint64(amount(150, 50, 8)))
	})
}

// scrubUnderLoad has a journal scrub so many rounds, one behind the other, while three write, settle, and save
// checkpoints.
func scrubUnderLoad(t *testing.T, o file.Options, until uint64) {
	said := new(reports)
	o.Report = said.add
	o.Scrub = file.Scrub{Every: 1, BytesPerSecond: 1 << 40}
	o.IdleSeal = time.Millisecond
	o.Watch = time.Millisecond
	o.CleanBytes = 1 << 40
	j := mustOpen(t, o)
	load(t, j, func() bool {
		st := j.Stats()
		return st.ScrubRounds < until || st.Groups < 800 || st.CopiedBytes == 0
	})
	if err := j.Close(); err != nil {
		t.Error(err)
	}
	if errs := said.take(); len(errs) > 0 || j.Stats().DamageFound > 0 {
		t.Errorf("%d rounds told %d: %v", j.Stats().ScrubRounds, len(errs), errors.Join(errs[:min(5, len(errs))]...))
	}
}

// load has three write and settle, and save checkpoints, so that segments are begun, sealed, cleaned and used again, as
// long as more says so.
func load(t *testing.T, j *file.Journal, more func() bool) {
	j.Keep(slices.Values([]journal.Address(nil)))
	var writers sync.WaitGroup
	for w := range 3 {
		writers.Go(func() {
			var mine []journal.Address
			for n := w; more(); n += 3 {
				p, err := appendWait(j, message(n, 100+n*37%1500))
				if err != nil {
					t.Error(err)
					return
				}
				if mine = append(mine, journal.Address{Position: p}); len(mine) < 40 {
					continue
				}
				for i, a := range mine {
					if i%9 != 0 { // few survive the first time
						j.Release(a)
					}
				}
				if mine = mine[:0]; n%7 == 0 {
					j.ReleaseBefore(p)
				}
				if w == 0 {
					saveCheckpoint(t, j, p, fmt.Sprint(n))
				}
			}
		})
	}
	writers.Wait()
}
