package file_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
)

// childEnv makes the test binary a process that appends to the journal in the folder named, until it is killed.
const childEnv = "HIKYAKU_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		if err := child(dir); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// child appends from several goroutines and reports each acknowledged group on standard output. It opens whatever the
// child before it left. It ends when standard input does.
func child(dir string) error {
	o := file.Options{Dir: dir, SegmentBytes: 256 << 10,
		Durability: journal.Durability(os.Getenv(childEnv + "_DURABILITY"))}
	j, err := file.Open(context.Background(), o)
	if err != nil {
		return err
	}
	fmt.Println("open")
	var all sync.WaitGroup
	for w := range 4 {
		all.Go(func() {
			for i := 0; ; i++ {
				p, err := appendWait(j, message(w, 100+i%700))
				if err != nil {
					fmt.Println("error", err)
					return
				}
				fmt.Println("durable", uint64(p)) // one write each: a line is whole or was not sent
				if err := j.Write([]journal.Record{settle(w)}); err != nil {
					fmt.Println("error", err)
					return
				}
			}
		})
	}
	_, err = io.Copy(io.Discard, os.Stdin)
	return err
}

func startChild(t *testing.T, dir string, durability journal.Durability) (*exec.Cmd, io.WriteCloser, *bufio.Scanner) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childEnv+"="+dir, childEnv+"_DURABILITY="+string(durability))
	in, err := c.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() || lines.Text() != "open" {
		t.Fatalf("the child says %q", lines.Text())
	}
	return c, in, lines
}

func TestKilledProcessLosesNothingThatWasAcknowledged(t *testing.T) {
	for durability, kills := range map[journal.Durability]int{
		journal.Fsync: amount(25, 25, 8), journal.OS: amount(10, 10, 4)} {
		t.Run(string(durability), func(t *testing.T) {
			dir := t.TempDir()
			durable := map[journal.Position]bool{}
			for kill := range kills {
				c, in, lines := startChild(t, dir, durability)
				for n := 0; lines.Scan(); n++ {
					var p uint64
					if _, err := fmt.Sscanf(lines.Text(), "durable %d", &p); err != nil {
						t.Fatalf("the child says %q", lines.Text())
					}
					durable[journal.Position(p)] = true
					if n == 20+kill*7 {
						if err := c.Process.Kill(); err != nil { // whatever it is doing; the lines it sent still count
							t.Fatal(err)
						}
					}
				}
				in.Close()
				if err := c.Wait(); err == nil {
					t.Fatal("the child ended by itself")
				}
			}
			o := file.Options{Dir: dir, SegmentBytes: 256 << 10}
			j := mustOpen(t, o)
			defer j.Close()
			for g, err := range j.Scan(t.Context(), 0) {
				if err != nil {
					t.Fatal(err)
				}
				delete(durable, g.Position)
			}
			if len(durable) != 0 {
				t.Errorf("%d groups that were acknowledged are gone: %v", len(durable), durable)
			}
			if _, err := content(t.Context(), j); err != nil {
				t.Errorf("the log does not read back: %v", err)
			}
		})
	}
}

func TestSecondProcessIsKeptOut(t *testing.T) {
	dir := t.TempDir()
	c, in, lines := startChild(t, dir, journal.Fsync)
	j, err := file.Open(t.Context(), file.Options{Dir: dir})
	if !errors.Is(err, journal.ErrLocked) {
		t.Errorf("opened twice: %v, %v", j, err)
	} else if text := err.Error(); !strings.Contains(text, dir) || !strings.Contains(text, fmt.Sprint(c.Process.Pid)) {
		t.Errorf("%q does not name the folder and process %d", text, c.Process.Pid)
	}
	if err := c.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
	}
	in.Close()
	c.Wait() //nolint:errcheck // it was killed
	j, err = file.Open(t.Context(), file.Options{Dir: dir})
	if err != nil {
		t.Fatalf("after the other process died: %v", err)
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
}
