package start

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/prometheus/procfs"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// served is what starts of servers took, and what the last of them had in memory.
type served struct {
	spent
	resident, own uint64 // bytes; 0: this system does not tell
}

func newServed() *served { return &served{spent: *newSpent()} }

func (f *served) row(r *measure.Row) *measure.Row {
	f.spent.row(r)
	if f.resident > 0 {
		r.Set("rss_mb", harness.Megabytes(int64(f.resident))).Set("own_mb", harness.Megabytes(int64(f.own)))
	}
	return r
}

// anyPorts opens each door at a port that is free.
const anyPorts = `data_dir: %s
api:
  http: { listen: 127.0.0.1:0 }
  pubsub: { listen: 127.0.0.1:0 }
  sqs: { listen: 127.0.0.1:0 }
  lambda: { listen: 127.0.0.1:0 }
` + mysqlDoor

// httpDoor is what a start says of its HTTP door.
var httpDoor = regexp.MustCompile(`door=http address=(\S+)`)

// once starts a server in a folder, puts a message, lets it rest, looks at its memory and stops it.
func (f *served) once(ctx context.Context, program []string, home string, rest time.Duration) (err error) {
	settings := filepath.Join(home, "hikyaku.yaml")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return fmt.Errorf("make a folder for a server: %w", err)
	}
	if err := os.WriteFile(settings, fmt.Appendf(nil, anyPorts, filepath.Join(home, "data")), 0o600); err != nil {
		return fmt.Errorf("write the configuration of a server: %w", err)
	}
	args := append(program[1:len(program):len(program)], "serve", "-c", settings)
	cmd := exec.CommandContext(ctx, program[0], args...)
	log, err := cmd.StderrPipe()
	if err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start a server: %w", err)
	}
	said := bufio.NewReader(log)
	defer func() {
		ended := cmd.Process.Signal(os.Interrupt)
		left, _ := io.ReadAll(said)
		if ended = errors.Join(ended, cmd.Wait()); ended != nil {
			err = errors.Join(err, fmt.Errorf("end the server: %w: %s", ended, left))
		}
	}()
	address, err := doorIn(said)
	if err != nil {
		return err
	}
	if err := put(ctx, address); err != nil {
		return err
	}
	f.wall.Record(time.Since(began))
	select {
	case <-time.After(rest):
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	f.look(cmd.Process.Pid)
	return nil
}

// doorIn reads the log of a start until it says where the HTTP door is.
func doorIn(log *bufio.Reader) (address string, err error) {
	var said strings.Builder
	for {
		line, err := log.ReadString('\n')
		said.WriteString(line)
		if at := httpDoor.FindStringSubmatch(line); at != nil {
			return at[1], nil
		}
		if err != nil {
			return "", fmt.Errorf("the server opened no HTTP door: %w: %s", err, said.String())
		}
	}
}

// put puts a message and waits until it is durable.
func put(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+address+"/default/queues/q/messages",
		strings.NewReader("hello"))
	if err != nil {
		return fmt.Errorf("put a message: %w", err)
	}
	r.Header.Set("Content-Type", "text/plain")
	r.Close = true
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return fmt.Errorf("put a message: %w", err)
	}
	text, err := io.ReadAll(answer.Body)
	if err = errors.Join(err, answer.Body.Close()); err != nil {
		return fmt.Errorf("put a message: %w", err)
	}
	if answer.StatusCode/100 != 2 {
		return fmt.Errorf("put a message: %s: %s", answer.Status, text)
	}
	return nil
}

// look notes what a process has in memory, and the processor's time that it has taken, where the system tells.
func (f *served) look(pid int) {
	p, err := procfs.NewProc(pid)
	if err != nil {
		return
	}
	if s, err := p.NewStatus(); err == nil {
		f.resident, f.own = s.VmRSS, s.RssAnon
	}
	if s, err := p.Stat(); err == nil {
		f.cpu += time.Duration(s.CPUTime() * float64(time.Second))
		f.n++
	}
}
