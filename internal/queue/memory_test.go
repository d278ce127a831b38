package queue

import (
	"github.com/hikyaku/hikyaku/internal/journal"
	inmemory "github.com/hikyaku/hikyaku/internal/journal/memory"
)

// memory is the journal that the tests of the Store run on, with the medium that outlives it. It keeps the whole log,
// and is strict about what the Store releases and keeps.
type memory struct {
	*inmemory.Journal
	*inmemory.Disk
}

func newMemory() *memory { return opened(inmemory.New()) }

func opened(d *inmemory.Disk) *memory { return openedWith(d, journal.Limits{}) }

// openedWith takes groups of these limits.
func openedWith(d *inmemory.Disk, l journal.Limits) *memory {
	j, err := d.Open(inmemory.Options{Durability: journal.Fsync, KeepAll: true, Limits: l,
		Strict: func(what string) { panic(what) }})
	if err != nil {
		panic(err)
	}
	return &memory{j, d}
}

// after is the journal that a restart finds: after a power cut, or after the death of the process.
func (m *memory) after(powerCut bool) *memory { return opened(m.After(powerCut)) }

// hold stops done functions (nothing becomes durable) until it is called with false.
func (m *memory) hold(on bool) { m.Hold(on) }

// refuse lets the journal refuse what comes, or no more.
func (m *memory) refuse(on bool) { m.Refuse(on) }

// last is the newest group.
func (m *memory) last() journal.Group {
	groups := m.Groups()
	return groups[len(groups)-1]
}
