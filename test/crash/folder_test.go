//go:build linux

package crash

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/sandbox/webhook"
)

// TestAFolderThatIsNoLongerTheOneThatWasOpened: what is acknowledged after its folder went is lost. So the journal
// fails, and the process ends and says why.
func TestAFolderThatIsNoLongerTheOneThatWasOpened(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		away func(t *testing.T, data string)
		says string
	}{
		{"renamed away", func(t *testing.T, data string) { must(t, os.Rename(data, data+"-away")) },
			"the folder is gone"},
		{"removed", func(t *testing.T, data string) { must(t, os.RemoveAll(filepath.Join(data, "journal"))) },
			"the folder is gone"},
		{"replaced by a copy", func(t *testing.T, data string) {
			must(t, os.Rename(data, data+"-away"))
			must(t, os.CopyFS(data, os.DirFS(data+"-away")))
		}, "another folder stands in the place"},
		{"without its newest segment", func(t *testing.T, data string) { must(t, os.Remove(newestSegment(t, data))) },
			"was removed or replaced"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			data := filepath.Join(t.TempDir(), "data")
			s := serve(t, preamble(data))
			s.put(t, "news", "before")
			c.away(t, data)
			endsRefusing(t, s, c.says)
		})
	}
}

func TestAFileSystemThatIsUnmountedUnderTheProgramEndsIt(t *testing.T) {
	t.Parallel()
	dir, ok := ownDisk(t, diskBytes)
	if !ok {
		return
	}
	s := serve(t, preamble(filepath.Join(dir, "data")))
	s.put(t, "news", "before")
	must(t, syscall.Unmount(dir, syscall.MNT_DETACH))
	endsRefusing(t, s, "the folder is gone")
}

// TestPipelinesWhoseFolderWentEndWithAStatus: with pipelines the process ends as it does without, and so does run.
func TestPipelinesWhoseFolderWentEndWithAStatus(t *testing.T) {
	t.Parallel()
	dir, hook := t.TempDir(), listen(t)
	always(t, hook, webhook.Behaviour{Do: webhook.Hang})
	s := serve(t, delivering(dir, hook.URL(), "60"))
	s.put(t, "jobs", names(100)...)
	until(t, says("requests are under way"), func() bool { return hook.Counts().Requests >= 4 })
	must(t, os.Rename(filepath.Join(dir, "data"), filepath.Join(dir, "away")))
	endsRefusing(t, s, "the folder is gone")

	config, data := filepath.Join(dir, "run.yaml"), filepath.Join(dir, "other")
	write(t, config, "data_dir: "+data+"\nsources: { lines: { type: stdin } }\nsinks: { keep: { type: queue, inputs: "+
		"[lines], queue: letters } }\n")
	cmd := exec.Command(binary, "run", "-c", config)
	in, err := cmd.StdinPipe() // it never ends
	must(t, err)
	defer in.Close()
	var said strings.Builder
	cmd.Stderr = &said
	must(t, cmd.Start())
	_, err = io.WriteString(in, "a line that is in the queue\n")
	must(t, err)
	until(t, says("the line is in the journal"), func() bool {
		names, _ := filepath.Glob(filepath.Join(data, "journal", "*.log"))
		return len(names) > 0 && holds(names[0], "a line that is in the queue")
	})
	must(t, os.RemoveAll(data))
	begun := time.Now()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 1 ||
		!strings.Contains(said.String(), "the folder is gone") {
		t.Errorf("run ended with %v\n%s", cmd.ProcessState, &said)
	}
	t.Logf("run took %v to end", time.Since(begun).Round(time.Millisecond))
}

func holds(name, text string) bool {
	b, err := os.ReadFile(name)
	return err == nil && bytes.Contains(b, []byte(text))
}

// endsRefusing puts until the program refuses, which has to be its end with a status other than 0 and a reason.
func endsRefusing(t *testing.T, s *served, says string) {
	t.Helper()
	begun, taken := time.Now(), 0
	until(t, func() string { return "a put is refused" }, func() bool {
		_, err := s.client.Put(t.Context(), queueName("news"), httpdoor.NewMessage([]byte("after")))
		if err == nil {
			taken++
		}
		return err != nil
	})
	t.Logf("%d puts were taken in %v before the first was refused", taken, time.Since(begun).Round(time.Millisecond))
	begun = time.Now()
	defer func() { t.Logf("it ended %v later", time.Since(begun).Round(time.Millisecond)) }()
	if state := s.wait(t); state.ExitCode() != 1 {
		t.Errorf("it ended with %v", state)
	}
	if !strings.Contains(s.log(), says) {
		t.Errorf("it does not say %q:\n%s", says, s.log())
	}
}

// TestALockThatIsRemovedLetsNoSecondProcessIn: the file named lock is not what keeps others out.
func TestALockThatIsRemovedLetsNoSecondProcessIn(t *testing.T) {
	t.Parallel()
	data := filepath.Join(t.TempDir(), "data")
	s := serve(t, preamble(data))
	s.put(t, "news", "before")
	lock := filepath.Join(data, "journal", "lock")
	must(t, os.Remove(lock))
	if _, err := tryServe(t, binary, preamble(data)); err == nil ||
		!strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a second serve: %v", err)
	}
	if r := hikyaku(t, "", "journal", "repair", "--accept-loss", data); r.code != 1 ||
		!strings.Contains(r.stderr, "in use by another process") {
		t.Errorf("a repair beside it: %+v", r)
	}
	if r := hikyaku(t, "", "journal", "check", data); r.code != 0 || !strings.Contains(r.stdout, "in use") {
		t.Errorf("a check beside it: %+v", r)
	}
	until(t, says("the lock is there again"), func() bool { _, err := os.Stat(lock); return err == nil })
	if _, err := tryServe(t, binary, preamble(data)); err == nil ||
		!strings.Contains(err.Error(), "in use by another process") {
		t.Errorf("a third serve: %v", err)
	}
	s.put(t, "news", "after")
	s.stop(t)
	checkJournal(t, data)
}

func newestSegment(t *testing.T, data string) string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(data, "journal", "*.log"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no segment in %s: %v", data, err)
	}
	return slices.Max(names)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
