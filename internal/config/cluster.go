package config

import (
	"errors"
	"fmt"
	"net"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/link"
)

// Cluster says of which nodes this process is one. Without peers it is alone.
type Cluster struct {
	Name   string            `yaml:"name" default:"hikyaku" doc:"What the cluster is called, the same at all its nodes. Nodes of another name are strangers, also if their secret is the same."`
	Node   string            `yaml:"node" doc:"Which of the peers this process is. Required with peers."`
	Listen string            `yaml:"listen" doc:"Where the other nodes reach this one, HOST:PORT. Not set: at its address in peers."`
	Peers  map[string]string `yaml:"peers" doc:"The nodes and where each is reached by the others, as { a: 10.0.0.1:6222, b: 10.0.0.2:6222, c: 10.0.0.3:6222 }; this one among them, and the same at all nodes. Of a cluster that runs they are where to look first: hikyaku cluster join and leave change which nodes there are. Three survive the loss of one, five that of two. Not set: this process is alone."`
	Secret access.Secret     `yaml:"secret" doc:"What proves that a node is one of this cluster, at least 32 characters, the same at all nodes. Required with peers. Whoever has it has all messages: ${NAME} takes it from the environment."`
}

// On tells whether there is a cluster.
func (c *Cluster) On() bool { return len(c.Peers) > 0 }

// Own is where the node listens for its peers.
func (c *Cluster) Own() string {
	if c.Listen != "" {
		return c.Listen
	}
	return c.Peers[c.Node]
}

// Others are the other nodes, in the order of their names.
func (c *Cluster) Others() (peers []link.Peer) {
	for _, name := range sortedKeys(c.Peers) {
		if name != c.Node {
			peers = append(peers, link.Peer{Node: name, Address: c.Peers[name]})
		}
	}
	return peers
}

// checkSettings refuses what is no cluster.
func (c *Cluster) checkSettings() (errs []error) {
	wrong := func(setting, hint, text string, args ...any) {
		errs = append(errs, &component.SettingError{Setting: setting, Err: fmt.Errorf(text, args...), Hint: hint,
			Offset: -1})
	}
	if err := link.CheckName(c.Name); err != nil {
		wrong("name", "", "%v", err)
	}
	if !c.On() {
		if c.Node != "" || c.Listen != "" || c.Secret != "" {
			wrong("", "name all nodes, this one among them", "a cluster needs peers:, as { a: 10.0.0.1:6222, … }")
		}
		return errs
	}
	ports := map[string]string{}
	for _, name := range sortedKeys(c.Peers) {
		if err := link.CheckName(name); err != nil {
			wrong("peers."+name, "", "%v", err)
		}
		if err := checkAddress(c.Peers[name], true); err != nil {
			wrong("peers."+name, "", "%v", err)
		}
		if other, taken := ports[c.Peers[name]]; taken {
			wrong("peers."+name, "each node has an address of its own", "this is the address of %s already", other)
		}
		ports[c.Peers[name]] = name
	}
	if _, is := c.Peers[c.Node]; !is {
		wrong("node", "every node's configuration has the same peers:, and its own node:",
			"%q is none of the peers", c.Node)
	}
	if c.Listen != "" {
		if err := checkAddress(c.Listen, false); err != nil {
			wrong("listen", "", "%v", err)
		}
	}
	if len(c.Peers) > mostPeers {
		wrong("peers", "3 or 5 is usual: each message is written by every one of them", "%d nodes are more than %d",
			len(c.Peers), mostPeers)
	}
	switch err := link.CheckSecret(c.Secret.Reveal()); {
	case c.Secret == "":
		wrong("", "secret: ${HIKYAKU_CLUSTER_SECRET} takes it from the environment", "%v: secret: is missing", err)
	case err != nil:
		wrong("secret", "", "%v", err)
	}
	return errs
}

// mostPeers is how many nodes a cluster has at most.
const mostPeers = 7

// checkAddress tells whether it is HOST:PORT; with a host that others can go to, if they shall.
func checkAddress(addr string, others bool) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%q is not host:port", addr)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 && others {
		return fmt.Errorf("%q has no port from 1 to 65535", addr)
	}
	if ip := net.ParseIP(host); others && (host == "" || ip != nil && ip.IsUnspecified()) {
		return errors.New("other nodes cannot go to every address: name one")
	}
	return nil
}

// cluster checks what a cluster cannot do, and warns of what it need not be.
func (d *decoder) cluster(root *node, f *File) {
	if !f.Cluster.On() {
		return
	}
	if f.Shards > 1 {
		_, at := root.lookUp("shards")
		d.at(at, "leave shards: out", "a cluster has one shard so far, not %d", f.Shards)
	}
	if n := len(f.Cluster.Peers); n%2 == 0 {
		_, at := root.lookUp("cluster.peers")
		f.Warnings = append(f.Warnings, f.source.error(at, "take one more or one less", "%d nodes survive the loss of "+
			"no more nodes than %d do, and cost more", n, n-1))
	}
}
