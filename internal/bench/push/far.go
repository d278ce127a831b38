package push

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// What all pushes of the push bench have in common.
const (
	pushTopic   = "com.example.news"
	pushTeam    = "TEAM123456"
	pushKey     = "KEY1234567"
	pushStreams = 1000 // that a far end allows on a connection, as Apple's does
)

// deviceToken is the token of a user's phone.
func deviceToken(user int) string { return fmt.Sprintf("%064x", user) }

// badges are the files that a far end and its clients know each other by.
type badges struct {
	dir                               string
	authority                         *farend.Authority
	key                               *apns.Key
	ca, serverCert, serverKey, signer string // files
}

// newBadges makes them in a folder.
func newBadges(dir string) (*badges, error) {
	b := &badges{dir: dir, ca: filepath.Join(dir, "ca.pem"), serverCert: filepath.Join(dir, "server.pem"),
		serverKey: filepath.Join(dir, "server.key"), signer: filepath.Join(dir, "signer.p8")}
	var err error
	if b.authority, err = farend.NewAuthority(); err != nil {
		return nil, err
	}
	if b.key, err = apns.NewKey(pushTeam, pushKey); err != nil {
		return nil, err
	}
	server, err := b.authority.Server()
	if err != nil {
		return nil, err
	}
	key, err := x509.MarshalPKCS8PrivateKey(server.PrivateKey)
	if err != nil {
		return nil, fmt.Errorf("key of a server: %w", err)
	}
	for file, text := range map[string][]byte{
		b.ca: b.authority.PEM, b.signer: b.key.PEM,
		b.serverCert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate[0]}),
		b.serverKey:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	} {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// farEnd is a server that pushes go to, in a process of its own.
type farEnd struct {
	name   string
	addr   string
	ca     string // file
	signer string // file: what provider tokens are signed with
	close  func() error
	talk   *harness.Talker // of the sandbox only
}

// The far ends.
const (
	farSandbox = "sandbox"
	farNghttpd = "nghttpd"
	farMock    = "pushy-mock"
)

// startSandbox starts our own far end, which behaves as told.
func startSandbox(ctx context.Context, command []string, dir string, behave farend.Behaviour) (*farEnd, error) {
	text, err := json.Marshal(behave)
	if err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	if len(command) == 0 {
		return nil, errors.New("no command was given that serves in a process of its own")
	}
	t, err := harness.StartTalker(ctx, farSandbox, append(command[:len(command):len(command)], "--kind", farSandbox,
		"--dir",
		dir, "--behave", string(text))...)
	if err != nil {
		return nil, err
	}
	var at harness.Served
	if err := t.Hear(&at); err != nil {
		return nil, err
	}
	return &farEnd{farSandbox, at.Addr, filepath.Join(dir, "ca.pem"), filepath.Join(dir, "signer.p8"), t.Close, t}, nil
}

// counts asks our far end for what it saw, and lets it forget that.
func (f *farEnd) counts() (c farend.Counts, err error) {
	err = f.talk.Ask("counts", &c)
	return c, err
}

// behave tells our far end how to behave from now on.
func (f *farEnd) behave(b farend.Behaviour) error {
	_, err := f.behaves(b)
	return err
}

// behaves does that, too, and returns what our far end saw since it was asked last.
func (f *farEnd) behaves(b farend.Behaviour) (c farend.Counts, err error) {
	text, err := json.Marshal(b)
	if err != nil {
		return c, err
	}
	err = f.talk.Ask(string(text), &c)
	return c, err
}

// startNghttpd starts nghttpd, which answers pushes to the first user's phone with an empty file.
func startNghttpd(ctx context.Context, b *badges) (_ *farEnd, err error) {
	root := filepath.Join(b.dir, "www")
	devices := filepath.Join(root, "3", "device")
	if err := os.MkdirAll(devices, 0o755); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(devices, deviceToken(1)), nil, 0o644); err != nil {
		return nil, err
	}
	port, err := harness.FreePort()
	if err != nil {
		return nil, err
	}
	t, err := harness.StartTalker(ctx, farNghttpd, "nghttpd", "-a", "127.0.0.1", "-d", root, "-m",
		strconv.Itoa(pushStreams),
		strconv.Itoa(port), b.serverKey, b.serverCert)
	if err != nil {
		return nil, err
	}
	stop := func() error { // it knows no other way to end
		_ = t.Cmd.Process.Kill()
		_ = t.Cmd.Wait()
		return nil
	}
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	if err := harness.AwaitListener(ctx, addr); err != nil {
		return nil, errors.Join(err, stop())
	}
	return &farEnd{name: farNghttpd, addr: addr, ca: b.ca, signer: b.signer, close: stop}, nil
}

// startMock starts pushy's server for tests.
func (s *session) startMock(ctx context.Context, b *badges) (*farEnd, error) {
	t, err := harness.StartTalker(ctx, farMock, s.java("Mock", "--cert", b.serverCert, "--key", b.serverKey,
		"--streams",
		strconv.Itoa(pushStreams))...)
	if err != nil {
		return nil, err
	}
	var at harness.Served
	if err := t.Hear(&at); err != nil {
		return nil, err
	}
	return &farEnd{name: farMock, addr: at.Addr, ca: b.ca, signer: b.signer, close: t.Close}, nil
}

// java is the command of one of our programs on pushy.
func (s *session) java(program string, args ...string) []string {
	path := filepath.Join(s.Clients, "classes") + string(os.PathListSeparator) + filepath.Join(s.Clients, "java", "*")
	command := []string{"java", "-Djava.util.concurrent.ForkJoinPool.common.parallelism=200", "-cp", path, program}
	return append(command, args...)
}

// flagsOf are what our Java programs are told of a far end.
func (f *farEnd) flags() []string {
	return []string{"--endpoint", f.addr, "--ca", f.ca, "--key", f.signer, "--key-id", pushKey, "--team-id", pushTeam,
		"--topic", pushTopic}
}

// h2loaded is what h2load did.
type h2loaded struct {
	perSecond float64
	failed    int
	cpu       time.Duration // of h2load
}

var (
	h2loadRate = regexp.MustCompile(`finished in [^,]+, ([0-9.]+) req/s`)
	h2loadDone = regexp.MustCompile(`status codes: ([0-9]+) 2xx`)
)

// h2load sends n pushes to the first user's phone through so many connections, as fast as the far end takes them.
func h2load(ctx context.Context, f *farEnd, dir string, n, connections int) (h2loaded, error) {
	payload := filepath.Join(dir, "payload.json")
	if err := os.WriteFile(payload, pushPayload(1), 0o644); err != nil {
		return h2loaded{}, err
	}
	args := []string{"-n", strconv.Itoa(n), "-c", strconv.Itoa(connections), "-t", "1", "-m", strconv.Itoa(pushStreams),
		"-d", payload}
	fields, err := pushFields(f.signer, 1)
	if err != nil {
		return h2loaded{}, err
	}
	for _, h := range fields {
		args = append(args, "-H", h.Name+": "+h.Value)
	}
	t, err := harness.StartTalker(ctx, "h2load",
		append(append([]string{"h2load"}, args...), "https://"+f.addr+"/3/device/"+deviceToken(1))...)
	if err != nil {
		return h2loaded{}, err
	}
	var text strings.Builder
	if _, err := t.Out.WriteTo(&text); err != nil {
		return h2loaded{}, errors.Join(err, t.Close())
	}
	if err := t.Close(); err != nil {
		return h2loaded{}, err
	}
	rate, done := h2loadRate.FindStringSubmatch(text.String()), h2loadDone.FindStringSubmatch(text.String())
	if rate == nil || done == nil {
		return h2loaded{}, fmt.Errorf("h2load said nothing that could be understood:\n%s", text.String())
	}
	var l h2loaded
	l.perSecond, _ = strconv.ParseFloat(rate[1], 64)
	ok, _ := strconv.Atoi(done[1])
	l.failed, l.cpu = n-ok, t.Cmd.ProcessState.UserTime()+t.Cmd.ProcessState.SystemTime()
	return l, nil
}
