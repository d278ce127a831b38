package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// Served is what the process of ServeQ4M says: first where it listens, then, for each line that it reads, how things
// stand.
type Served struct {
	Addr     string        `json:"addr,omitempty"`
	Messages int64         `json:"messages"`
	Journal  journal.Stats `json:"journal"`
}

// What a server is told, a line each.
const (
	SayStats = "stats" // nothing but to answer
	SayTake  = "take"  // to begin to take away what clients put
)

// Answer says how things stand whenever it is asked.
func (r *Rig) Answer(ctx context.Context, in io.Reader, out io.Writer, addr string, taking chan<- struct{}) error {
	write := json.NewEncoder(out)
	if err := write.Encode(Served{Addr: addr}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if taking != nil && lines.Text() == SayTake {
			close(taking)
			taking = nil
		}
		s := Served{Journal: r.Store.JournalStats()}
		queues, err := r.Store.Queues(ctx)
		if err != nil {
			return err
		}
		for _, n := range queues {
			st, err := r.Store.Stats(ctx, n)
			if err != nil {
				return err
			}
			s.Messages += st.Messages()
		}
		if err := write.Encode(s); err != nil {
			return err
		}
	}
	return lines.Err()
}

// ErrProtocol: the server says something that this client does not know.
var ErrProtocol = errors.New("the server's answer cannot be read")
