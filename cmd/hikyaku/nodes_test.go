package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// clusterNode is a serve of a node.
type clusterNode struct {
	name, config string
	data         string // its data_dir
	http         string // where its doors are
	mysql, sqs   string
	pubsub       string
	lambda       string
	stop, hangup func() // as a signal does
	ended        chan error
}

func freeAddress(t *testing.T) string {
	t.Helper()
	found, err := freeport.Find(1)
	if err != nil {
		t.Fatal(err)
	}
	return found[0]
}

// startNodes starts nodes of a cluster in this process, each with a folder of its own.
func startNodes(t *testing.T, names ...string) map[string]*clusterNode {
	t.Helper()
	nodes := map[string]*clusterNode{}
	var peers []string
	for _, n := range names {
		peers = append(peers, n+": "+freeAddress(t))
	}
	dir := t.TempDir()
	for _, name := range names {
		n := newClusterNode(t, dir, name)
		n.configure(t, strings.Join(peers, ", "))
		n.serve(t)
		nodes[name] = n
	}
	t.Cleanup(func() { // all at once, so that none takes the shard of another
		for _, n := range nodes {
			n.stop()
		}
	})
	for _, n := range nodes {
		n.lives(t)
	}
	return nodes
}

// newClusterNode is one that has its doors' addresses.
func newClusterNode(t *testing.T, dir, name string) *clusterNode {
	t.Helper()
	n := &clusterNode{name: name, config: filepath.Join(dir, name+".yaml"), data: filepath.Join(dir, name),
		http: freeAddress(t), mysql: freeAddress(t), sqs: freeAddress(t), pubsub: freeAddress(t),
		lambda: freeAddress(t)}
	if err := os.Mkdir(n.data, 0o700); err != nil {
		t.Fatal(err)
	}
	return n
}

// configure writes its configuration.
func (n *clusterNode) configure(t *testing.T, peers string) {
	t.Helper()
	text := fmt.Sprintf(`data_dir: %s
cluster: { node: %s, peers: { %s }, secret: %s }
api:
  http: { listen: "%s" }
  mysql: { listen: "%s", socket: none }
  sqs: { listen: "%s" }
  pubsub: { listen: "%s" }
  lambda: { listen: "%s" }
queues: { work: {} }
log: { level: error }
`, filepath.ToSlash(n.data), n.name, peers, strings.Repeat("secret", 6), n.http, n.mysql, n.sqs, n.pubsub, n.lambda)
	if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// serve runs it, until the test ends or stop is called.
func (n *clusterNode) serve(t *testing.T) {
	t.Helper()
	f, err := config.Load(n.config, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithCancel(context.Background())
	signals := &hangups{come: make(chan struct{}, 1)}
	n.ended, n.stop, n.hangup, ctx = ended, cancel, func() { signals.come <- struct{}{} }, withHangups(ctx, signals)
	go func() { ended <- serve(ctx, &serveFlags{runFlags: runFlags{config: n.config}}, f) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("node %s: %v", n.name, err)
		}
	})
}

// lives waits until the node answers.
func (n *clusterNode) lives(t *testing.T) {
	t.Helper()
	waittest.Until(t, "node "+n.name+" lives", func() bool {
		status, _, err := n.ask(t, http.MethodGet, "/livez", "")
		return err == nil && status == http.StatusOK
	})
}

// ask sends a request to the node's HTTP door, on a connection of its own.
func (n *clusterNode) ask(t *testing.T, method, path, body string) (status int, text string, err error) {
	t.Helper()
	return askAt(t, method, "http://"+n.http+path, body, nil)
}

func askAt(t *testing.T, method, url, body string, header http.Header) (status int, text string, err error) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Close = true
	req.Header.Set("Content-Type", "text/plain")
	if strings.HasPrefix(body, "{") {
		req.Header.Set("Content-Type", "application/json")
	}
	for k, v := range header {
		req.Header[k] = v
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	got, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(got), err
}

// put puts a message into the queue "jobs", whoever owns the shard. While that changes it may fail.
func (n *clusterNode) put(t *testing.T, body string) error {
	t.Helper()
	status, text, err := n.ask(t, http.MethodPost, "/default/queues/jobs/messages", body)
	if err != nil {
		return err
	}
	if status != http.StatusOK && status != http.StatusCreated {
		return fmt.Errorf("%d %s", status, text)
	}
	return nil
}

// keep is put until it does not fail.
func (n *clusterNode) keep(t *testing.T, body string) {
	t.Helper()
	waittest.Until(t, body+" is put at "+n.name, func() bool { return n.put(t, body) == nil })
}

// take claims all messages of the queue "jobs" that there are.
func (n *clusterNode) take(t *testing.T) (bodies []string) {
	t.Helper()
	for {
		var text string
		waittest.Until(t, "the owner answers", func() bool {
			status, said, err := n.ask(t, http.MethodPost, "/default/queues/jobs/claim", `{"max":100}`)
			text = said
			return err == nil && status == http.StatusOK
		})
		var claimed struct {
			Messages []struct {
				Body string `json:"body"`
			} `json:"messages"`
		}
		if err := json.Unmarshal([]byte(text), &claimed); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		if len(claimed.Messages) == 0 {
			return bodies
		}
		for _, c := range claimed.Messages {
			bodies = append(bodies, c.Body)
		}
	}
}
