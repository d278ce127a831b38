package file

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/message"
)

// place is what a queue refuses the second time.
type place struct {
	source string
	offset uint64
}

// story is a log, its reader, and a queue that heeds Origins.
type story struct {
	folder
	*running
	random  *rand.Rand
	notes   *notes
	config  Config
	queue   map[place]bool
	marks   map[string]uint64
	written []string
	got     []string
	renames int
}

// TestNoLineIsLostOrDoubledWhateverHappens tells random stories of a log: lines are appended, the file is renamed or
// truncated, the source is stopped and killed, lines come back. Whoever heeds Origins, as a queue does, gets every line
// once.
func TestNoLineIsLostOrDoubledWhateverHappens(t *testing.T) {
	for seed := range uint64(16) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			t.Parallel()
			f := newFolder(t)
			s := &story{
				folder: f, random: rand.New(rand.NewPCG(seed, 1)), notes: newNotes(),
				config: Config{Include: []string{f.path("log")}, MaxOpenFiles: 1 + int(seed%3), RotateWait: time.Hour},
				queue:  map[place]bool{}, marks: map[string]uint64{},
			}
			s.folder.append("log", "")
			s.begin(t)
			s.noted(t)
			for range 50 {
				s.step(t)
			}
			s.all()
			s.stop()
			slices.Sort(s.got)
			slices.Sort(s.written)
			if !slices.Equal(s.got, s.written) {
				t.Fatalf("got %d lines of %d: %q, want %q; notices %q", len(s.got), len(s.written), s.got, s.written,
					s.Notices())
			}
		})
	}
}

func (s *story) begin(t *testing.T) { s.running = begin(t, s.notes, s.config) }

func (s *story) step(t *testing.T) {
	switch s.random.IntN(11) {
	case 0, 1, 2:
		s.write()
	case 3, 4, 5:
		s.receive(1 + s.random.IntN(30))
	case 6, 7:
		s.renames++
		s.rename("log", fmt.Sprintf("log.%d", s.renames))
		s.folder.append("log", "")
		s.noted(t) // also while nobody takes what was read
	case 8:
		s.stop()
		s.begin(t)
	case 9:
		s.kill()
		s.begin(t)
	case 10:
		s.all()
		if s.random.IntN(2) == 0 {
			s.kill()
			defer s.begin(t)
		}
		s.truncate("log") // nobody can know of a line that is truncated before it is read
		s.write()
	}
}

// write appends lines.
func (s *story) write() {
	for range 1 + s.random.IntN(20) {
		l := fmt.Sprintf("line %d", len(s.written))
		s.folder.append("log", l+"\n")
		s.written = append(s.written, l)
	}
}

// all takes every line that was written.
func (s *story) all() {
	for end := time.Now().Add(time.Minute); len(s.got) < len(s.written) && time.Now().Before(end); {
		s.receive(100)
	}
}

// noted waits until the source has seen the present file: one that is renamed before anybody saw it cannot be known.
func (s *story) noted(t *testing.T) {
	st, err := os.Stat(s.path("log"))
	s.check(err)
	id, err := identity(st)
	s.check(err)
	eventually(t, "the new file is noted", func() bool {
		s.notes.mu.Lock()
		defer s.notes.mu.Unlock()
		_, noted := s.notes.kept[fmt.Sprintf("logs %x:%x", id.device, id.inode)]
		return noted
	})
}

// receive takes up to n lines, if they come.
func (s *story) receive(n int) {
	for range n {
		select {
		case d := <-s.running.got:
			switch s.random.IntN(10) {
			case 0: // it is in the queue, and nobody has said so yet
				s.accept(d.Message)
				defer d.Settle(component.OK(time.Now()))
			case 1:
				d.Settle(component.Again(0, errors.New("no room")))
			default:
				s.accept(d.Message)
				d.Settle(component.OK(time.Now()))
			}
		case <-time.After(time.Millisecond):
			return
		}
	}
}

func (s *story) accept(m *message.Message) {
	p := place{m.Origin.Source, m.Origin.Offset}
	if s.queue[p] || p.offset < s.marks[p.source] {
		return
	}
	s.queue[p] = true
	s.marks[p.source] = max(s.marks[p.source], m.Origin.Mark)
	s.got = append(s.got, string(m.Body))
}
