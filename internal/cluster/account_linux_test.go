package cluster

import (
	"bufio"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/caller/callertest"
)

// Whose a connection is, the node finds out where it came in.
func TestAnotherAccountOfANodeStaysOneAtTheOwner(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("only root can be another account")
		return
	}
	all := members(t, time.Minute)
	all["b"].open(t)
	own(all, "b")
	nobody := callertest.As(t, 65534)
	for n, want := range map[string]string{"a": "node a says that it is of its account with uid 65534",
		"b": "true 65534 <nil>"} {
		c, err := nobody.Dial(t.Context(), "tcp", all[n].addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		said, err := bufio.NewReader(c).ReadString('\n')
		if err != nil || !strings.Contains(said, want) {
			t.Errorf("by node %s: %q, %v, want %q", n, said, err, want)
		}
	}
}
