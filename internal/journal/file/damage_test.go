package file_test

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/sampletest"
)

var (
	everyDamage = flag.Bool("damage", false, "try every damage of every layout, not a sample")
	everyByte   = flag.Bool("damage-bytes", false, "flip every byte that tells something, in every file of every layout")
)

// damaged is something that happened to files.
type damaged struct {
	files []string
	what  string
	do    func(d *faultfs.Disk)
}

func (d damaged) String() string { return strings.Join(d.files, ", ") + ": " + d.what }

// and is two things at once.
func (d damaged) and(other damaged) damaged {
	return damaged{append(slices.Clone(d.files), other.files...), d.what + "; " + other.what, func(disk *faultfs.Disk) {
		d.do(disk)
		other.do(disk)
	}}
}

// damages lists what can happen to the files of a layout. Of long files a sample of the places is taken, of which every
// one is a place of its own kind.
func (l *layout) damages(random *rand.Rand) []damaged {
	var all []damaged
	for _, name := range l.disk.Names() {
		b := l.disk.Bytes(name)
		if kindOf(name) == "spare" && random.IntN(8) > 0 {
			continue // nothing is in it
		}
		put := func(what string, f func(b []byte) []byte) {
			all = append(all, damaged{[]string{name}, what, func(d *faultfs.Disk) { d.Put(name, f(d.Bytes(name))) }})
		}
		for _, at := range places(b, random) {
			bit := random.IntN(8)
			put(fmt.Sprintf("bit %d of byte %d flipped", bit, at),
				func(b []byte) []byte { return with(b, at, b[at]^1<<bit) })
		}
		for _, n := range lengths(b, random) {
			put(fmt.Sprintf("cut off at %d of %d bytes", n, len(b)),
				func(b []byte) []byte { return b[:min(n, len(b))] })
		}
		for page := 0; page < len(b); page += 4096 {
			put(fmt.Sprintf("zeros from %d on", page), func(b []byte) []byte {
				clear(b[page:min(page+4096, len(b))])
				return b
			})
		}
		put("taken away", func([]byte) []byte { return nil })
		for i, old := range l.older[name] {
			if string(old) != string(b) {
				put(fmt.Sprintf("an older copy of itself, number %d of %d", i+1, len(l.older[name])),
					func([]byte) []byte { return old })
			}
		}
		for _, other := range l.disk.Names() {
			if other != name && kindOf(other) == kindOf(name) {
				put("a copy of "+other, func([]byte) []byte { return l.disk.Bytes(other) })
			}
		}
	}
	return all
}

// flips lists a flip of each byte that is not zero, of a bit that is drawn, and a cut before each such byte of the
// first page. Of a message's body, which no start looks into, it takes the first byte alone.
func (l *layout) flips(random *rand.Rand) []damaged {
	var all []damaged
	for _, name := range l.disk.Names() {
		b := l.disk.Bytes(name)
		put := func(what string, f func(b []byte) []byte) {
			all = append(all, damaged{[]string{name}, what, func(d *faultfs.Disk) { d.Put(name, f(d.Bytes(name))) }})
		}
		inside := insideBodies(b)
		for at, c := range b {
			if c == 0 || inside[at] {
				continue
			}
			bit := random.IntN(8)
			put(fmt.Sprintf("bit %d of byte %d flipped", bit, at),
				func(b []byte) []byte { return with(b, at, b[at]^1<<bit) })
			if at < 4096 {
				put(fmt.Sprintf("cut off at %d of %d bytes", at, len(b)), func(b []byte) []byte { return b[:at] })
			}
		}
	}
	return all
}

// insideBodies marks the bytes of a file that are of the body of a message, but for the first one.
func insideBodies(b []byte) []bool {
	inside := make([]bool, len(b))
	for n := range 300 {
		body := message(n, sizeOf(n)).Body
		for from := 0; ; {
			at := bytes.Index(b[from:], body)
			if at < 0 {
				break
			}
			for i := 1; i < len(body); i++ {
				inside[from+at+i] = true
			}
			from += at + len(body)
		}
	}
	return inside
}

func kindOf(name string) string {
	base := filepath.Base(name)
	if ext := filepath.Ext(base); ext != "" {
		return ext
	}
	kind, _, _ := strings.Cut(base, "-")
	return kind
}

func with(b []byte, at int, c byte) []byte {
	if at < len(b) {
		b[at] = c
	}
	return b
}

// places are offsets at which a byte is flipped: all that are not zero in a short file, and in a long one some, with
// what stands around them.
func places(b []byte, random *rand.Rand) []int {
	var list []int
	for at, c := range b {
		if c != 0 && (len(b) <= 64<<10 && at < 48 || random.IntN(len(b)/100+1) == 0) || c == 0 &&
			random.IntN(len(b)/4+1) == 0 {
			list = append(list, at)
		}
	}
	for at := 4096; at+64 <= len(b); at += 64 { // headers of groups, mostly
		if zero := slices.Max(b[at:at+64]) == 0; !zero && random.IntN(8) == 0 {
			list = append(list, at, at+8+random.IntN(56))
		}
	}
	return list
}

// lengths are those that a file is cut off to.
func lengths(b []byte, random *rand.Rand) []int {
	list := []int{0, 1, len(b) - 1, len(b) / 2, len(b) / 8192 * 4096}
	for range 6 {
		list = append(list, random.IntN(len(b)+1))
	}
	for at := 4096; at < len(b); at += 4096 {
		if len(b) < 64<<10 || random.IntN(8) == 0 {
			list = append(list, at)
		}
	}
	list = slices.DeleteFunc(list, func(n int) bool { return n < 0 || n >= len(b) })
	slices.Sort(list)
	return slices.Compact(list)
}

// Verdicts over a damage.
const (
	refused   = "refused, with the place"
	harmless  = "harmless"
	mentioned = "harmless, and told"
	bodies    = "messages told to be damaged"
	told      = "messages lost, and told"
	wiped     = "the newest segment and the note damaged at once: nothing is left that could tell"
	silent    = "SILENT"
	unnamed   = "refused, without the place"
	unchecked = "refused, and the check finds nothing"
	altered   = "refused, and files were changed"
)

// judge opens a damaged folder as a start does, and as the check does, and compares with the ledger.
func (l *layout) judge(t *testing.T, d *faultfs.Disk) (verdict, why string) {
	before := contents(d)
	report, err := file.CheckOn(t.Context(), d, "log")
	if err != nil {
		report = &file.Report{Damages: []file.Damage{{What: err.Error()}}}
	}
	if !maps.Equal(before, contents(d)) {
		return altered, "by the check"
	}
	var mu sync.Mutex
	var said []string
	o := small(d)
	o.Report = func(err error) {
		mu.Lock()
		defer mu.Unlock()
		said = append(said, err.Error())
	}
	j, err := file.Open(t.Context(), o)
	if err == nil {
		defer j.Close() //nolint:errcheck // at the latest
		var got owned
		if got, err = fold(t.Context(), j); err == nil {
			mu.Lock()
			told := slices.Clone(said)
			mu.Unlock()
			return l.compare(t, d, j, got, report, told)
		}
		before = nil
	}
	var damage *journal.DamageError
	switch {
	case !errors.As(err, &damage) || !strings.Contains(damage.Where, "log/"):
		return unnamed, err.Error()
	case len(report.Damages) == 0:
		return unchecked, err.Error()
	case before != nil && !maps.Equal(before, contents(d)):
		return altered, err.Error()
	}
	return refused, err.Error()
}

// wiped tells whether a damage hits both of the files that alone tell how far the newest segment goes.
func (l *layout) wiped(d damaged) bool {
	names := slices.DeleteFunc(l.disk.Names(), func(name string) bool { return kindOf(name) != ".log" })
	return slices.Contains(d.files, synced) && slices.Contains(d.files, names[len(names)-1])
}

// contents are the bytes of all files.
func contents(d *faultfs.Disk) map[string]string {
	m := map[string]string{}
	for _, name := range d.Names() {
		m[name] = string(d.Bytes(name))
	}
	return m
}

// compare judges a start that succeeded, works with it, and makes sure that the next start finds what that one found.
func (l *layout) compare(t *testing.T, d *faultfs.Disk, j *file.Journal, got owned, report *file.Report,
	said []string) (verdict, why string) {
	why = fmt.Sprintf("check: %v; start: %q", report.Damages, said)
	var lost []int
	for n, a := range l.want {
		if b, ok := got[n]; !ok || a != b {
			lost = append(lost, n)
		}
	}
	for n := range got {
		if _, ok := l.want[n]; !ok {
			lost = append(lost, n) // it was settled
		}
	}
	slices.Sort(lost)
	numbers := slices.Sorted(maps.Keys(got))
	var addrs []journal.Address
	for _, n := range numbers {
		addrs = append(addrs, got[n])
	}
	damagedBodies := 0
	err := j.Read(t.Context(), addrs, func(i int, r journal.Record, err error) {
		var damage *journal.DamageError
		switch want := message(numbers[i], sizeOf(numbers[i])); {
		case errors.As(err, &damage):
			damagedBodies++
		case err != nil || string(r.Body) != string(want.Body) || string(r.Head) != string(want.Head):
			lost = append(lost, numbers[i])
		}
	})
	if err != nil {
		return silent, err.Error()
	}
	if len(lost) == 0 && damagedBodies == 0 {
		if err := l.goOn(t, d, j, got); err != nil {
			return silent, "and then: " + err.Error() + "; " + why
		}
	}
	known := len(report.Damages) > 0 || report.TornBytes > 0
	switch {
	case len(lost) > 0 && (!known || len(said) == 0), damagedBodies > 0 && !known:
		return silent, fmt.Sprintf("lost %v and %d bodies; %s", lost, damagedBodies, why)
	case len(lost) > 0:
		return told, fmt.Sprintf("lost %v; %s", lost, why)
	case damagedBodies > 0:
		return bodies, why
	case known || len(said) > 0:
		return mentioned, why
	}
	return harmless, ""
}

// goOn appends to a journal that opened, stops it, and opens it again.
func (l *layout) goOn(t *testing.T, d *faultfs.Disk, j *file.Journal, got owned) error {
	d.Limit(0)
	j.Keep(maps.Values(got))
	const n = 1_000_000
	p, err := appendWait(j, message(n, sizeOf(n)))
	if err != nil {
		return err
	}
	if err := j.Close(); err != nil {
		return err
	}
	if j, err = file.Open(t.Context(), small(d)); err != nil {
		return err
	}
	defer j.Close() //nolint:errcheck // only read
	again, err := fold(t.Context(), j)
	if err != nil {
		return err
	}
	got[n] = journal.Address{Position: p}
	if !maps.Equal(again, got) {
		return fmt.Errorf("the next start finds %d messages, not %d", len(again), len(got))
	}
	return nil
}

// TestEveryDamageIsFoundOrHarmless damages every file that a start trusts, in every layout of a journal's life, and two
// files at once.
func TestEveryDamageIsFoundOrHarmless(t *testing.T) {
	share := amount(12, 24, 400)
	if *everyDamage || *everyByte {
		share = 1
	}
	random := rand.New(rand.NewPCG(7, 11))
	var mu sync.Mutex
	verdicts := map[string]int{}
	bad := 0
	t.Run("lives", func(t *testing.T) {
		for _, l := range lives(t) {
			damages := l.damages(random)
			for one := slices.Clone(damages); len(damages) < 2*len(one); { // and as many of two at once
				if a, b := one[random.IntN(len(one))], one[random.IntN(len(one))]; a.files[0] != b.files[0] {
					damages = append(damages, a.and(b))
				}
			}
			if *everyByte {
				damages = append(damages, l.flips(random)...)
			}
			t.Run(l.name, func(t *testing.T) {
				t.Parallel()
				for _, damage := range sampletest.Of(t, (len(damages)+share-1)/share, damages...) {
					d := l.disk.Clone()
					damage.do(d)
					verdict, why := l.judge(t, d)
					if verdict == silent && l.wiped(damage) {
						verdict = wiped
					}
					mu.Lock()
					verdicts[verdict]++
					switch verdict {
					case silent, unnamed, unchecked, altered:
						if bad++; bad <= 40 {
							t.Errorf("%v: %s: %s", damage, verdict, why)
						}
					}
					mu.Unlock()
				}
			})
		}
	})
	t.Logf("%v", verdicts)
}
