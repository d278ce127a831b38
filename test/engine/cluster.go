package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A node is a server process in a network name space of its own, with a file system of its own.
type node struct {
	id    int
	name  string // as the servers know it; a node that was removed comes back under another one
	ip    string
	dir   string // its store
	image string // the file with its ext4, "" for a plain folder
	cmd   *exec.Cmd
	ended chan struct{}
}

var syncInterval string

type cluster struct {
	server string // the program
	dir    string
	strace bool // run the servers under strace
	nodes  []*node
}

func run(args ...string) error {
	out, err := exec.Command(args[0], args[1:]...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// prepareSpaces makes, inside our own name spaces, a bridge and n network name spaces that hang on it. The machine's
// own network does not see them, and they end with us.
func prepareSpaces(n int) error {
	if err := syscall.Mount("", "/", "", syscall.MS_PRIVATE|syscall.MS_REC, ""); err != nil {
		return err
	}
	script := `set -e
mount -t tmpfs tmpfs /run; mount -t proc proc /proc
ip link set lo up; ip link add br0 type bridge; ip addr add 10.7.0.254/24 dev br0; ip link set br0 up
for i in $(seq $1); do
	ip netns add n$i; ip link add v$i type veth peer name eth0 netns n$i; ip link set v$i master br0 up
	ip -n n$i addr add 10.7.0.$i/24 dev eth0; ip -n n$i link set eth0 up; ip -n n$i link set lo up
done`
	return run("sh", "-c", script, "sh", fmt.Sprint(n))
}

// newCluster makes n empty stores below dir and starts a server on each. With disks, each is an ext4 of its own.
func newCluster(server, dir string, n int, disks, strace bool) (*cluster, error) {
	c := &cluster{server: server, dir: dir, strace: strace}
	for i := 1; i <= n; i++ {
		nd := &node{id: i, name: fmt.Sprintf("n%d", i), ip: fmt.Sprintf("10.7.0.%d", i)}
		nd.dir = filepath.Join(dir, nd.name)
		if disks {
			nd.image = nd.dir + ".ext4"
		}
		c.nodes = append(c.nodes, nd)
		if err := os.MkdirAll(nd.dir, 0o700); err != nil {
			return c, err
		}
		if err := nd.makeDisk(); err != nil {
			return c, err
		}
	}
	for _, nd := range c.nodes {
		if err := c.start(nd); err != nil {
			return c, err
		}
	}
	return c, nil
}

func (nd *node) makeDisk() error {
	if nd.image == "" {
		return nil
	}
	if err := run("truncate", "-s", "1G", nd.image); err != nil {
		return err
	}
	if err := run("mkfs.ext4", "-q", "-F", nd.image); err != nil {
		return err
	}
	return run("mount", "-o", "loop", nd.image, nd.dir)
}

// end kills all servers and takes their disks away.
func (c *cluster) end() {
	for _, nd := range c.nodes {
		nd.kill()
		if nd.image != "" {
			_ = run("umount", nd.dir)
		}
	}
	_ = os.RemoveAll(c.dir)
}

func (c *cluster) start(nd *node) error {
	var routes []string
	for _, other := range c.nodes {
		routes = append(routes, "nats://"+other.ip+":6222")
	}
	conf := fmt.Sprintf(`server_name: %s
listen: "%s:4222"
http: "%s:8222"
ping_interval: "2s"
jetstream { store_dir: "%s/js", sync_interval: %s, max_file_store: 900MB, max_memory_store: 16MB }
cluster { name: trial, listen: "%s:6222", ping_interval: "2s", routes: ["%s"] }
accounts { A { jetstream: enabled, users: [{user: a, password: a}] }, $SYS { users: [{user: s, password: s}] } }
no_auth_user: a
`, nd.name, nd.ip, nd.ip, nd.dir, syncInterval, nd.ip, strings.Join(routes, `", "`))
	file := filepath.Join(c.dir, nd.name+".conf")
	if err := os.WriteFile(file, []byte(conf), 0o600); err != nil {
		return err
	}
	log, err := os.OpenFile(filepath.Join(c.dir, fmt.Sprintf("n%d.log", nd.id)),
		os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close()
	args := []string{"--net=/run/netns/" + fmt.Sprintf("n%d", nd.id)}
	if c.strace {
		args = append(args, "strace", "-ff", "-y", "-ttt", "-T", "-e", "trace=fsync,fdatasync,openat", "-o",
			filepath.Join(c.dir, nd.name+".strace"))
	}
	nd.cmd = exec.Command("nsenter", append(args, c.server, "-c", file)...)
	nd.cmd.Stdout, nd.cmd.Stderr = log, log
	if err := nd.cmd.Start(); err != nil {
		return err
	}
	nd.ended = make(chan struct{})
	go func(cmd *exec.Cmd, ended chan struct{}) {
		_ = cmd.Wait()
		close(ended)
	}(nd.cmd, nd.ended)
	return nil
}

// kill ends the server with SIGKILL, stopped or not, and waits until it is gone.
func (nd *node) kill() {
	if nd.cmd != nil && nd.cmd.Process != nil {
		_ = nd.cmd.Process.Kill()
		<-nd.ended
	}
}

func (nd *node) runs() bool {
	select {
	case <-nd.ended:
		return false
	default:
		return true
	}
}

func (nd *node) signal(s syscall.Signal) { _ = nd.cmd.Process.Signal(s) }

// cutPower makes the file system forget all that it has not written out: ext4 is shut down as its own tests do it,
// without a flush of its log. Only then is the server killed. What is mounted again is what a machine would find after
// the power was cut, with a disk that keeps what it was given.
func (nd *node) cutPower() error {
	d, err := os.Open(nd.dir)
	if err != nil {
		return err
	}
	const shutdown, noFlushOfLog = 0x8004587d, 2
	flags := uint32(noFlushOfLog)
	_, _, errno := syscall.Syscall(syscall.SYS_IOCTL, d.Fd(), shutdown, pointer(&flags))
	d.Close()
	if errno != 0 {
		return fmt.Errorf("shutting down %s: %w", nd.dir, errno)
	}
	nd.kill()
	if err := run("umount", nd.dir); err != nil {
		return err
	}
	return run("mount", "-o", "loop", nd.image, nd.dir)
}

// loseDisk kills the server and gives it an empty disk.
func (nd *node) loseDisk() error {
	nd.kill()
	if err := run("umount", nd.dir); err != nil {
		return err
	}
	if err := os.Remove(nd.image); err != nil {
		return err
	}
	return nd.makeDisk()
}

// block drops what a sends to b.
func block(a, b *node) error {
	return run("ip", "-n", fmt.Sprintf("n%d", a.id), "route", "add", "blackhole", b.ip+"/32")
}

// heal lets everything through again.
func (c *cluster) heal() {
	for _, nd := range c.nodes {
		_ = run("ip", "-n", fmt.Sprintf("n%d", nd.id), "route", "flush", "type", "blackhole")
	}
}

// A view is what a server says of its own replica.
type view struct {
	leader   string
	replicas []string // all of the stream's, the leader too; only the leader knows
	last     uint64
	held     bool // it has a replica
}

var client = &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DisableKeepAlives: true}}

func (nd *node) look() (v view, err error) {
	resp, err := client.Get("http://" + nd.ip + ":8222/jsz?accounts=true&streams=true")
	if err != nil {
		return v, err
	}
	defer resp.Body.Close()
	var said struct {
		Accounts []struct {
			Streams []struct {
				Name    string `json:"name"`
				Cluster struct {
					Leader   string `json:"leader"`
					Replicas []struct {
						Name string `json:"name"`
					} `json:"replicas"`
				} `json:"cluster"`
				State struct {
					Last uint64 `json:"last_seq"`
				} `json:"state"`
			} `json:"stream_detail"`
		} `json:"account_details"`
	}
	if err := json.NewDecoder(resp.Body).Decode(&said); err != nil {
		return v, err
	}
	for _, a := range said.Accounts {
		for _, s := range a.Streams {
			if s.Name == stream {
				v = view{leader: s.Cluster.Leader, last: s.State.Last, held: true, replicas: []string{s.Cluster.Leader}}
				for _, r := range s.Cluster.Replicas {
					v.replicas = append(v.replicas, r.Name)
				}
			}
		}
	}
	return v, nil
}

// healthy tells whether the server says that it has caught up.
func (nd *node) healthy() bool {
	resp, err := client.Get("http://" + nd.ip + ":8222/healthz")
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode == http.StatusOK
}

func (c *cluster) named(name string) *node {
	for _, nd := range c.nodes {
		if nd.name == name {
			return nd
		}
	}
	return nil
}
