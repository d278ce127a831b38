// Package file is a source that makes a message of each line of files, and of what is appended to them.
//
//	sources:
//	  logs: { type: file, include: [/var/log/app/*.log], exclude: [/var/log/app/debug.log] }
//
// It follows files that grow, finishes a file that was renamed before it goes on with the new one of its name, and
// begins again with a file that was truncated. It remembers its place in every file: a note in the store holds the
// offset below which everything is settled. A file is known by device, inode, time of birth and its bytes, not by its
// name, so a renamed file is not read again and a new file of an old name is read from its beginning.
//
// Every message carries its Origin: a name given to the file when it was first seen, and the byte offset of the line.
// Lines that were delivered and not yet noted are sent again after a kill, and a queue refuses them as duplicates.
//
// An unfinished line at the end of a file waits for its end; it is delivered as it is when the file was renamed or
// deleted and nothing more came, or when the source does not follow.
//
// Patterns are those of path/filepath.Match; "**" is not among them.
package file

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/lines"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Config is the source's settings.
type Config struct {
	// Include are the patterns of the files to read.
	Include []string `yaml:"include"`
	// Exclude are patterns of files to leave out of them.
	Exclude []string `yaml:"exclude"`
	// Follow waits for what is appended and for new files. Not set: true. false reads to the end of the files there
	// are, and ends.
	Follow *bool `yaml:"follow"`
	// ReadFrom says where to begin in files that are there at the start and were never read: "beginning" or "end". "":
	// beginning.
	ReadFrom string `yaml:"read_from" oneof:"beginning end"`
	// PollInterval is how often to look at files whose changes the operating system does not tell. 0: 250 ms.
	PollInterval time.Duration `yaml:"poll_interval"`
	// RotateWait is how long a file that was renamed or deleted is still read. 0: 5 s.
	RotateWait time.Duration `yaml:"rotate_wait"`
	// MaxLineBytes bounds a line, without its end. 0: 1 MiB.
	MaxLineBytes int `yaml:"max_line_bytes" min:"0"`
	// SkipLongLines passes over a longer line, with a notice. Without it such a line ends the run.
	SkipLongLines bool `yaml:"skip_long_lines"`
	// SkipEmpty passes over lines without a byte. Not set: true.
	SkipEmpty *bool `yaml:"skip_empty"`
	// MaxOpenFiles bounds the files open at once. 0: 256.
	MaxOpenFiles int `yaml:"max_open_files" min:"0"`
	// PathAttribute names an attribute that gets the path of the line's file. "": none.
	PathAttribute string `yaml:"path_attribute"`
}

// Defaults of Config.
const (
	DefaultPollInterval = 250 * time.Millisecond
	DefaultRotateWait   = 5 * time.Second
	DefaultMaxOpenFiles = 256
)

const (
	room       = "source/file"
	turnLines  = 256 // lines of one file before it is another's turn
	outboxSize = 64  // lines that were read and wait for the pipeline
	maxNotices = 20
)

// ErrNoStore: the source has nowhere to remember its places.
var ErrNoStore = errors.New("there is no store to remember places in files")

// memory is the part of a store that the source needs.
type memory interface {
	KeepNotes(ctx context.Context, notes ...queue.Note) error
	Notes(ctx context.Context, room string) ([]queue.Note, error)
}

// Source reads files.
type Source struct {
	name      string
	config    Config
	follow    bool
	skipEmpty bool
	memory    memory
	watching  bool // tests of the polling switch it off

	courier *lines.Courier
	out     component.Out
	watcher *watcher
	outbox  chan lines.Send // from the goroutine that reads to the one that sends

	// Of the goroutine that reads.
	order   []*tail          // in the order of their turns
	named   map[string]*tail // by the paths of the last look around
	looks   int
	known   map[fileID]note
	unseen  map[fileID]note // of known, those that no look around has come to terms with
	scanned bool            // the first look around is over
	tick    *time.Ticker
	current *tail // whose turn it is
	looking bool  // a look around goes on in the middle of a turn
	open    int

	saving sync.Mutex // held while notes are made and written

	mu      sync.Mutex // guards what follows
	tails   map[fileID]*tail
	notices []string
	more    int // notices that found no room
}

// New checks the settings.
func New(c Config, env component.Env) (component.Source, error) {
	s := &Source{
		name:      env.Name,
		follow:    c.Follow == nil || *c.Follow,
		skipEmpty: c.SkipEmpty == nil || *c.SkipEmpty,
		watching:  true,
		tails:     map[fileID]*tail{},
	}
	if m, ok := any(env.Store).(memory); ok && env.Store != nil {
		s.memory = m
	}
	if err := checkPatterns(c); err != nil {
		return nil, err
	}
	switch c.ReadFrom {
	case "", "beginning", "end":
	default:
		return nil, component.Setting("read_from", fmt.Errorf(`%q is neither "beginning" nor "end"`, c.ReadFrom))
	}
	for name, n := range map[string]int64{
		"poll_interval": int64(c.PollInterval), "rotate_wait": int64(c.RotateWait),
		"max_line_bytes": int64(c.MaxLineBytes), "max_open_files": int64(c.MaxOpenFiles),
	} {
		if n < 0 {
			return nil, component.Setting(name, errors.New("is negative"))
		}
	}
	s.config = withDefaults(c)
	return s, nil
}

func withDefaults(c Config) Config {
	if c.PollInterval == 0 {
		c.PollInterval = DefaultPollInterval
	}
	if c.RotateWait == 0 {
		c.RotateWait = DefaultRotateWait
	}
	if c.MaxOpenFiles == 0 {
		c.MaxOpenFiles = DefaultMaxOpenFiles
	}
	return c
}

func checkPatterns(c Config) error {
	if len(c.Include) == 0 {
		return component.Setting("include", errors.New("name at least one file or pattern"))
	}
	for setting, patterns := range map[string][]string{"include": c.Include, "exclude": c.Exclude} {
		for i, p := range patterns {
			at := fmt.Sprintf("%s[%d]", setting, i)
			if _, err := filepath.Match(p, ""); err != nil {
				return component.Setting(at, fmt.Errorf("%q: %w", p, err))
			}
			if p == "" || strings.Contains(p, "**") {
				return component.Setting(at,
					fmt.Errorf(`%q is not a pattern: * stays within one folder, and there is no "**"`, p))
			}
		}
	}
	return nil
}

// Start reads the notes of earlier runs, and forgets those of other sources that nobody will ask for.
func (s *Source) Start(ctx context.Context) error {
	if s.memory == nil {
		return ErrNoStore
	}
	s.known, s.unseen = map[fileID]note{}, map[fileID]note{}
	notes, err := s.memory.Notes(ctx, room)
	if err != nil {
		return err
	}
	for _, n := range notes {
		id, ok := s.parseKey(n.Key)
		if !ok {
			continue
		}
		kept, err := parseNote(n.Value)
		if err != nil {
			return fmt.Errorf("note %q of %s: %w", n.Key, room, err)
		}
		s.known[id], s.unseen[id] = kept, kept
	}
	s.forgetOthers(ctx, notes)
	return nil
}

// Close notes the places and lets go of the files.
func (s *Source) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	var err error
	if s.memory != nil {
		err = s.save(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tails {
		t.close()
	}
	return err
}

// Notices tells what a person should know: lines that were skipped, files that cannot be read.
func (s *Source) Notices() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ns := append([]string(nil), s.notices...)
	if s.more > 0 {
		ns = append(ns, fmt.Sprintf("and %d more", s.more))
	}
	return ns
}

func (s *Source) notice(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := fmt.Sprintf(format, args...)
	for _, n := range s.notices {
		if n == text {
			return
		}
	}
	if len(s.notices) == maxNotices {
		s.more++
		return
	}
	s.notices = append(s.notices, text)
}
