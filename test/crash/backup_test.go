//go:build linux

package crash

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
)

// backupRounds is how many backups are made of a server at work.
const backupRounds = 6

// backupBook is what clients were told of messages.
type backupBook struct {
	mu      sync.Mutex
	made    int
	waiting map[string]bool // its put was answered, and nobody has begun to settle it
	settled map[string]bool // that was answered
}

func (b *backupBook) next() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.made++
	return fmt.Sprintf("message %d %08000d", b.made, 0)
}

// copies are what waits and what is settled now.
func (b *backupBook) copies() (waiting, settled map[string]bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting, settled = map[string]bool{}, map[string]bool{}
	for body := range b.waiting {
		waiting[body] = true
	}
	for body := range b.settled {
		settled[body] = true
	}
	return waiting, settled
}

// work puts messages into one queue, and claims and settles most of those in it, until ctx ends. Some go to the dead
// letters, which are of another queue and, with shards, of another shard.
func (b *backupBook) work(ctx context.Context, c *httpdoor.Client, name string) error {
	for ctx.Err() == nil {
		for range 4 {
			body := b.next()
			if _, err := c.Put(ctx, queueName(name), httpdoor.Message{Body: &body}); err != nil {
				return errUnless(ctx, err)
			}
			b.mu.Lock()
			b.waiting[body] = true
			b.mu.Unlock()
		}
		claims, err := c.Claim(ctx, queueName(name), httpdoor.ClaimRequest{Max: 3})
		if err != nil {
			return errUnless(ctx, err)
		}
		for i := range claims {
			text, err := claims[i].Bytes()
			if err != nil {
				return err
			}
			body := string(text)
			settlement := httpdoor.Settlement{Token: claims[i].Token, As: httpdoor.Done}
			if i == 2 { // it goes on to be there, in another queue
				settlement.As, settlement.Reason = httpdoor.Dead, "test"
			} else {
				b.mu.Lock()
				delete(b.waiting, body)
				b.mu.Unlock()
			}
			answers, err := c.Settle(ctx, settlement)
			if err != nil {
				return errUnless(ctx, err)
			}
			if !answers[0].OK {
				return fmt.Errorf("settle %.14s: %v", body, answers[0].Problem)
			}
			if settlement.As == httpdoor.Done {
				b.mu.Lock()
				b.settled[body] = true
				b.mu.Unlock()
			}
		}
	}
	return nil
}

func errUnless(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// TestABackupOfAServerAtWorkHasWhatWasAcknowledged makes backups of a server that takes puts and settlements, with
// cleaning and checkpoints all the time; one is killed in the middle, and once the server is. Each is restored and
// opened: what was acknowledged before it began is there once, and what was settled before is not.
func TestABackupOfAServerAtWorkHasWhatWasAcknowledged(t *testing.T) {
	t.Parallel()
	for _, shards := range []int{1, 3} {
		t.Run(fmt.Sprint("shards ", shards), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			data, folder := filepath.Join(dir, "data"), filepath.Join(dir, "backups")
			rest := fmt.Sprintf("shards: %d\njournal: { segment_bytes: 1MiB }\nqueues:\n", shards)
			jobs := []string{"jobs1", "jobs2", "jobs3"}
			graves := []string{"graves1", "graves2", "graves3"}
			for i, n := range jobs {
				rest += fmt.Sprintf("  %s: { dead_letter: %s }\n  %s: {}\n", n, graves[(i+1)%3], graves[i])
			}
			book := &backupBook{waiting: map[string]bool{}, settled: map[string]bool{}}
			s := serve(t, preamble(data)+rest)
			for round := range backupRounds * *times {
				ctx, stop := context.WithCancel(t.Context())
				var working sync.WaitGroup
				for _, n := range jobs {
					working.Go(func() {
						if err := book.work(ctx, s.client, n); err != nil {
							t.Error(err)
						}
					})
				}
				made := func() int { book.mu.Lock(); defer book.mu.Unlock(); return book.made }
				before := made()
				until(t, func() string { return "a hundred are put\n" + s.log() },
					func() bool { return made() > before+100 })
				if round == 1 {
					killABackup(t, folder, data)
				}
				waiting, settled := book.copies()
				if r := hikyaku(t, "", "backup", folder, "--data-dir", data); r.code != 0 {
					t.Errorf("backup: %s", r.stderr)
				}
				stop()
				working.Wait()
				after, _ := book.copies()
				for body := range waiting {
					if !after[body] {
						delete(waiting, body) // somebody settled it while the backup was made, or began to
					}
				}
				wantRestored(t, folder, rest, append(jobs, graves...), waiting, settled)
				if round == 2 { // the next backup is of what a kill has left, and of the next server
					s.kill()
					s = serve(t, preamble(data)+rest)
				}
			}
			s.kill()
			if len(book.settled) == 0 {
				t.Error("nothing was settled: less was tried than is said")
			}
			if r := hikyaku(t, "", "backup", "check", folder); r.code != 0 {
				t.Errorf("check: %s%s", r.stdout, r.stderr)
			}
			t.Logf("%d made, %d settled", book.made, len(book.settled))
		})
	}
}

// killABackup kills a backup as soon as it has begun to write.
func killABackup(t *testing.T, folder, data string) {
	t.Helper()
	objects := func() int {
		names, _ := os.ReadDir(filepath.Join(folder, "files"))
		return len(names)
	}
	before := objects()
	cmd := exec.Command(binary, "backup", folder, "--data-dir", data)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	until(t, func() string { return "the backup writes" }, func() bool {
		return objects() > before || len(ended) > 0
	})
	_ = cmd.Process.Kill()
	<-ended
	if r := hikyaku(t, "", "backup", "check", folder); r.code != 0 {
		t.Errorf("after a backup that was killed: %s%s", r.stdout, r.stderr)
	}
}

// wantRestored restores the newest backup, opens it, and looks for messages.
func wantRestored(t *testing.T, folder, rest string, names []string, waiting, settled map[string]bool) {
	t.Helper()
	to := filepath.Join(t.TempDir(), "restored")
	if r := hikyaku(t, "", "restore", folder, to); r.code != 0 {
		t.Fatalf("restore: %s", r.stderr)
	}
	checkJournal(t, to)
	s := serve(t, preamble(to)+rest)
	defer s.kill()
	wrong := func() (all []string) {
		seen := map[string]int{}
		for _, n := range names {
			look(t, s.client, n, seen)
		}
		for body := range waiting {
			if seen[body] != 1 {
				all = append(all, fmt.Sprintf("%.14s is there %d times", body, seen[body]))
			}
		}
		for body, n := range seen {
			if n > 1 || settled[body] {
				all = append(all, fmt.Sprintf("%.14s is there %d times, settled: %t", body, n, settled[body]))
			}
		}
		return all
	}
	// What was on its way from shard to shard arrives.
	until(t, func() string { return fmt.Sprintf("each is there once: %v\n%s", wrong(), s.log()) },
		func() bool { return len(wrong()) == 0 })
}
