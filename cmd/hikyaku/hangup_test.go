package main

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

// running is a program that tells what it does on its standard error.
type running struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines chan string
	past  []string
}

func startProgram(t *testing.T, stdin io.Reader, args ...string) *running {
	t.Helper()
	// A program that this one starts would ignore SIGHUP where this one was told to, as by nohup.
	hangups := make(chan os.Signal, 1)
	signal.Notify(hangups, syscall.SIGHUP)
	t.Cleanup(func() { signal.Stop(hangups) })
	r := &running{t: t, cmd: command(t.Context(), nil, args...), lines: make(chan string, 1000)}
	r.cmd.Stdin = stdin
	out, err := r.cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	r.cmd.Stdout = r.cmd.Stderr
	if err := r.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(r.lines)
		for s := bufio.NewScanner(out); s.Scan(); {
			r.lines <- s.Text()
		}
	}()
	return r
}

// until waits for a line with a word in it.
func (r *running) until(word string) string {
	r.t.Helper()
	for {
		select {
		case line, ok := <-r.lines:
			if !ok {
				r.t.Fatalf("it ended without %q: %v\n%s", word, r.cmd.Wait(), strings.Join(r.past, "\n"))
			}
			r.past = append(r.past, line)
			if strings.Contains(line, word) {
				return line
			}
		case <-time.After(2 * time.Minute):
			r.t.Fatalf("no line with %q:\n%s", word, strings.Join(r.past, "\n"))
		}
	}
}

func (r *running) signal(s os.Signal) {
	r.t.Helper()
	if err := r.cmd.Process.Signal(s); err != nil {
		r.t.Fatal(err)
	}
}

// end waits for its end, and returns its status.
func (r *running) end() int {
	for line := range r.lines {
		r.past = append(r.past, line)
	}
	_ = r.cmd.Wait() // its status says it
	return r.cmd.ProcessState.ExitCode()
}

const closedDoors = "api: { http: { listen: 127.0.0.1:0 }, mysql: { off: true }, pubsub: { off: true }, sqs: { off: " +
	"true }, lambda: { off: true } }\n"

func TestAHangupReloadsUsersAndEndsNothing(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "h.yaml")
	write := func(rest string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("data_dir: "+filepath.Join(dir, "data")+"\n"+closedDoors+rest),
			0o600); err != nil {
			t.Fatal(err)
		}
	}
	users := func(secret string) string {
		return "users: { ann: { secret: " + secret + ", grants: [{ can: [put], on: [news] }] } }\n"
	}
	write(users("the-first-secret"))
	r := startProgram(t, strings.NewReader(""), "serve", "-c", file)
	_, rest, _ := strings.Cut(r.until("door=http"), "address=")
	url := "http://" + strings.Fields(rest)[0]
	publish := func(secret string) int {
		return hikyaku(t, "hello\n", []string{"HIKYAKU_SECRET=" + secret}, "publish", "--url", url, "news").code
	}
	if code := publish("the-first-secret"); code != 0 {
		t.Fatalf("publish: %d", code)
	}
	write(users("the-second-secret") + "limits: { messages: 5 }\nlog: { level: debug }\n")
	r.signal(syscall.SIGHUP)
	if line := r.until("read again"); !strings.Contains(line, `changed="[log.level users]"`) ||
		!strings.Contains(line, "needs_restart=[limits.messages]") {
		t.Error(line)
	}
	if code := publish("the-second-secret"); code != 0 {
		t.Errorf("the new secret: %d", code)
	}
	if code := publish("the-first-secret"); code == 0 {
		t.Error("the old secret is still good")
	}
	r.until("login failed")
	write("users: { ann: { secret: abc } }\n")
	r.signal(syscall.SIGHUP)
	r.until("is wrong")
	write("")
	r.signal(syscall.SIGHUP)
	r.until("not taken")
	if code := publish("the-second-secret"); code != 0 {
		t.Errorf("after files that are wrong: %d", code)
	}
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("status %d after SIGTERM:\n%s", code, strings.Join(r.past, "\n"))
	}
	if all := strings.Join(r.past, "\n"); strings.Contains(all, "secret-") || strings.Contains(all, "-secret") {
		t.Errorf("a secret is in the log:\n%s", all)
	}
}

func TestAHangupWithoutAConfigurationIsLogged(t *testing.T) {
	t.Setenv("HIKYAKU_DATA", t.TempDir())
	r := startProgram(t, strings.NewReader(""), "serve", "--listen", "127.0.0.1:0")
	r.until("door=http")
	r.signal(syscall.SIGHUP)
	r.until("no configuration")
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("status %d", code)
	}
}

func TestAHangupDoesNotEndAServerThatStarts(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "h.yaml")
	if err := exec.CommandContext(t.Context(), "mkfifo", pipe).Run(); err != nil {
		t.Fatal(err)
	}
	r := startProgram(t, strings.NewReader(""), "serve", "-c", pipe)
	asked := func() (f *os.File) { // waits until it reads its configuration
		waittest.Until(t, "the configuration is read", func() bool {
			var err error
			f, err = os.OpenFile(pipe, os.O_WRONLY|syscall.O_NONBLOCK, 0)
			return err == nil || r.cmd.ProcessState != nil
		})
		return f
	}
	answer := func(f *os.File) {
		if _, err := io.WriteString(f, "data_dir: "+filepath.Join(dir, "data")+"\n"+closedDoors); err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	f := asked()
	r.signal(syscall.SIGHUP)
	answer(f)
	r.until("door=http")
	answer(asked())
	r.until("read again")
	r.signal(syscall.SIGTERM)
	if code := r.end(); code != 0 {
		t.Errorf("status %d:\n%s", code, strings.Join(r.past, "\n"))
	}
}

func TestAHangupDoesNotEndARun(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "h.yaml")
	text := "data_dir: " + filepath.Join(dir, "data") + "\nsources: { lines: { type: stdin } }\nsinks: { out: { " +
		"type: file, inputs: [lines], path: " + filepath.Join(dir, "out") + " } }\n"
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	in, feed := io.Pipe()
	r := startProgram(t, in, "-c", file)
	if _, err := io.WriteString(feed, "one\n"); err != nil {
		t.Fatal(err)
	}
	waittest.Until(t, "a line is delivered", func() bool {
		got, _ := os.ReadFile(filepath.Join(dir, "out"))
		return len(got) > 0
	})
	r.signal(syscall.SIGHUP)
	r.until("read again")
	if _, err := io.WriteString(feed, "two\n"); err != nil {
		t.Fatal(err)
	}
	_ = feed.Close()
	if code := r.end(); code != 0 {
		t.Errorf("status %d:\n%s", code, strings.Join(r.past, "\n"))
	}
	if got, err := os.ReadFile(filepath.Join(dir, "out")); err != nil || string(got) != "one\ntwo\n" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestOtherCommandsEndWithAStatusOfTheirOwn(t *testing.T) {
	r := startProgram(t, strings.NewReader(""), "sandbox", "webhook", "--listen", "127.0.0.1:0")
	r.until("127.0.0.1")
	r.signal(syscall.SIGHUP)
	if code := r.end(); code != exitHangup {
		t.Errorf("status %d:\n%s", code, strings.Join(r.past, "\n"))
	}
}

func TestAHashOfASecretIsMade(t *testing.T) {
	r := hikyaku(t, "correct horse\n", nil, "user", "hash")
	if r.code != 0 || !strings.HasPrefix(r.stdout, "$argon2id$v=19$m=19456,t=2,p=1$") {
		t.Errorf("%+v", r)
	}
	if r := hikyaku(t, "abc\n", nil, "user", "hash"); r.code != exitUsage || strings.Contains(r.stderr, "abc") {
		t.Errorf("%+v", r)
	}
}
