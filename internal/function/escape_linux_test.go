package function_test

import (
	"encoding/json"
	"errors"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
)

// target is what testdata/escape tries to reach.
type target struct {
	Owner                                                                          int
	Journal, Config, Code, Other, Layer, Temp, Socket, Name, Door, Runtime, Secret string
}

// escapes deploys a function that tries to get out, beside another one, and gives what it could reach a secret.
func escapes(t *testing.T, isolation function.Isolation) (*function.Pool, target) {
	t.Helper()
	return escapesOver(t, isolation, function.Outside)
}

func escapesOver(t *testing.T, isolation function.Isolation, network function.Network) (*function.Pool, target) {
	t.Helper()
	data := t.TempDir()
	p := open(t, function.Config{Dir: filepath.Join(data, "functions"), Hide: []string{data}, Isolation: isolation,
		Network: network})
	on := target{Journal: filepath.Join(data, "journal"), Config: filepath.Join(data, "hikyaku.yaml"),
		Code: filepath.Join(data, "code"), Other: filepath.Join(data, "other"),
		Layer:  filepath.Join(data, "layer"),
		Temp:   filepath.Join(os.TempDir(), "hikyaku-other-"+strconv.Itoa(os.Getpid())),
		Socket: filepath.Join(data, "socket"),
		Name:   "hikyaku-test-" + strconv.Itoa(os.Getpid()), Secret: "sesame-" + strconv.Itoa(os.Getpid())}
	for _, path := range []string{on.Journal, on.Config, filepath.Join(on.Other, "secret"),
		filepath.Join(on.Layer, "file"), filepath.Join(on.Code, "file"), on.Temp} {
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
	queue := append([]byte(on.Name), 0)
	_, _, errno := unix.Syscall6(unix.SYS_MQ_OPEN, uintptr(unsafe.Pointer(&queue[0])), unix.O_CREAT|unix.O_RDWR, 0o666,
		0, 0, 0)
	if errno == 0 { // else this kernel has none
		t.Cleanup(func() { _, _, _ = unix.Syscall(unix.SYS_MQ_UNLINK, uintptr(unsafe.Pointer(&queue[0])), 0, 0) })
	}
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

var bombs = []string{"bomb: files", "bomb: temporary files", "bomb: shared memory", "bomb: empty files"}

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
	if len(got) < 100 {
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

// Without isolation the harmless ones of the ways lead somewhere, so that the test above can fail. The others are not
// tried: as root they would change the machine.
func TestWithoutIsolationEscapesSucceed(t *testing.T) {
	p, on := escapes(t, function.None)
	for _, name := range []string{"read the journal", "read the configuration", "write beside the journal",
		"write its own code", "rename its own code", "read another's code", "write another's code",
		"write a layer", "read another's files", "read by a symbolic link", "read its owner's environ",
		"read anybody's environ", "read by its own cwd", "/sys", "signal its owner", "see other processes",
		"another's shared memory", "a mount that can be written", "sockets of other families",
		"gain by a setuid program", "a socket in the file system", "a socket without a file", "bomb: temporary files"} {
		if got := attempt(t, p, on, name); got[name] == "" {
			t.Errorf("%s: it gives nothing", name)
		}
	}
}

// overTheNetwork deploys the function that tries to get out beside a door and another instance, and says what it
// reached.
func overTheNetwork(t *testing.T, network function.Network) (got map[string]string, isolated bool) {
	t.Helper()
	p, on := escapesOver(t, function.Possible, network)
	if a := p.Machine().Isolation; !a.Alone || !a.OwnUser {
		t.Log("not everything is permitted here:", &a)
		return nil, false
	}
	door, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer door.Close()
	on.Door = door.Addr().String()
	deploy(t, p, func(d *function.Definition) { d.Name = "others" })
	r, err := p.Invoke(t.Context(), function.Request{Function: "others", Payload: []byte(`{"do":"environment"}`)})
	if err != nil || r.FunctionError != "" {
		t.Fatalf("%+v, %v", r, err)
	}
	var env []string
	if err := json.Unmarshal(r.Payload, &env); err != nil {
		t.Fatal(err)
	}
	for _, v := range env {
		if a, ok := strings.CutPrefix(v, "AWS_LAMBDA_RUNTIME_API="); ok {
			on.Runtime = a
		}
	}
	got = map[string]string{}
	for _, name := range []string{"network: a door", "network: another's Runtime API", "network: a route out",
		"network: interfaces"} {
		maps.Copy(got, attempt(t, p, on, name))
	}
	return got, true
}

func TestWithoutANetworkNothingIsReached(t *testing.T) {
	got, isolated := overTheNetwork(t, function.NoNetwork)
	if isolated && len(got) != 4 {
		t.Errorf("%d ways were tried", len(got))
	}
	for name, how := range got {
		if how != "" {
			t.Errorf("%s: %s", name, how)
		}
	}
}

// With the machine's network a function reaches what the machine does, but not the Runtime API of another function.
func TestWithTheMachinesNetworkDoorsAreReachedAndRuntimesAreNot(t *testing.T) {
	got, isolated := overTheNetwork(t, function.Outside)
	if isolated && (got["network: a door"] == "" || got["network: another's Runtime API"] != "") {
		t.Errorf("%q", got)
	}
}

func TestAFunctionWithoutANetworkIsRefusedWhereThatCannotBe(t *testing.T) {
	p := open(t, function.Config{Isolation: function.None, Network: function.NoNetwork})
	_, err := p.Deploy(function.Definition{Name: "f", Runtime: "provided", Code: code.Source{Folder: built}})
	if !errors.Is(err, function.ErrNotIsolated) {
		t.Errorf("%v", err)
	}
}

// A function that starts processes without end has so many, the others go on, and none of them outlives it. It is never
// tried where nothing bounds it.
func TestAFunctionStartsABoundedNumberOfProcesses(t *testing.T) {
	p, on := escapes(t, function.Possible)
	if m := p.Machine(); !m.Isolation.Room || !m.Limits.Tasks {
		t.Log("nothing counts the processes of an instance here:", m.Limits, &m.Isolation)
		return
	}
	deploy(t, p, func(d *function.Definition) {
		single(d)
		d.Code, d.MemoryMB = code.Source{Folder: on.Code}, 2048
	})
	if got := attempt(t, p, on, "bomb: processes"); got["bomb: processes"] != "" {
		t.Errorf("%s", got["bomb: processes"])
	}
	if got := attempt(t, p, on, "read the journal"); got["read the journal"] != "" {
		t.Errorf("%s", got)
	}
}

// What the kernel keeps for a function counts as its memory, whatever it is kept in.
func TestAFunctionHoldsNoMoreThanItsMemoryInTheKernel(t *testing.T) {
	p, on := escapes(t, function.Possible)
	if m := p.Machine(); !m.Isolation.Room || !m.Limits.Memory {
		t.Log("nothing counts the memory of an instance here:", m.Limits, &m.Isolation)
		return
	}
	for _, bomb := range []string{"bomb: memory of connections", "bomb: memory of files without a name"} {
		event, err := json.Marshal(map[string]any{"do": bomb, "on": on})
		if err != nil {
			t.Fatal(err)
		}
		if r := invoke(t, p, string(event)); strings.Contains(string(r.Payload), "holds") {
			t.Errorf("%s: %s", bomb, r.Payload)
		}
	}
}
