package replica

import (
	"context"
	"errors"
	"fmt"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/raft"
)

// Stopped is the log in the folders of nodes that do not run. It is only read: the journal takes nothing.
type Stopped struct {
	journal.Journal
	Dir string // the folder whose copy it is
	// Few is why something that was acknowledged may not be in it: the folders are of too few nodes. Else nil.
	Few    error
	copies []journal.Journal
}

// OpenStopped opens the log in folders of nodes, or in copies of such folders that were made when all nodes had been
// stopped: of the copies in them the one that has everything, if they are of most nodes. The caller closes it; until
// then no node can be started over one of the folders.
func OpenStopped(ctx context.Context, dirs []string) (s *Stopped, err error) {
	s = &Stopped{}
	defer func() {
		if err != nil {
			s, err = nil, errors.Join(err, s.Close())
		}
	}()
	var all []*raft.Stopped
	for _, dir := range dirs {
		f := folder{dir: dir}
		id, _, err := f.id()
		if err == nil && id == 0 {
			err = raft.ErrNoLog
		}
		name := logName
		if f.has(readyName) { // it takes the other's place when the node is started
			name = readyName
		}
		if err == nil && !f.has(name) {
			err = raft.ErrNoLog
		}
		var local journal.Journal
		if err == nil {
			local, err = f.open(ctx, name)
		}
		if err != nil {
			return s, fmt.Errorf("%s: %w", dir, err)
		}
		s.copies = append(s.copies, local)
		c, err := raft.ReadStopped(ctx, id, local)
		if err != nil {
			return s, fmt.Errorf("%s: %w", dir, err)
		}
		all = append(all, c)
	}
	best, err := raft.Newest(ctx, all)
	var few *raft.FewError
	if errors.As(err, &few) {
		s.Few, err = few, nil
	}
	if err != nil {
		return s, err
	}
	for i, c := range all {
		if c == best {
			s.Dir = dirs[i]
		}
	}
	s.Journal = best.Journal()
	return s, nil
}

// Close implements journal.Journal. It closes the copies, too.
func (s *Stopped) Close() (err error) {
	if s.Journal != nil {
		err = s.Journal.Close()
	}
	for _, j := range s.copies {
		err = errors.Join(err, j.Close())
	}
	return err
}
