package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// itemReader is a function that reads one item of DynamoDB, as the report had it.
type itemReader struct {
	name, runtime, folder, handler string
	memoryMB                       int
	report                         []float64 // what was billed there, in ms
	because                        string
}

func itemReaders() []itemReader {
	const constructor = "the client is made in the start, which is apart and has a whole processor; what is left in the first call is what the client does at its first request"
	return []itemReader{
		{"java, in the handler", "java17", "dynamodb-java", "Read1::myHandler", 192, []float64{21800, 1300, 19000, 1000, 500, 400, 400}, "the classes of the client are loaded in the handler, with 192/1769 of a processor"},
		{"java, in the constructor", "java17", "dynamodb-java", "Read2::myHandler", 192, []float64{6700, 7300, 500, 1300, 400, 100, 300}, constructor},
		{"node, in the handler", "nodejs", "dynamodb-node", "index.read1", 128, []float64{900, 800, 200, 200, 400, 200, 400}, "the client's files are loaded in the start; it is made, and connects, in each call"},
		{"node, before", "nodejs", "dynamodb-node", "index.read2", 128, nil, constructor},
		{"go through node", "nodejs", "dynamodb-node", "index.through", 128, []float64{600, 500, 500, 400, 500, 500, 500}, "a program is started for each call, which connects anew: nothing of it becomes warm"},
		{"go, in the handler", "provided", "dynamodb-go", "read1", 128, nil, "nothing is loaded late; each call connects anew"},
		{"go, before", "provided", "dynamodb-go", "read2", 128, nil, "nothing is loaded late, and the connection stays"},
	}
}

// dynamo lets functions read from DynamoDB Local, seven times each.
func (s *functionSession) dynamo(ctx context.Context) (err error) {
	if s.Clients == "" {
		s.report.Note("dynamodb was not measured, because no folder with its clients was given")
		return nil
	}
	root, err := filepath.Abs(s.Clients)
	if err != nil {
		return fmt.Errorf("find the folder with the clients of functions: %w", err)
	}
	jars := filepath.Join(root, "dynamodb")
	if _, err := os.Stat(jars); err != nil {
		s.report.Note("dynamodb was not measured, because there is no " + jars + ": scripts/need-clients makes it")
		return nil
	}
	d, err := startDynamoDB(ctx, jars)
	if err != nil {
		return err
	}
	defer func() { err = joinCleanup(err, d.close()) }()
	if err := d.fill(ctx); err != nil {
		return err
	}
	for _, r := range itemReaders() {
		if s.Quick {
			r.memoryMB = 1769 // a class takes its time with a tenth of a processor
		}
		def := function.Definition{
			Name: "read", Runtime: r.runtime, Handler: r.handler, Code: code.Source{Folder: filepath.Join(root, "code", r.folder)}, MemoryMB: r.memoryMB,
			Timeout: 5 * time.Minute, InitTimeout: time.Minute, Environment: map[string]string{"DYNAMODB": d.url},
		}
		if err := s.with(func(p *functionPool) error { return s.readRows(ctx, p, r) }, def); err != nil {
			return err
		}
		s.step()
	}
	return nil
}

func (s *functionSession) readRows(ctx context.Context, p *functionPool, r itemReader) error {
	for n := range s.reads {
		c, err := p.call(ctx, "read", `{"name":"hikyaku","n":1}`)
		if err != nil {
			return err
		}
		if c.last("Found") != "hikyaku" {
			return fmt.Errorf("%s did not find the item:\n%s", r.name, c.Payload)
		}
		row := s.report.Row(r.name, workDynamoDB).Set("memory_mb", r.memoryMB).Set("call", n+1)
		if n < len(r.report) {
			row.Set("report_ms", r.report[n])
		}
		why := r.because
		if n > 0 {
			why = "warm: " + why
		}
		c.bills(row).Set("because", why)
	}
	return nil
}

// dynamoDB is a DynamoDB Local that a bench has started.
type dynamoDB struct {
	url string
	cmd *exec.Cmd
	out *headOf
}

// startDynamoDB starts the one whose jars lie in a folder, which keeps all in memory and tells nobody about itself.
func startDynamoDB(ctx context.Context, jars string) (*dynamoDB, error) {
	free, err := freePort() // the server cannot be told to choose by itself
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	port := strconv.Itoa(free)
	d := &dynamoDB{url: "http://127.0.0.1:" + port, out: new(headOf)}
	d.cmd = exec.CommandContext(ctx, "java", "-Djava.library.path="+jars, "-cp", filepath.Join(jars, "*"), "com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
		"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port)
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DynamoDB Local: %w", err)
	}
	return d, nil
}

// close ends it.
func (d *dynamoDB) close() error {
	if err := d.cmd.Process.Kill(); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	_ = d.cmd.Wait() // it was killed
	return nil
}

// fill waits until it listens, and makes the table with its item.
func (d *dynamoDB) fill(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		err := d.ask(ctx, "CreateTable", `{"TableName":"things","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`)
		if err == nil {
			break
		}
		select {
		case <-ctx.Done():
			return errors.Join(context.Cause(ctx), fmt.Errorf("DynamoDB Local does not answer: %w\n%s", err, d.out))
		case <-tick.C:
		}
	}
	return d.ask(ctx, "PutItem", `{"TableName":"things","Item":{"id":{"S":"1"},"name":{"S":"hikyaku"}}}`)
}

// ask does an action. The server takes any signature, but wants one.
func (d *dynamoDB) ask(ctx context.Context, action, body string) (err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, d.url, strings.NewReader(body))
	if err != nil {
		return err
	}
	req.Header.Set("Content-Type", "application/x-amz-json-1.0")
	req.Header.Set("X-Amz-Target", "DynamoDB_20120810."+action)
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
	req.Close = true
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, resp.Body.Close()) }()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<16))
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s of DynamoDB Local: %s: %.300s", action, resp.Status, text)
	}
	return err
}

// headOf keeps the beginning of what a program prints.
type headOf struct {
	mu   sync.Mutex
	text []byte
}

func (h *headOf) Write(p []byte) (int, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.text = append(h.text, p[:min(len(p), 4096-len(h.text))]...)
	return len(p), nil
}

func (h *headOf) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

func drawDynamoDB(p *measure.Plot, r *measure.Row) {
	x := place(p, strconv.Itoa(int(number(r, "call"))))
	addPoint(p, fmt.Sprint(r.Get("case")), measure.LineMarks, x, number(r, "billed_ms"))
}
