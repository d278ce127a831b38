package link

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// maxSocketPath is how many bytes the path of a socket may have; the system's structure ends with a zero.
const maxSocketPath = len(syscall.RawSockaddrUnix{}.Path) - 1

// ErrSocket is what an error about a socket file that must not be replaced is.
var ErrSocket = errors.New("the socket cannot be taken")

// socketFile is the name of a socket that we listen on. The lock, a file beside it, is held from before the look at
// what is there until after the socket is gone: two processes never remove each other's.
type socketFile struct {
	path string
	info fs.FileInfo // tells our file from another's of the same name
	lock *fileLock
}

// ListenSocket makes a socket file and listens on it, as Listen does, for somebody who passes connections on as they
// come. Close removes the file, if it is still the listener's own.
func ListenSocket(ctx context.Context, path string) (net.Listener, error) {
	c := Config{Socket: path}
	if err := c.check(); err != nil {
		return nil, err
	}
	listener, file, err := listenSocket(ctx, path, c.withDefaults().SocketMode)
	if err != nil {
		return nil, err
	}
	return &ownSocket{Listener: listener, file: file}, nil
}

// ownSocket is a listener that removes its file.
type ownSocket struct {
	net.Listener
	file *socketFile
}

// Close implements net.Listener.
func (s *ownSocket) Close() error {
	// The file goes before the end of listening: until then no other process takes it for stale.
	return errors.Join(s.file.remove(), s.Listener.Close(), s.file.lock.release())
}

// listenSocket makes the socket file and listens on it.
func listenSocket(ctx context.Context, path string, mode fs.FileMode) (net.Listener, *socketFile, error) {
	lock, err := lockFile(path + ".lock")
	if err != nil {
		return nil, nil, fmt.Errorf("cannot listen on socket %s: %w%s", path, err, folderAdvice(path, err))
	}
	listener, info, err := listenLocked(ctx, path, mode)
	if err != nil {
		return nil, nil, errors.Join(err, lock.release())
	}
	return listener, &socketFile{path: path, info: info, lock: lock}, nil
}

func listenLocked(ctx context.Context, path string, mode fs.FileMode) (net.Listener, fs.FileInfo, error) {
	if err := clearStale(ctx, path); err != nil {
		return nil, nil, err
	}
	lc := net.ListenConfig{Control: createAs(mode)}
	listener, err := lc.Listen(ctx, "unix", path)
	if err != nil {
		return nil, nil, fmt.Errorf("cannot listen on socket %s: %w%s", path, err, folderAdvice(path, err))
	}
	listener.(*net.UnixListener).SetUnlinkOnClose(false) // ours is removed by socketFile, with care
	err = os.Chmod(path, mode)                           // createAs could only take away
	var info fs.FileInfo
	if err == nil {
		info, err = os.Lstat(path)
	}
	if err != nil {
		err = fmt.Errorf("socket %s: %w", path, err)
		return nil, nil, errors.Join(err, os.Remove(path), listener.Close())
	}
	return listener, info, nil
}

func folderAdvice(path string, err error) string {
	dir := filepath.Dir(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Sprintf(" (make the folder %s, or choose another path)", dir)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Sprintf(" (let this user write into the folder %s, or choose another path)", dir)
	}
	return ""
}

// clearStale removes a socket file that nobody listens on. The caller holds the lock.
func clearStale(ctx context.Context, path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("%w: %w", ErrSocket, err)
	case info.Mode().Type() != fs.ModeSocket && !socketLike(info):
		return fmt.Errorf("%w: %s is there and is no socket but %s (move it away, or choose another path)", ErrSocket,
			path, kind(info))
	case !ours(info):
		return fmt.Errorf("%w: %s belongs to another user (remove it as that user, or choose another path)", ErrSocket,
			path)
	}
	if err := answered(ctx, path); err != nil {
		return err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w: nobody listens on it any more, but it stays: %w%s", ErrSocket, err,
			folderAdvice(path, err))
	}
	return nil
}

// probeTimeout bounds the wait for a server whose queue of connections is full.
const probeTimeout = time.Second

// answered is an error unless the system says that nobody listens on the socket.
func answered(ctx context.Context, path string) error {
	dialer := net.Dialer{Timeout: probeTimeout}
	conn, err := dialer.DialContext(ctx, "unix", path)
	switch {
	case err == nil:
		_ = conn.Close() // it was only a knock
		return fmt.Errorf("%w: another program listens on %s (stop it, or choose another path)", ErrSocket, path)
	case refused(err):
		return nil
	}
	return fmt.Errorf("%w: cannot tell whether anybody listens on %s: %w (remove it if not, or choose another path)",
		ErrSocket, path, err)
}

func kind(info fs.FileInfo) string {
	switch {
	case info.IsDir():
		return "a folder"
	case info.Mode().IsRegular():
		return "an ordinary file"
	case info.Mode()&fs.ModeSymlink != 0:
		return "a symbolic link"
	}
	return "something else"
}

// remove removes the file, unless somebody put another one in its place.
func (f *socketFile) remove() error {
	info, err := os.Lstat(f.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if !os.SameFile(info, f.info) {
		return nil
	}
	return os.Remove(f.path)
}
