package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hikyaku/hikyaku/internal/config"
)

const (
	// readyFile is the first file beyond the three of every process: there a detached serve says that its doors are
	// open.
	readyFile = 3
	// mostLog is how large the log of a detached serve may be when another begins: then it is put aside, over the one
	// before.
	mostLog = 10 << 20
	// mostSaid bounds what is shown of the log of a serve that ended at once.
	mostSaid = 8 << 10
)

// detach starts a serve with the same flags in a process of its own, and returns when its doors are open. ctx ends the
// waiting and that process.
func detach(ctx context.Context, out io.Writer, f *config.File, args []string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	log, begins, err := openLog(f.DataDir)
	if err != nil {
		return err
	}
	defer log.Close()
	ready, tell, err := os.Pipe()
	if err != nil {
		return err
	}
	defer ready.Close()
	cmd := exec.Command(program, append([]string{"serve", "--detached"}, args...)...)
	cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = log, log, []*os.File{tell}
	err = apart(cmd)
	if err == nil {
		err = cmd.Start()
	}
	tell.Close()
	if err != nil {
		return err
	}
	stop := context.AfterFunc(ctx, func() { _ = terminate(cmd.Process.Pid) })
	line, _ := bufio.NewReader(ready).ReadString('\n') // without a line it has ended
	stop()
	if line == "" {
		err := cmd.Wait()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return &hinted{fmt.Errorf("the server ended at once: %w", err), said(log.Name(), begins)}
	}
	fmt.Fprintf(out, "hikyaku runs as process %d, with its data and serve.log in %s\n", cmd.Process.Pid, f.DataDir)
	return cmd.Process.Release()
}

// openLog opens the log of a detached serve, and tells where what is written now begins.
func openLog(dir string) (log *os.File, begins int64, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, 0, err
	}
	name := filepath.Join(dir, "serve.log")
	if info, err := os.Stat(name); err == nil && info.Size() > mostLog {
		if err := os.Rename(name, name+".1"); err != nil {
			return nil, 0, err
		}
	}
	if log, err = os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600); err != nil {
		return nil, 0, err
	}
	info, err := log.Stat()
	if err != nil {
		log.Close()
		return nil, 0, err
	}
	return log, info.Size(), nil
}

// said is what stands in a log from an offset on.
func said(name string, from int64) string {
	f, err := os.Open(name)
	if err != nil {
		return "see " + name
	}
	defer f.Close()
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return "see " + name
	}
	text, _ := io.ReadAll(io.LimitReader(f, mostSaid))
	return "it wrote to " + name + ":\n" + strings.TrimRight(string(text), "\n")
}

// tellReady says that the doors are open to the process that waits for that.
func tellReady() error {
	f := os.NewFile(readyFile, "ready")
	_, err := f.WriteString("ready\n")
	if closed := f.Close(); err == nil {
		err = closed
	}
	return err
}
