package cluster

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestASocketInTheFileSystemIsPassedOn(t *testing.T) {
	all := members(t, time.Minute)
	path := filepath.Join(shortFolder(t), "s")
	socket, err := new(net.ListenConfig).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	if err := all["b"].Add("echo", socket); err != nil {
		t.Fatal(err)
	}
	for _, owner := range []string{"a", "b"} {
		all[owner].open(t)
		own(all, owner)
		c, err := new(net.Dialer).DialContext(t.Context(), "unix", path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		r := bufio.NewReader(c)
		said, err := r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(said, owner+" ") || !strings.HasSuffix(said, fmt.Sprintf(" unix true %d <nil>\n",
			os.Geteuid())) {
			t.Errorf("the house of node %s says %q", owner, said)
		}
		if _, err := fmt.Fprintln(c, "hello"); err != nil {
			t.Fatal(err)
		}
		if said, err := r.ReadString('\n'); said != "hello\n" {
			t.Errorf("the house of node %s says %q, %v", owner, said, err)
		}
	}
	all["b"].Close()
	if _, err := new(net.Dialer).DialContext(t.Context(), "unix", path); err == nil {
		t.Error("the socket is open when the front is closed")
	}
}

// shortFolder has a path that leaves room for a socket's name.
func shortFolder(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "hk")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}
