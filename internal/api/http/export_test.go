package http

import (
	"context"
	"time"
	"unsafe"

	"github.com/hikyaku/hikyaku/internal/message"
)

// Routes lists method and path of every route, and its operation.
func Routes() map[string]string {
	all := map[string]string{}
	for _, r := range new(Server).routes() {
		all[r.method+" "+r.path] = r.operation
	}
	return all
}

// DecodePut is what a body of application/json is read with.
func DecodePut(data []byte, now time.Time) ([]message.Message, bool, error) {
	return decodePut(data, now)
}

// ContentOf shows a message as a claim or a peek does.
func ContentOf(m *message.Message) Content { return content(m, m.Body, false) }

// ProblemOf is the table from errors to problems.
func ProblemOf(err error) (*Problem, bool) { return problemOf(err) }

// AgeTop makes what was looked at for top so many seconds older.
func (s *Server) AgeTop(seconds int) {
	s.busiest.turn <- struct{}{}
	s.busiest.last.at = s.busiest.last.at.Add(-time.Duration(seconds) * time.Second)
	<-s.busiest.turn
}

// Record has the door record the past as if it were open, until ctx ends; wait waits for that.
func (s *Server) Record(ctx context.Context) (wait func()) {
	s.past.start(ctx)
	return s.past.wait
}

// PastSize is how many bytes the tracks have, and of how many queues, components and doors.
func (s *Server) PastSize() (bytes, queues, others int) {
	s.past.mu.Lock()
	defer s.past.mu.Unlock()
	bytes = int(unsafe.Sizeof(*s.past.sum))
	for n := range s.past.queues {
		bytes += int(unsafe.Sizeof(queueTrack{})+unsafe.Sizeof(n)) + len(n.Namespace) + len(n.Name)
	}
	for key := range s.past.others {
		bytes += int(unsafe.Sizeof(track{})+unsafe.Sizeof(key)) + len(key)
	}
	return bytes, len(s.past.queues), len(s.past.others)
}
