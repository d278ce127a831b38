package file

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// manifestSlot is one of the manifest's two files as it was found.
type manifestSlot struct {
	name    string
	content []byte
	missing bool
	m       *manifest            // nil: it cannot be read
	damage  *journal.DamageError // why
}

// manifests are both, and what follows from them.
type manifests struct {
	slots   [manifestFiles]manifestSlot
	current *manifest // in force: the sound one of the higher turn; nil without a sound one

	// damage is what no crash leaves: a file that is gone, cut short or empty, a turn that is not next to the other's.
	damage *journal.DamageError
	// doubt is a file that cannot be read while the other can: a write that was cut off looks so, and so does damage.
	// What the rest of the folder shows decides: while a manifest is written nothing is acknowledged that only the new
	// one tells of.
	doubt *journal.DamageError
}

// readManifests reads both files and judges them.
func readManifests(fsys FS, dir string) (*manifests, error) {
	ms := &manifests{}
	for i := range ms.slots {
		sl := &ms.slots[i]
		sl.name = manifestName(dir, uint64(i))
		b, err := readFile(fsys, sl.name)
		switch {
		case missing(err):
			sl.missing = true
			sl.damage = damageAt(sl.name, 0, "the file is missing")
			continue
		case err != nil:
			return nil, fmt.Errorf("read manifest: %w", err)
		}
		sl.content = b
		if sl.m, err = decodeManifest(b); err != nil {
			var format *journal.FormatError
			if errors.As(err, &format) {
				format.Where = sl.name
				return nil, format
			}
			sl.damage = damageAt(sl.name, 0, err.Error())
		} else if sl.m.turn%manifestFiles != uint64(i) {
			sl.damage = damageAt(sl.name, 0, fmt.Sprintf("it is a copy of the other one: turn %d belongs there",
				sl.m.turn))
			sl.m = nil
		}
	}
	ms.judge()
	return ms, nil
}

func (ms *manifests) judge() {
	a, b := &ms.slots[0], &ms.slots[1] // b is to be in force
	switch {
	case a.m == nil && b.m == nil:
		return
	case b.m == nil, a.m != nil && a.m.turn > b.m.turn:
		a, b = b, a
	}
	ms.current = b.m
	first := b.m.turn <= 1 // the other file may not have been written yet
	switch {
	case a.m != nil && b.m.turn-a.m.turn != 1:
		ms.damage = damageAt(a.name, 0,
			fmt.Sprintf("it is of turn %d, %s of turn %d: one of them is a copy from before", a.m.turn, b.name,
				b.m.turn))
	case a.m != nil, first && a.missing:
	case first:
		ms.doubt = a.damage
	case a.missing, len(a.content) < manifestStep, len(bytes.Trim(a.content, "\x00")) == 0:
		ms.damage = a.damage
	default:
		ms.doubt = a.damage
	}
}

// begun says whether a journal has begun in a folder with these names in it: before anything else the first manifest is
// written.
func begun(names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		_, isSegment := parseSegmentName(name)
		_, isCold := parseColdName(name)
		_, isSpare := parseSpareName(name)
		return isSegment || isCold || isSpare || name == noteName || name == manifestPrefix+"0" ||
			strings.HasPrefix(name, checkpointPrefix)
	})
}

// findManifest returns the manifests of a folder, none of them in force where no journal has begun. It refuses what is
// damaged for certain.
func findManifest(fsys FS, dir string, names []string) (*manifests, error) {
	ms, err := readManifests(fsys, dir)
	switch {
	case err != nil:
		return nil, err
	case ms.damage != nil:
		return nil, ms.damage
	case ms.current != nil || !begun(names):
		return ms, nil
	}
	for _, sl := range ms.slots {
		if !sl.missing {
			return nil, sl.damage
		}
	}
	return nil, damageAt(manifestName(dir, 0), 0, "the manifest is missing, but other files of the journal are there")
}

// blame says of damage elsewhere that a manifest cannot be read, which may be why.
func (ms *manifests) blame(err error) error {
	var d *journal.DamageError
	if ms.doubt == nil || !errors.As(err, &d) {
		return err
	}
	both := *ms.doubt
	both.What += fmt.Sprintf("; and what the other manifest lists does not fit: in %s: %s", d.Where, d.What)
	return &both
}
