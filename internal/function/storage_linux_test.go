package function_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// outside makes a folder that is not below /tmp, with the Go function in it.
func outside(t *testing.T) (dir string, build func(*function.Definition)) {
	t.Helper()
	dir, err := os.MkdirTemp("/var/tmp", "hikyaku-test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	program, err := os.ReadFile(filepath.Join(built, "bootstrap"))
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "code"), 0o755)
	}
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "code", "bootstrap"), program, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	return dir, func(d *function.Definition) { d.Code = code.Source{Folder: filepath.Join(dir, "code")} }
}

// said is what f says to an event, which is a string.
func said(t *testing.T, p *function.Pool, event string) (text string) {
	t.Helper()
	answer(t, p, event, &text)
	return text
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestTemporaryFilesAreBounded(t *testing.T) {
	dir, build := outside(t)
	p := open(t, function.Config{Dir: filepath.Join(dir, "pool")})
	if a := p.Machine().Isolation; !a.Room {
		t.Log("there is nothing to bound them with here:", &a)
		return
	}
	deploy(t, p, func(d *function.Definition) { build(d); single(d); d.StorageMB = 1 })
	if got := said(t, p, `{"do":"write","text":"/tmp/most","n":900000}`); got != "written" {
		t.Errorf("within the bound: %s", got)
	}
	if got := said(t, p, `{"do":"write","text":"/tmp/more","n":900000}`); !strings.Contains(got,
		"no space left on device") {
		t.Errorf("beyond it: %s", got)
	}
	if _, err := os.Stat("/tmp/most"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the machine has it, too: %v", err)
	}
	s, err := p.Stats("f", "")
	if err != nil || len(s.Instances) != 1 || !s.Instances[0].Isolated {
		t.Errorf("%+v, %v", s.Instances, err)
	}
	invoke(t, p, `{"do":"crash"}`)
	if got := said(t, p, `{"do":"read","text":"/tmp/most"}`); !strings.Contains(got, "no such file") {
		t.Errorf("another instance has the first one's: %.100s", got)
	}
}

func TestTemporaryFilesThatNothingBoundsAreWeighed(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None})
	if a := p.Machine().Isolation; a.Full() || a.String() != "all of it: it is switched off" {
		t.Errorf("%+v", a)
	}
	deploy(t, p, func(d *function.Definition) { single(d); d.StorageMB = 1 })
	var env []string
	first := answer(t, p, `{"do":"environment"}`, &env)
	temp := ""
	for _, v := range env {
		if rest, ok := strings.CutPrefix(v, "TMPDIR="); ok {
			temp = rest
		}
	}
	for n := 0; ; n++ { // it is weighed now and then; the one that comes after it writes into a folder of its own
		if r := invoke(t, p, `{"do":"write","text":"$TMPDIR/file","n":2000000}`); r.Instance != first.Instance {
			break
		}
		if n == 100_000 {
			t.Fatal("it goes on with more than it may have")
		}
	}
	contains(t, "the log", text(t, p), "STORAGE\tThe instance is stopped: function f has more than its 1 MB of "+
		"temporary files (storage). Remove them, or give it more.")
	waittest.Until(t, "the files are gone",
		func() bool { _, err := os.Stat(temp); return errors.Is(err, os.ErrNotExist) })
}

func TestLayersAreSeenTogetherAtOpt(t *testing.T) {
	dir, build := outside(t)
	first, second := filepath.Join(dir, "first"), filepath.Join(dir, "second")
	write(t, filepath.Join(first, "both"), "the first one's")
	write(t, filepath.Join(first, "lib", "one"), "one")
	write(t, filepath.Join(second, "both"), "the second one's")
	p := open(t, function.Config{Dir: filepath.Join(dir, "pool")})
	if !p.Machine().Isolation.Room {
		return // it is said, and docs say what is left
	}
	deploy(t, p, func(d *function.Definition) { build(d); d.Layers = []string{first, second} })
	for file, want := range map[string]string{"/opt/both": "the second one's", "/opt/lib/one": "one"} {
		if got := said(t, p, `{"do":"read","text":"`+file+`"}`); got != want {
			t.Errorf("%s: %q", file, got)
		}
	}
	if s, err := p.Stats("f", ""); err != nil || len(s.Instances) == 0 || !s.Instances[0].Opt {
		t.Errorf("%+v, %v", s.Instances, err)
	}
	if _, err := os.Stat("/opt/both"); err == nil {
		t.Error("the machine's /opt was changed")
	}
}

func TestAViewThatCannotBeIsSaidInTheLog(t *testing.T) {
	p := open(t, function.Config{})
	if !p.Machine().Isolation.Room {
		return // it is said for all
	}
	layer := filepath.Join(t.TempDir(), "layer")
	write(t, filepath.Join(layer, "x"), "x")
	deploy(t, p, func(d *function.Definition) { d.Layers = []string{layer} })
	if err := os.RemoveAll(layer); err != nil {
		t.Fatal(err)
	}
	if r := invoke(t, p, `"on"`); string(r.Payload) != `"on"` {
		t.Errorf("%+v", r)
	}
	contains(t, "the log", text(t, p), "ISOLATION\tThe layers are not at /opt")
}

// The start has a whole processor at least, but not that of an instance which is provisioned.
func TestAStartHasAWholeProcessorUnlessItIsProvisioned(t *testing.T) {
	p := open(t, function.Config{})
	if !p.Machine().Limits.CPU {
		return // nobody's share is limited
	}
	for provisioned, want := range map[int]float64{0: 1, 1: 128.0 / 1769} {
		name := fmt.Sprintf("f%d", provisioned)
		deploy(t, p, func(d *function.Definition) {
			d.Name, d.MemoryMB, d.Provisioned, d.Environment = name, 128, provisioned, map[string]string{"INIT": "hang"}
		})
		over := make(chan struct{})
		if provisioned == 0 {
			go func() {
				defer close(over)
				_, _ = p.Invoke(t.Context(), function.Request{Function: name}) // it never starts
			}()
		} else {
			close(over)
		}
		share := 0.0
		waittest.Until(t, "its share is set", func() bool {
			s, err := p.Stats(name, "")
			if err != nil || len(s.Instances) == 0 || s.Instances[0].Pid == 0 {
				return false
			}
			share = processors(s.Instances[0].Pid)
			return share > 0
		})
		if share < 0.9*want || share > 1.1*want {
			t.Errorf("with %d provisioned it has %.3f processors, want %.3f", provisioned, share, want)
		}
		if err := p.Remove(name, ""); err != nil {
			t.Fatal(err)
		}
		<-over
	}
}

// processors is the share that a program's control group gives it; 0: it is in none of ours yet.
func processors(pid int) float64 {
	groups, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid)) // who is gone is in none
	for line := range strings.Lines(string(groups)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || !strings.Contains(parts[2], "hikyaku-") {
			continue
		}
		for _, root := range []string{"/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/cpu",
			"/sys/fs/cgroup/cpu,cpuacct"} {
			dir := filepath.Join(root, parts[2])
			quota, err := os.ReadFile(filepath.Join(dir, "cpu.max"))
			if err != nil {
				var period []byte
				quota, err = os.ReadFile(filepath.Join(dir, "cpu.cfs_quota_us"))
				period, _ = os.ReadFile(filepath.Join(dir, "cpu.cfs_period_us")) // it comes with the other
				quota = fmt.Appendf(nil, "%s %s", quota, period)
			}
			if fields := strings.Fields(string(quota)); err == nil && len(fields) == 2 {
				q, errQ := strconv.ParseFloat(fields[0], 64)
				p, errP := strconv.ParseFloat(fields[1], 64)
				if errQ == nil && errP == nil && q > 0 && p > 0 {
					return q / p
				}
			}
		}
	}
	return 0
}
