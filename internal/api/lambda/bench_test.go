package lambda

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// BenchmarkWarmInvoke is clients that invoke a function in Go, each over a connection that stays. It shows what
// processor time an invocation costs this process, clients included, and the function's own processes.
func BenchmarkWarmInvoke(b *testing.B) {
	folder := b.TempDir()
	text, err := os.ReadFile("../../bench/functions/golang/main.go")
	if err != nil {
		b.Fatal(err)
	}
	for name, text := range map[string]string{"main.go": string(text), "go.mod": "module functions\n"} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	build := exec.Command("go", "build", "-o", "bootstrap", ".")
	build.Dir = folder
	if out, err := build.CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, clients := range []int{1, 16} {
		b.Run(strconv.Itoa(clients), func(b *testing.B) {
			r := openRig(b, b.TempDir(), Config{}, nil)
			settings := deployment.Settings{Runtime: "provided.al2023", Handler: "echo", MemoryMB: 3538}
			if _, err := r.functions.Create(b.Context(), "f", settings, deployment.Code{Folder: folder},
				nil); err != nil {
				b.Fatal(err)
			}
			crowd := make([]*client, clients)
			for i := range crowd {
				crowd[i] = dialClient(b, r)
			}
			invokeAll(b, crowd, 20*clients)
			ours, theirs := spent(b, os.Getpid()), instances(b, r)
			b.ResetTimer()
			invokeAll(b, crowd, b.N)
			b.StopTimer()
			b.ReportMetric(float64((spent(b, os.Getpid())-ours).Microseconds())/float64(b.N), "us-ours")
			b.ReportMetric(float64((instances(b, r)-theirs).Microseconds())/float64(b.N), "us-theirs")
		})
	}
}

// client is a connection that does as little as can be.
type client struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
}

func dialClient(b *testing.B, r *rig) *client {
	b.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(r.base, "http://"))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() })
	const event = `{"name":"hikyaku","n":1}`
	request := fmt.Sprintf("POST %s/f/invocations HTTP/1.1\r\nHost: localhost\r\nContent-Type: "+
		"application/json\r\nContent-Length: %d\r\n\r\n%s", functions, len(event), event)
	return &client{conn, bufio.NewReader(conn), []byte(request)}
}

func (c *client) invoke() error {
	if _, err := c.conn.Write(c.request); err != nil {
		return err
	}
	length, failed := 0, false
	for n := 0; ; n++ {
		line, err := c.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		if n == 0 && string(line) != "HTTP/1.1 200 OK\r\n" {
			return fmt.Errorf("answered %q", line)
		}
		if len(line) == 2 {
			break
		}
		name, value, _ := strings.Cut(string(line), ": ")
		switch http.CanonicalHeaderKey(name) {
		case "Content-Length":
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return err
			}
		case "X-Amz-Function-Error":
			failed = true
		}
	}
	if _, err := io.CopyN(io.Discard, c.in, int64(length)); err != nil {
		return err
	}
	if failed {
		return fmt.Errorf("the function failed")
	}
	return nil
}

// invokeAll makes n invocations in all.
func invokeAll(b *testing.B, crowd []*client, n int) {
	var wait sync.WaitGroup
	for i, c := range crowd {
		wg := (n + i) / len(crowd)
		wait.Go(func() {
			for range wg {
				if err := c.invoke(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wait.Wait()
}

// instances is the processor time of the function's processes.
func instances(b *testing.B, r *rig) (sum time.Duration) {
	b.Helper()
	for _, f := range r.functions.Stats() {
		for _, i := range f.Instances {
			sum += spent(b, i.Pid)
		}
	}
	return sum
}

// spent is the processor time of a process's threads.
func spent(b *testing.B, pid int) (sum time.Duration) {
	b.Helper()
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			continue // a thread has ended
		}
		n, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
		if err != nil {
			b.Fatal(err)
		}
		sum += time.Duration(n)
	}
	return sum
}
