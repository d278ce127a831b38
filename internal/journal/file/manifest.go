package file

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/durable"
	"github.com/hikyaku/hikyaku/internal/journal"
)

// The manifest lies in two files that are written in turn, in place: so a change needs no new room on a full disk, and
// a write that was cut off leaves the one before it.
const (
	manifestFiles  = 2
	manifestPrefix = "manifest-"
	manifestStep   = 64 << 10 // they grow by this
)

// manifest is the list of the segments there are, those of the log and the cold ones. Without it a segment that
// somebody removed could not be told from one that was reclaimed.
type manifest struct {
	turn      uint64            // counts writes; the greater one is in force
	segments  []manifestSegment // by base
	dropped   []manifestSegment // reclaimed, the files perhaps not removed yet
	colds     []manifestCold    // by number
	log       logIdentity       // what a checkpoint has to fit
	reclaimed bool              // a segment was reclaimed: the log no longer begins at its beginning
	clean     bool              // closed properly: the newest segment ends where its row says
}

// manifestSegment is a row of the manifest.
type manifestSegment struct {
	base       journal.Position
	generation uint64
	end        int64 // of a sealed segment, or of the newest one after a clean close; 0 when not known
}

// manifestCold is the row of a cold segment.
type manifestCold struct {
	number      uint32
	generation  uint64
	footer, end int64 // offsets
}

var errManifest = errors.New("not a sound manifest")

// clone is for changing: j.manifest is replaced when the change is durable.
func (m *manifest) clone() manifest {
	c := *m
	c.segments = slices.Clone(m.segments)
	c.dropped = slices.Clone(m.dropped)
	c.colds = slices.Clone(m.colds)
	return c
}

// encode writes the manifest as text that a person can read.
func (m *manifest) encode() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "hikyaku journal %d\n", formatVersion)
	fmt.Fprintf(&b, "turn %d\n", m.turn)
	if m.log.number != 0 {
		fmt.Fprintf(&b, "log %08x floor %016x\n", m.log.number, uint64(m.log.floor))
	}
	for _, s := range m.segments {
		fmt.Fprintf(&b, "segment %016x generation %016x end %d\n", uint64(s.base), s.generation, s.end)
	}
	for _, s := range m.dropped {
		fmt.Fprintf(&b, "dropped %016x generation %016x end %d\n", uint64(s.base), s.generation, s.end)
	}
	for _, c := range m.colds {
		fmt.Fprintf(&b, "cold %08x generation %016x footer %d end %d\n", c.number, c.generation, c.footer, c.end)
	}
	fmt.Fprintf(&b, "reclaimed %t\nclean %t\n", m.reclaimed, m.clean)
	fmt.Fprintf(&b, "crc %08x\n", crc32.Checksum(b.Bytes(), castagnoli))
	return b.Bytes()
}

func decodeManifest(b []byte) (*manifest, error) {
	body, rest, ok := strings.Cut(string(b), "crc ")
	if !ok {
		return nil, fmt.Errorf("%w: it has no checksum", errManifest)
	}
	sum := rest[:min(len(rest), len("01234567\n"))] // behind it is nothing that counts
	if want := fmt.Sprintf("%08x\n", crc32.Checksum([]byte(body), castagnoli)); sum != want {
		return nil, fmt.Errorf("%w: its checksum is %s, should be %q", errManifest, strings.TrimSpace(want), sum)
	}
	lines := strings.Split(strings.TrimSuffix(body, "\n"), "\n")
	var version int
	if _, err := fmt.Sscanf(lines[0], "hikyaku journal %d", &version); err != nil {
		return nil, fmt.Errorf("%w: it begins with %q", errManifest, lines[0])
	}
	if version != formatVersion {
		return nil, unknownFormat(uint64(version))
	}
	m := &manifest{}
	for _, line := range lines[1:] {
		var s manifestSegment
		word, _, _ := strings.Cut(line, " ")
		var err error
		switch word {
		case "turn":
			_, err = fmt.Sscanf(line, "turn %d", &m.turn)
		case "log":
			var floor uint64
			_, err = fmt.Sscanf(line, "log %x floor %x", &m.log.number, &floor)
			m.log.floor = journal.Position(floor)
		case "segment", "dropped":
			var base uint64
			_, err = fmt.Sscanf(line[len(word):], " %x generation %x end %d", &base, &s.generation, &s.end)
			s.base = journal.Position(base)
			if word == "segment" {
				m.segments = append(m.segments, s)
			} else {
				m.dropped = append(m.dropped, s)
			}
		case "cold":
			var c manifestCold
			_, err = fmt.Sscanf(line, "cold %x generation %x footer %d end %d", &c.number, &c.generation, &c.footer,
				&c.end)
			m.colds = append(m.colds, c)
		case "reclaimed":
			_, err = fmt.Sscanf(line, "reclaimed %t", &m.reclaimed)
		case "clean":
			_, err = fmt.Sscanf(line, "clean %t", &m.clean)
		default:
			err = errors.New("unknown word")
		}
		if err != nil { // the checksum fits
			return nil, &journal.FormatError{What: "the journal",
				Reason: fmt.Sprintf("this one does not understand the line %q: %v", line, err)}
		}
	}
	for i := range max(0, len(m.segments)-1) {
		if m.segments[i].base >= m.segments[i+1].base {
			return nil, fmt.Errorf("%w: its segments are not in rising order", errManifest)
		}
	}
	for i := range max(0, len(m.colds)-1) {
		if m.colds[i].number >= m.colds[i+1].number {
			return nil, fmt.Errorf("%w: its cold segments are not in rising order", errManifest)
		}
	}
	return m, nil
}

func manifestName(dir string, turn uint64) string {
	return filepath.Join(dir, fmt.Sprintf("%s%d", manifestPrefix, turn%manifestFiles))
}

// lists are the files of the manifest. They stay open: the list has to change also while the process may open no more
// files.
type lists struct {
	fs    FS
	dir   string
	lock  Lock // of dir
	files [manifestFiles]listFile
}

type listFile struct {
	File      // nil: it was not opened yet
	made bool // its name is not durable
}

// open returns the file of a turn. It is opened when it is not, or its name leads to it no longer. While there are no
// handles it fails with journal.ErrRefused.
func (l *lists) open(turn uint64) (*listFile, error) {
	name, f := manifestName(l.dir, turn), &l.files[turn%manifestFiles]
	if f.File != nil && leadsTo(l.fs, name, f) {
		return f, nil
	}
	opened, err := l.fs.Open(name, false)
	made := missing(err)
	if made {
		opened, err = l.fs.Create(name)
	}
	if err != nil {
		if err = fmt.Errorf("open manifest %s: %w", name, err); outOfHandles(err) {
			err = fmt.Errorf("%w: %w", journal.ErrRefused, err)
		}
		return nil, err
	}
	if f.File != nil {
		_ = f.Close() // nothing in it counts any more
	}
	*f = listFile{opened, made}
	return f, nil
}

func (l *lists) close() error {
	var errs []error
	for i := range l.files {
		if f := &l.files[i]; f.File != nil {
			errs = append(errs, f.Close())
			f.File = nil
		}
	}
	return errors.Join(errs...)
}

// write makes m durable as the manifest in force. When it fails with journal.ErrRefused nothing has changed.
func (l *lists) write(m *manifest) error {
	m.turn++
	if m.log.number == 0 {
		m.log.number = newLogNumber()
	}
	return l.confirm(m)
}

// confirm makes sure that a manifest that was read is durable: the process that wrote it may have been killed before
// its sync. The same bytes in the same place cannot make it worse.
func (l *lists) confirm(m *manifest) error {
	f, err := l.open(m.turn)
	if err != nil {
		return err
	}
	if err := m.writeTo(f); err != nil {
		return fmt.Errorf("write manifest %s: %w", manifestName(l.dir, m.turn), err)
	}
	if f.made {
		if err := l.lock.SyncDir(); err != nil {
			return err
		}
		f.made = false
	}
	return nil
}

func (m *manifest) writeTo(f File) error {
	size, err := f.Size()
	if err != nil {
		return err
	}
	b := m.encode()
	// Grown ahead of need: the last changes on a full disk have to fit.
	if want := (int64(len(b))/manifestStep + 1) * manifestStep; size < want || size-int64(len(b)) < manifestStep/4 {
		err := f.Preallocate(max(want, size+manifestStep))
		if fits := size >= int64(len(b)); err != nil && !(fits && durable.Full(err)) {
			return err
		}
		if size, err = f.Size(); err != nil {
			return err
		}
	}
	b = append(b, make([]byte, max(0, int(size)-len(b)))...) // over what the last turn left
	if _, err := f.WriteAt(b, 0); err != nil {
		return err
	}
	return f.Datasync()
}

// readFile reads a whole small file.
func readFile(fsys FS, name string) ([]byte, error) {
	f, err := fsys.Open(name, true)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	if err != nil {
		return nil, err
	}
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && n == len(b)) {
		return nil, err
	}
	return b, nil
}

const tmpSuffix = ".tmp"

func ignoreMissing(err error) error {
	if missing(err) {
		return nil
	}
	return err
}
