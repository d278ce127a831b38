package cluster

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/freeport"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/machine"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The queues of the nodes.
var (
	idle    = queue.Name{Namespace: queue.DefaultNamespace, Name: "idle"}    // nothing is ever put into it
	scratch = queue.Name{Namespace: queue.DefaultNamespace, Name: "scratch"} // what is put into it is purged
	handed  = queue.Name{Namespace: queue.DefaultNamespace, Name: "handed"}  // somebody waits for what is put into it
)

// configured is the configuration of a node: its folder, name, secret, peers and the address of its HTTP door. A lease
// is short, because what was handed out when an owner was killed is waited for.
const configured = `data_dir: %q
cluster: { name: bench, node: %s, secret: %q, peers: { %s } }
api:
  http: { listen: %q, max_connections: 20000 }
  mysql: { off: true }
  pubsub: { off: true }
  sqs: { off: true }
  lambda: { off: true }
queues:
  measured: { lease: 5s }
  idle: {}
  scratch: {}
  handed: {}
`

const (
	readySoon = time.Minute           // how long an owner may be waited for
	tryAgain  = 2 * time.Millisecond  // after a request that failed because nobody owned the shard
	lookAgain = 50 * time.Millisecond // at how nodes are
	aWhile    = 15 * time.Second      // for one request
)

// nodes are three processes that are a cluster, on loopback.
type nodes struct {
	command []string // to which the configuration's file is added
	dialer  *link.Dialer
	all     []*node
}

// node is one of them.
type node struct {
	name, config, log string
	peer              link.Peer // its address for the others
	client            *httpdoor.Client
	url               string
	cmd               *exec.Cmd // nil: it does not run
}

// startNodes makes three nodes in a folder below dir, and waits until one owns the shard. Who calls it calls end, also
// after an error. They are killed when ctx ends.
func startNodes(ctx context.Context, command []string, dir string) (*nodes, error) {
	ns := &nodes{command: command}
	if len(command) == 0 {
		return ns, errors.New("no command was given that serves as a node in a process of its own")
	}
	secret := newSecret()
	var err error
	if ns.dialer, err = link.NewDialer(link.Options{Cluster: "bench", Secret: secret}); err != nil {
		return ns, err
	}
	ports, err := freeport.Find(6)
	if err != nil {
		return ns, err
	}
	var peers []string
	for i, name := range []string{"a", "b", "c"} {
		n := &node{name: name, config: filepath.Join(dir, name+".yaml"), log: filepath.Join(dir, name+".log"),
			peer: link.Peer{Node: name, Address: ports[2*i]}, url: "http://" + ports[2*i+1]}
		if n.client, err = httpdoor.NewClient(httpdoor.ClientConfig{URL: n.url}); err != nil {
			return ns, err
		}
		peers = append(peers, fmt.Sprintf("%s: %q", name, ports[2*i]))
		ns.all = append(ns.all, n)
	}
	for _, n := range ns.all {
		text := fmt.Sprintf(configured, filepath.ToSlash(filepath.Join(dir, "data-"+n.name)), n.name, secret,
			strings.Join(peers, ", "), strings.TrimPrefix(n.url, "http://"))
		if err := os.WriteFile(n.config, []byte(text), 0o600); err != nil {
			return ns, err
		}
		if err := ns.start(ctx, n); err != nil {
			return ns, err
		}
	}
	_, err = ns.whole(ctx)
	return ns, err
}

// newSecret is one of this run alone: whoever knows it has the rights of the account that runs the bench, and other
// accounts of this machine reach the nodes' ports.
func newSecret() string { return rand.Text() + rand.Text() }

func (ns *nodes) start(ctx context.Context, n *node) error {
	log, err := os.OpenFile(n.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has its own
	args := append(ns.command[1:len(ns.command):len(ns.command)], n.config)
	cmd := exec.CommandContext(ctx, ns.command[0], args...)
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start node %s: %w", n.name, err)
	}
	n.cmd = cmd
	return nil
}

// kill ends a node as kill -9 does, and returns when it is gone, with the moment of the kill.
func (n *node) kill() (at time.Time) {
	at = time.Now()
	if n.cmd != nil {
		_ = n.cmd.Process.Kill()
		_ = n.cmd.Wait() // killed: there is nothing to learn from it
		n.cmd = nil
	}
	return at
}

// end kills all nodes.
func (ns *nodes) end() error {
	for _, n := range ns.all {
		n.kill()
		if n.client != nil {
			n.client.Close()
		}
	}
	return nil
}

// rss is the memory of a node's process; 0: it cannot be told.
func (n *node) rss() int64 { return machine.ResidentOf(n.cmd.Process.Pid) }

// owner is the node that owns the shard, as it says itself, and how it and the others are; nil: none says so now.
func (ns *nodes) owner(ctx context.Context) (*node, cluster.Status) {
	ctx, end := context.WithTimeout(ctx, time.Second)
	defer end()
	var best *node
	var its cluster.Status
	for _, n := range ns.all {
		if n.cmd == nil {
			continue
		}
		s, err := cluster.Ask(ctx, ns.dialer, n.peer, cluster.Request{Ask: cluster.AskStatus})
		if err == nil && s.Owner.Node == n.name && s.Owner.Term > its.Owner.Term {
			best, its = n, s
		}
	}
	return best, its
}

// whole waits until a node owns the shard and answers, and the others have all that it has.
func (ns *nodes) whole(ctx context.Context) (owner *node, err error) {
	within, end := context.WithTimeout(ctx, readySoon)
	defer end()
	for {
		n, s := ns.owner(within)
		ready := n != nil && len(s.Members) == len(ns.all)
		for _, m := range s.Members {
			ready = ready && (m.Node == s.Node || m.Alive && m.Known && m.Lag == 0)
		}
		if ready {
			if _, err = n.client.Stats(within, harness.Measured); err == nil {
				return n, nil
			}
		}
		if pause(within, lookAgain); within.Err() != nil {
			return nil, errors.Join(context.Cause(ctx), fmt.Errorf("the nodes were not whole within %v: %w\n%s",
				readySoon, err, ns.said()))
		}
	}
}

// said is what the nodes have logged last, for a person.
func (ns *nodes) said() string {
	var b strings.Builder
	for _, n := range ns.all {
		text, err := os.ReadFile(n.log)
		if err != nil {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		fmt.Fprintf(&b, "node %s:\n%s\n", n.name, strings.Join(lines[max(0, len(lines)-5):], "\n"))
	}
	return b.String()
}

// other is one of the nodes that are not this one, in turns.
func (ns *nodes) other(than *node, turn int) *node {
	for i := range ns.all {
		if n := ns.all[(turn+i)%len(ns.all)]; n != than {
			return n
		}
	}
	return nil
}

// pause waits, or until ctx ends.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
