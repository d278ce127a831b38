//go:build amd64 || arm64

package isolate

import (
	"slices"

	"golang.org/x/sys/unix"
)

// Memo keeps the steps that make the files of a Plan's rooms, and what they were made of. Like Ways, it is for one
// thread.
type Memo struct {
	files *script
	seen  []identity
}

// identity is which file a path of the machine names; zero: none.
type identity struct{ device, inode uint64 }

// identities are those of what a Plan names.
func identities(paths []string) []identity {
	all := make([]identity, len(paths))
	for i, path := range paths {
		var s unix.Stat_t
		if unix.Stat(path, &s) == nil {
			all[i] = identity{uint64(s.Dev), s.Ino}
		}
	}
	return all
}

// named are the paths of the machine that decide what a room is made of.
func (p *Plan) named() []string {
	return slices.Concat(systemFolders, systemFiles, p.See, p.Hide, p.Layers, p.Programs, []string{p.Code})
}

// files are the steps that make a room's files, and what they are made of: a folder that was replaced is another one,
// and what was missing may be there now.
func (w *Ways) files(p *Plan) (*script, []identity) {
	if p.Memo == nil {
		s := &script{}
		s.files(w.at, p, w.Proc)
		return s, nil
	}
	m := p.Memo
	if seen := identities(p.named()); m.files == nil || !slices.Equal(seen, m.seen) {
		m.files, m.seen = &script{}, seen
		m.files.files(w.at, p, w.Proc)
	}
	return m.files, m.seen
}

// Usable tells whether programs can be started in the room, and see what they would see in one that is made now, as far
// as its Plan has a Memo.
func (r *Room) Usable() bool {
	if r.pidfd >= 0 {
		if n, err := unix.Poll([]unix.PollFd{{Fd: int32(r.pidfd), Events: unix.POLLIN}}, 0); err != nil || n > 0 {
			return false // nobody holds it
		}
	}
	return r.made == nil || slices.Equal(identities(r.plan.named()), r.made)
}
