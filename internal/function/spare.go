package function

import (
	"slices"
	"sync"

	"github.com/hikyaku/hikyaku/internal/function/isolate"
)

// maxSpares is how many rooms there are at most that were made ahead. Each is a process that waits, and a table of
// mounts.
const maxSpares = 32

// spares are rooms that were made ahead, one for the next instance of a function: making one is most of what isolation
// adds to a start.
type spares struct {
	mu     sync.Mutex
	closed bool
	all    []*spare // the one begun first at the front
}

// spare is a room that was made, or is being made. It belongs to who has taken it from the list.
type spare struct {
	of   *function
	made chan struct{} // closed when room is there, or could not be made
	room *isolate.Room
}

// begin enters a room that the caller will make; nil: there is one, or it would be of no use. first is the one begun
// first where there are too many now, for the caller to close.
func (s *spares) begin(f *function) (o, first *spare) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || slices.ContainsFunc(s.all, func(o *spare) bool { return o.of == f }) {
		return nil, nil
	}
	o = &spare{of: f, made: make(chan struct{})}
	s.all = append(s.all, o)
	if len(s.all) > maxSpares {
		first = s.all[0]
		s.all = slices.Delete(s.all, 0, 1)
	}
	return o, first
}

// take is the room that was begun for a function, now the caller's; nil: none was.
func (s *spares) take(f *function) *spare {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, o := range s.all {
		if o.of == f {
			s.all = slices.Delete(s.all, i, i+1)
			return o
		}
	}
	return nil
}

// wait is the room when it is made; nil: there is none.
func (o *spare) wait() *isolate.Room {
	if o == nil {
		return nil
	}
	<-o.made
	return o.room
}

func (o *spare) close() { o.wait().Close() }

// close ends all of them; none comes later.
func (s *spares) close() {
	s.mu.Lock()
	all := s.all
	s.all, s.closed = nil, true
	s.mu.Unlock()
	for _, o := range all {
		o.close()
	}
}

// room is a room for an instance, made ahead or now.
func (f *function) room(p isolate.Plan) (*isolate.Room, error) {
	if room := f.pool.spares.take(f).wait(); room != nil {
		if room.Usable() {
			return room, nil
		}
		room.Close()
	}
	return f.pool.starter.Room(p)
}

// prepare has a room made ahead, by somebody for whom the pool's Close waits. The caller is in the pool, too: a Deploy
// or an instance. Where it cannot be made, the next instance makes its own and says why it cannot.
func (f *function) prepare() {
	p := f.pool
	if !p.starter.Isolation().Room {
		return
	}
	o, first := p.spares.begin(f)
	if o == nil {
		return
	}
	if first != nil {
		p.wait.Go(first.close) // it may still be being made
	}
	p.wait.Go(func() {
		defer close(o.made)
		start, err := f.program("/tmp")
		if err != nil {
			return
		}
		if room, err := p.starter.Room(f.plan(start.Path)); err == nil {
			o.room = room
		}
	})
	f.mu.Lock()
	ended := f.ended
	f.mu.Unlock()
	if ended { // meanwhile: whoever ended it found none yet
		p.spares.take(f).close()
	}
}
