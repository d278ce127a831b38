package function

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/measure"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Where a function is invoked.
const (
	serverPool = "pool"
	serverDoor = "door"
	serverRIE  = "rie"
)

// functionEvent is what warm calls give to the function and get back.
const functionEvent = `{"name":"hikyaku","n":1}`

// invoking is a way to invoke a function once.
type invoking struct {
	name, server string
	call         func() error
	close        func() error
	times        *measure.Histogram
}

// warmCalls invokes instances that are there, one call after the other, in turns.
func (s *session) warmCalls(ctx context.Context) (err error) {
	p, err := s.pool()
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, p.Close()) }()
	d, err := s.openFunctionDoor(ctx, s.runtimes)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, d.Close(ctx)) }()
	var ways []*invoking
	runs := ""
	defer func() {
		for _, w := range ways {
			err = errors.Join(err, w.close())
		}
	}()
	add := func(name, server string, call, end func() error) {
		ways = append(ways, &invoking{name, server, call, end, measure.NewHistogram()})
	}
	for i, l := range s.runtimes {
		def := l.definition("echo")
		def.Name = "echo" + strconv.Itoa(i)
		if _, err := p.Deploy(def); err != nil {
			return err
		}
		add(l.name, serverPool, func() error { _, err := p.invokeWell(ctx, def.Name, functionEvent); return err },
			func() error { return nil })
		line, err := openFunctionLine(ctx, d.addr, "/2015-03-31/functions/"+d.functions[i]+"/invocations")
		if err != nil {
			return err
		}
		add(l.name, serverDoor, line.ask, line.Close)
	}
	if s.RIE != "" {
		e, err := s.openEmulator(ctx)
		if err != nil {
			return err
		}
		add("emulator", serverRIE, e.ask, e.Close)
		runs = e.runs
	}
	for _, w := range ways { // so that all are warm
		for range 20 {
			if err := w.call(); err != nil {
				return fmt.Errorf("%s at %s: %w", w.name, w.server, err)
			}
		}
	}
	for range s.warm.Pairs {
		for _, w := range ways {
			for end := time.Now().Add(s.warm.Slice); time.Now().Before(end); {
				began := time.Now()
				if err := w.call(); err != nil {
					return fmt.Errorf("%s at %s: %w", w.name, w.server, err)
				}
				w.times.Record(time.Since(began))
			}
		}
		s.Step()
	}
	s.warmRows(ways, runs)
	return nil
}

// warmRows tells what the ways took; runs says what the emulator runs.
func (s *session) warmRows(ways []*invoking, runs string) {
	var emulator time.Duration
	for _, w := range ways {
		if w.server == serverRIE {
			emulator = w.times.Quantile(0.5)
		}
	}
	for _, w := range ways {
		r := s.Report.Row(w.name, workWarm).Set("server", w.server).Times(w.times)
		var goals []harness.Goal
		if w.name == caseGo && w.server == serverDoor {
			goals = append(goals, harness.AtMost("p99_ms", 1))
			if emulator > 0 {
				goals = append(goals, harness.AtMost("ratio_rie", 0.6))
			}
		}
		if emulator > 0 && w.server == serverDoor {
			r.Set("ratio_rie", harness.Hundredths(w.times.Quantile(0.5).Seconds()/emulator.Seconds()))
		}
		why := "the event is handed to a waiting program: two messages and back"
		switch w.server {
		case serverDoor:
			why = "the same through HTTP: a connection that stays"
		case serverRIE:
			why = "the emulator, with " + runs
		}
		r.Set("because", why)
		harness.Judge(r, s.Quick, goals...)
	}
	if s.RIE == "" {
		s.Report.Note("the provider's emulator was not measured, because neither the address nor the program of one " +
			"was given; its p50 was 0.375 ms on the machine where the goal was set")
	}
}

// functionDoor is a Lambda door over a registry over a store, as a server has them.
type functionDoor struct {
	rig       *harness.Rig
	registry  *deployment.Registry
	door      *lambda.Server
	dir, addr string
	functions []string // deployed there: one for each runtime
}

func (s *session) openFunctionDoor(ctx context.Context, runtimes []*functionRuntime) (_ *functionDoor,
	err error) {
	d := new(functionDoor)
	if d.dir, err = os.MkdirTemp(s.Temp, "functions-"); err != nil {
		return nil, fmt.Errorf("make a folder for functions: %w", err)
	}
	defer func() {
		if err != nil {
			err = harness.JoinCleanup(err, d.Close(ctx))
		}
	}()
	if d.rig, err = harness.NewRig(ctx, s.Temp, queue.Definition{}, harness.Setting{}); err != nil {
		return nil, err
	}
	if d.registry, err = deployment.Open(ctx, deployment.Config{Store: d.rig.Store, Dir: d.dir}); err != nil {
		return nil, err
	}
	for i, l := range runtimes {
		def := l.definition("echo")
		set := deployment.Settings{Runtime: def.Runtime, Handler: def.Handler, MemoryMB: def.MemoryMB,
			Timeout: def.Timeout, InitTimeout: def.InitTimeout}
		name := "echo" + strconv.Itoa(i)
		if _, err := d.registry.Create(ctx, name, set, deployment.Code{Folder: l.folder}, nil); err != nil {
			return nil, err
		}
		d.functions = append(d.functions, name)
	}
	if d.door, err = lambda.New(lambda.Config{Listen: "127.0.0.1:0"},
		lambda.Options{Functions: d.registry, Store: d.rig.Store}); err != nil {
		return nil, err
	}
	addr, err := d.door.Start(ctx)
	if err != nil {
		return nil, err
	}
	d.addr = addr.String()
	return d, nil
}

// Close ends what is open, from the top.
func (d *functionDoor) Close(ctx context.Context) (err error) {
	if d.door != nil {
		err = harness.CloseDoor(ctx, d.door)
	}
	if d.registry != nil {
		err = errors.Join(err, d.registry.Close())
	}
	if d.rig != nil {
		err = errors.Join(err, d.rig.Remove())
	}
	return errors.Join(err, os.RemoveAll(filepath.Clean(d.dir)))
}

// functionLine is a connection on which one request waits for its answer at a time. It spends as little on HTTP as can
// be, so that what is measured is the other end.
type functionLine struct {
	conn    net.Conn
	in      *bufio.Reader
	request []byte
	answer  []byte
	patient time.Time // until when it waits
}

// functionPatience is how long an answer is waited for at least.
const functionPatience = time.Minute

// openFunctionLine connects for POSTs of the event to a path.
func openFunctionLine(ctx context.Context, host, path string) (*functionLine, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, fmt.Errorf("connect to functions: %w", err)
	}
	request := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: "+
		"%d\r\n\r\n%s", path, host, len(functionEvent), functionEvent)
	return &functionLine{conn: conn, in: bufio.NewReader(conn), request: []byte(request)}, nil
}

// openEmulatorLine connects to an emulator, whose path is the same whatever its function is called.
func openEmulatorLine(ctx context.Context, address string) (*functionLine, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" || u.Host == "" {
		return nil, fmt.Errorf("the emulator's address %q is no URL of the form http://host:port", address)
	}
	return openFunctionLine(ctx, u.Host, "/2015-03-31/functions/function/invocations")
}

func (l *functionLine) Close() error { return l.conn.Close() }

// ask sends the request and demands an answer that is no error.
func (l *functionLine) ask() error {
	if now := time.Now(); l.patient.Before(now.Add(functionPatience)) { // not each time: it costs
		l.patient = now.Add(2 * functionPatience)
		if err := l.conn.SetDeadline(l.patient); err != nil {
			return err
		}
	}
	if _, err := l.conn.Write(l.request); err != nil {
		return err
	}
	status, err := l.in.ReadString('\n')
	if err != nil {
		return err
	}
	length, failed := -1, false
	for {
		line, err := l.in.ReadSlice('\n')
		if err != nil {
			return err
		}
		line = bytes.TrimSpace(line)
		if len(line) == 0 {
			break
		}
		if value, ok := afterHeader(line, "content-length"); ok {
			if length, err = strconv.Atoi(string(value)); err != nil {
				return fmt.Errorf("an answer has a length of %q", value)
			}
		} else if _, ok := afterHeader(line, "x-amz-function-error"); ok {
			failed = true
		}
	}
	if length > 8<<20 {
		return fmt.Errorf("an answer has %d bytes", length)
	}
	if length < 0 {
		return fmt.Errorf("an answer has no length: %s", strings.TrimSpace(status))
	}
	if cap(l.answer) < length {
		l.answer = make([]byte, length)
	}
	l.answer = l.answer[:length]
	if _, err := io.ReadFull(l.in, l.answer); err != nil {
		return err
	}
	if failed || !strings.HasPrefix(status, "HTTP/1.1 200") {
		return fmt.Errorf("a function was answered for with %s: %.300s", strings.TrimSpace(status), l.answer)
	}
	return nil
}

// afterHeader is the value of a line of a head, if it has the name, which is in small letters.
func afterHeader(line []byte, name string) ([]byte, bool) {
	if len(line) <= len(name) || line[len(name)] != ':' || !bytes.EqualFold(line[:len(name)], []byte(name)) {
		return nil, false
	}
	return bytes.TrimSpace(line[len(name)+1:]), true
}
