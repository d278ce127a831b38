package function_test

import (
	"encoding/json"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

// target is what testdata/escape tries to reach.
type target struct {
	Owner                                                           int
	Journal, Config, Code, Other, Layer, Temp, Socket, Name, Secret string
}

// escapes deploys a function that tries to get out, beside another one, and gives what it could reach a secret.
func escapes(t *testing.T, isolation function.Isolation) (*function.Pool, target) {
	t.Helper()
	data := t.TempDir()
	p := open(t, function.Config{Dir: filepath.Join(data, "functions"), Hide: []string{data}, Isolation: isolation})
	on := target{Journal: filepath.Join(data, "journal"), Config: filepath.Join(data, "hikyaku.yaml"), Code: filepath.Join(data, "code"), Other: filepath.Join(data, "other"),
		Layer: filepath.Join(data, "layer"), Temp: filepath.Join(os.TempDir(), "hikyaku-other-"+strconv.Itoa(os.Getpid())), Socket: filepath.Join(data, "socket"),
		Name: "hikyaku-test-" + strconv.Itoa(os.Getpid()), Secret: "sesame-" + strconv.Itoa(os.Getpid())}
	for _, path := range []string{on.Journal, on.Config, filepath.Join(on.Other, "secret"), filepath.Join(on.Layer, "file"), filepath.Join(on.Code, "file"), on.Temp} {
		write(t, path, on.Secret)
	}
	t.Cleanup(func() { _ = os.Remove(on.Temp) })
	build := exec.Command("go", "build", "-o", filepath.Join(on.Code, "bootstrap"), "./testdata/escape")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("cannot build the function: %v\n%s", err, out)
	}
	for _, address := range []string{on.Socket, "@" + on.Name} {
		l, err := net.Listen("unix", address)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
	}
	segment, err := unix.SysvShmGet(0x68696b79, 4096, unix.IPC_CREAT|0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = unix.SysvShmCtl(segment, unix.IPC_RMID, nil) })
	owner := exec.Command("/bin/sleep", "1000") // as hikyaku: its user, and a secret in its environment
	owner.Env = []string{"SECRET=" + on.Secret}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = owner.Process.Kill(); _ = owner.Wait() })
	on.Owner = owner.Process.Pid
	deploy(t, p, func(d *function.Definition) {
		d.Name, d.Code = "other", code.Source{Folder: on.Other}
		d.Runtime, d.Command = "command", []string{"/bin/sleep", "1"}
	})
	deploy(t, p, func(d *function.Definition) {
		single(d)
		d.Code, d.Layers, d.StorageMB = code.Source{Folder: on.Code}, []string{on.Layer}, 4
	})
	return p, on
}

// attempt has the function try a way, or all of them that do no harm, and returns what they gave.
func attempt(t *testing.T, p *function.Pool, on target, do string) map[string]string {
	t.Helper()
	event, err := json.Marshal(map[string]any{"do": do, "on": on})
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]string
	answer(t, p, string(event), &got)
	return got
}

var bombs = []string{"bomb: files", "bomb: temporary files", "bomb: shared memory"}

func TestNoEscapeSucceeds(t *testing.T) {
	p, on := escapes(t, function.Possible)
	a := p.Machine().Isolation
	if !a.Full() {
		t.Log("not everything is permitted here:", &a)
		if !a.Room {
			return // and it is said: see TestWhatTheKernelRefusesIsSaid
		}
	}
	got := attempt(t, p, on, "")
	for _, bomb := range bombs {
		maps.Copy(got, attempt(t, p, on, bomb))
	}
	if len(got) < 40 {
		t.Errorf("%d ways were tried", len(got))
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if how := got[name]; how != "" && (name != "a socket without a file" || a.Scoped) {
			t.Errorf("%s: %s", name, how)
		}
	}
	s, err := p.Stats("f", "")
	if err != nil || len(s.Instances) != 1 || !s.Instances[0].Isolated {
		t.Errorf("%+v, %v", s.Instances, err)
	}
}

// Without isolation the harmless ones of the ways lead somewhere, so that the test above can fail. The others are not tried: as root they would change the machine.
func TestWithoutIsolationEscapesSucceed(t *testing.T) {
	p, on := escapes(t, function.None)
	for _, name := range []string{"read the journal", "read the configuration", "write beside the journal", "write its own code", "rename its own code", "read another's code", "write another's code",
		"write a layer", "read another's files", "read by a symbolic link", "read its owner's environ", "read anybody's environ", "read by its own cwd", "/sys", "signal its owner", "see other processes",
		"another's shared memory", "gain by a setuid program", "a socket in the file system", "a socket without a file", "bomb: temporary files"} {
		if got := attempt(t, p, on, name); got[name] == "" {
			t.Errorf("%s: it gives nothing", name)
		}
	}
}
