package function

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

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// dynamoDB is a DynamoDB Local that a bench has started.
type dynamoDB struct {
	url string
	cmd *exec.Cmd
	out *headOf
}

// startDynamoDB starts the one whose jars lie in a folder, which keeps all in memory and tells nobody about itself.
func startDynamoDB(ctx context.Context, jars string) (*dynamoDB, error) {
	free, err := harness.FreePort() // the server cannot be told to choose by itself
	if err != nil {
		return nil, fmt.Errorf("find a free port: %w", err)
	}
	port := strconv.Itoa(free)
	d := &dynamoDB{url: "http://127.0.0.1:" + port, out: new(headOf)}
	d.cmd = exec.CommandContext(ctx, "java", "-Djava.library.path="+jars, "-cp", filepath.Join(jars, "*"),
		"com.amazonaws.services.dynamodbv2.local.main.ServerRunner",
		"-inMemory", "-sharedDb", "-disableTelemetry", "-port", port)
	d.cmd.Stdout, d.cmd.Stderr = d.out, d.out
	if err := d.cmd.Start(); err != nil {
		return nil, fmt.Errorf("start DynamoDB Local: %w", err)
	}
	return d, nil
}

// Close ends it.
func (d *dynamoDB) Close() error {
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
		err := d.ask(ctx, "CreateTable",
			`{"TableName":"things","AttributeDefinitions":[{"AttributeName":"id","AttributeType":"S"}],"KeySchema":[{"AttributeName":"id","KeyType":"HASH"}],"BillingMode":"PAY_PER_REQUEST"}`)
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
	req.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, "+
		"SignedHeaders=host, Signature=0")
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
