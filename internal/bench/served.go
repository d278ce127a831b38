package bench

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"

	"github.com/hikyaku/hikyaku/internal/journal"
)

// served is what the process of ServeQ4M says: first where it listens, then, for each line that it reads, how things
// stand.
type served struct {
	Addr     string        `json:"addr,omitempty"`
	Messages int64         `json:"messages"`
	Journal  journal.Stats `json:"journal"`
}

// What a server is told, a line each.
const (
	sayStats = "stats" // nothing but to answer
	sayTake  = "take"  // to begin to take away what clients put
)

// answer says how things stand whenever it is asked.
func (r *rig) answer(in io.Reader, out io.Writer, addr string, taking chan<- struct{}) error {
	write := json.NewEncoder(out)
	if err := write.Encode(served{Addr: addr}); err != nil {
		return err
	}
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if taking != nil && lines.Text() == sayTake {
			close(taking)
			taking = nil
		}
		s := served{Journal: r.store.JournalStats()}
		for _, n := range r.store.Queues() {
			st, err := r.store.Stats(n)
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

// errProtocol: the server says something that this client does not know.
var errProtocol = errors.New("the server's answer cannot be read")
