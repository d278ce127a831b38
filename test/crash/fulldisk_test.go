//go:build linux

package crash

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/queue"
)

const (
	diskBytes = 264 << 20 // four segments of 64 MiB and a little: two for the log, two spare ones
	parcel    = 1 << 20

	fullDiskTest = "TestAFullDiskRefusesPutsAndLosesNothing"
	inNamespace  = "HIKYAKU_CRASH_NAMESPACE"
)

// TestAFullDiskRefusesPutsAndLosesNothing has a small file system of its own for the data. Where the test may not mount one, it runs itself in
// a user namespace, where it may.
func TestAFullDiskRefusesPutsAndLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	err := syscall.Mount("hikyaku-test", dir, "tmpfs", 0, fmt.Sprintf("size=%d", diskBytes))
	switch {
	case err == nil:
	case os.Getenv(inNamespace) != "":
		t.Fatalf("mount a small file system in a user namespace: %v", err)
	default:
		fullDiskInNamespace(t, err)
		return
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Errorf("unmount %s: %v", dir, err)
		}
	})
	data := filepath.Join(dir, "data")
	s := serve(t, preamble(data))
	put := fill(t, s)
	s.kill() // also a full disk is no reason not to start again
	s = serve(t, preamble(data))
	if st := s.stats(t, "parcels"); int(st.Messages) != put {
		t.Errorf("%d were acknowledged; the queue has %+v", put, st)
	}
	if _, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(put)); !errors.Is(err, queue.ErrNoRoom) {
		t.Errorf("a put after the restart: %v", err)
	}
	got := drain(t, s, put)
	until(t, says("there is room again"), func() bool {
		_, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(put))
		if err != nil && !errors.Is(err, queue.ErrNoRoom) {
			t.Fatalf("%v\n%s", err, s.log())
		}
		return err == nil
	})
	t.Logf("%d parcels of 1 MiB fitted, %d were drained", put, got)
	s.stop(t)
	checkJournal(t, data)
}

// bigMessage is one whose body begins with its number.
func bigMessage(n int) httpdoor.Message {
	return httpdoor.NewMessage([]byte(fmt.Sprintf("%06d", n) + strings.Repeat("x", parcel)))
}

// fill puts messages until the disk is full, and returns how many were taken.
func fill(t *testing.T, s *served) int {
	t.Helper()
	for n := 0; ; n++ {
		_, err := s.client.Put(t.Context(), queueName("parcels"), bigMessage(n))
		if err == nil {
			if n > diskBytes/parcel {
				t.Fatal("the disk does not get full")
			}
			continue
		}
		var p *httpdoor.Problem
		if !errors.As(err, &p) || p.Status != 507 || p.Type != "urn:hikyaku:no-room" || !errors.Is(err, queue.ErrNoRoom) {
			t.Fatalf("a full disk answers %v\n%s", err, s.log())
		}
		if n == 0 {
			t.Fatal("nothing was taken at all")
		}
		return n
	}
}

// drain claims and settles every message while the disk is full, and returns how many there were.
func drain(t *testing.T, s *served, want int) int {
	t.Helper()
	seen := map[string]bool{}
	for len(seen) < want {
		claims, err := s.client.Claim(t.Context(), queueName("parcels"), httpdoor.ClaimRequest{Max: 10})
		if err != nil || len(claims) == 0 {
			t.Fatalf("a claim on a full disk: %d messages, %v; %d of %d seen\n%s", len(claims), err, len(seen), want, s.log())
		}
		ss := make([]httpdoor.Settlement, len(claims))
		for i := range claims {
			b, err := claims[i].Bytes()
			if err != nil || len(b) != parcel+6 || seen[string(b[:6])] {
				t.Fatalf("a parcel of %d bytes came, or came twice: %v", len(b), err)
			}
			seen[string(b[:6])] = true
			ss[i] = httpdoor.Settlement{Token: claims[i].Token}
		}
		results, err := s.client.Settle(t.Context(), ss...)
		if err != nil {
			t.Fatalf("settling on a full disk: %v\n%s", err, s.log())
		}
		for _, r := range results {
			if !r.OK {
				t.Errorf("settling on a full disk: %v", r.Problem)
			}
		}
	}
	return len(seen)
}

// fullDiskInNamespace runs the test again where it may mount.
func fullDiskInNamespace(t *testing.T, refused error) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-root-user", "--mount", self, "-test.run=^"+fullDiskTest+"$", "-test.v")
	cmd.Env = append(os.Environ(), inNamespace+"=1", builtAlready+"="+binary)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Logf("mount: %v; in a user namespace:\n%s", refused, out)
		return
	}
	if !strings.Contains(string(out), "=== RUN") {
		// Nothing of the kind is allowed here. TestTheDoorTellsOfAFullDisk tells the same story of a disk in memory.
		t.Logf("this machine allows neither a mount (%v) nor a user namespace (%v: %s)", refused, err, out)
		return
	}
	t.Fatalf("in a user namespace: %v\n%s", err, out)
}
