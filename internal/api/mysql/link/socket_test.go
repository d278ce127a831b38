package link_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/hikyaku/hikyaku/internal/api/mysql/link"
)

// leftBehind is a socket that nobody listens on any more.
func leftBehind(t *testing.T, path string) {
	t.Helper()
	dead, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	dead.SetUnlinkOnClose(false)
	if err := dead.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestAStaleSocketIsReplaced(t *testing.T) {
	path := socketPath(t)
	leftBehind(t, path)
	if err := os.WriteFile(path+".lock", []byte("1\n"), 0o644); err != nil { // of the same dead process
		t.Fatal(err)
	}
	pair(t, listen(t, link.Config{Socket: path}), 0)
}

func TestALiveSocketIsLeftAlone(t *testing.T) {
	path := socketPath(t)
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	_, err = link.Listen(t.Context(), link.Config{Socket: path})
	if !errors.Is(err, link.ErrSocket) || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "choose another path") {
		t.Errorf("%v", err)
	}
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatalf("the other program lost its socket: %v", err)
	}
	conn.Close()
}

func TestWhatIsNoSocketIsLeftAlone(t *testing.T) {
	for kind, put := range map[string]func(string) error{
		"an ordinary file": func(path string) error { return os.WriteFile(path, []byte("text"), 0o600) },
		"a folder":         func(path string) error { return os.Mkdir(path, 0o700) },
		"a symbolic link":  func(path string) error { return os.Symlink("elsewhere", path) },
	} {
		path := socketPath(t)
		if err := put(path); err != nil {
			t.Fatal(err)
		}
		before, _ := os.Lstat(path)
		_, err := link.Listen(t.Context(), link.Config{Socket: path})
		if !errors.Is(err, link.ErrSocket) ||
			!strings.Contains(err.Error(), path+" is there and is no socket but "+kind) {
			t.Errorf("%s: %v", kind, err)
		}
		if after, err := os.Lstat(path); err != nil || !os.SameFile(before, after) {
			t.Errorf("%s was touched: %v", kind, err)
		}
		if _, err := os.Lstat(path + ".lock"); err == nil {
			t.Errorf("%s: the lock stays", kind)
		}
	}
}

func TestASocketWithoutAFolderSaysWhatToDo(t *testing.T) {
	dir := filepath.Join(filepath.Dir(socketPath(t)), "missing")
	_, err := link.Listen(t.Context(), link.Config{Socket: filepath.Join(dir, "s")})
	if err == nil || !strings.Contains(err.Error(), "make the folder "+dir) {
		t.Errorf("%v", err)
	}
}

func TestTheSocketHasThePermissionsAskedFor(t *testing.T) {
	for ask, want := range map[os.FileMode]os.FileMode{0: 0o777, 0o700: 0o700, 0o660: 0o660} {
		path := socketPath(t)
		listen(t, link.Config{Socket: path, SocketMode: ask})
		info, err := os.Lstat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%o: %v, %v", ask, info.Mode(), err)
		}
	}
}

func TestCloseLeavesNothingBehind(t *testing.T) {
	path := socketPath(t)
	listen(t, link.Config{Socket: path}).Close()
	left, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}

func TestCloseLeavesTheSocketOfAnother(t *testing.T) {
	path := socketPath(t)
	l := listen(t, link.Config{Socket: path})
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	other, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
}

func TestCloseBearsThatTheSocketIsGone(t *testing.T) {
	path := socketPath(t)
	l := listen(t, link.Config{Socket: path})
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}

func TestASecondListenerNamesTheFirst(t *testing.T) {
	path := socketPath(t)
	listen(t, link.Config{Socket: path})
	_, err := link.Listen(t.Context(), link.Config{Socket: path})
	if !errors.Is(err, link.ErrSocket) || !strings.Contains(err.Error(), path) {
		t.Errorf("%v", err)
	}
}

func TestStartersNeverTakeEachOthersSocket(t *testing.T) {
	path := socketPath(t)
	leftBehind(t, path)
	var open, opened atomic.Int32
	var starters sync.WaitGroup
	for range 8 {
		starters.Go(func() {
			for range 50 {
				l, err := link.Listen(t.Context(), link.Config{Socket: path})
				if errors.Is(err, link.ErrSocket) {
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				if open.Add(1) > 1 {
					t.Error("two listen on one path")
				}
				opened.Add(1)
				if conn, err := net.Dial("unix", path); err != nil {
					t.Errorf("a listener lost its socket: %v", err)
				} else {
					conn.Close()
				}
				open.Add(-1)
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			}
		})
	}
	starters.Wait()
	if opened.Load() == 0 {
		t.Error("nobody ever got it")
	}
}
