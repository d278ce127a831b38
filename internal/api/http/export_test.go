package http

import (
	"time"

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
