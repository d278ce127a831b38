package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
	pubsubdoor "github.com/hikyaku/hikyaku/internal/api/pubsub"
	sqsdoor "github.com/hikyaku/hikyaku/internal/api/sqs"
	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/machine"
)

// nodeReplica is this node's part of the cluster's log.
type nodeReplica interface {
	cluster.Replica
	// Name has the configuration name these as the other nodes, from now on.
	Name([]link.Peer)
	// BeforeTransfer has a function be called, while this node has the shard, before it gives it away. nil: none.
	BeforeTransfer(func(context.Context) error)
	// Close ends it. The shard is given to nobody.
	Close() error
}

// openReplica opens it in the configuration's data_dir. Its peers are reached, and reach it, through l. While it waits
// for them waits is told why.
var openReplica = openRaft

// handOver is how long a node that stops tries to give the shard to another one.
const handOver = 5 * time.Second

// openSoon is after how long whoever started a node hears that its doors are open, though its log is not: that may wait
// for the other nodes, which may be started next.
const openSoon = time.Second

// serveNode runs a node of a cluster until ctx ends.
func serveNode(ctx context.Context, s *serveFlags, f *config.File) (err error) {
	log := newLogger(os.Stderr, f.Log, new(slog.LevelVar))
	// While it waits for the others, too: its log may not come from elsewhere, and hikyaku stop finds it.
	hold, err := file.Hold(f.DataDir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, hold.Close()) }()
	c := &f.Cluster
	report := func(what string) func(error) { return func(err error) { log.Warn(what, "error", err) } }
	l, err := link.Listen(ctx, link.Options{Listen: c.Own(), Cluster: c.Name, Node: c.Node,
		Secret: c.Secret.Reveal(), Report: report("link")})
	if err != nil {
		return fmt.Errorf("%w (cluster: listen: and peers:)", err)
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	front := cluster.NewFront(cluster.FrontOptions{Node: c.Node, Link: l, Report: report("front"),
		Most: passedOn(machine.Files(), machine.Memory().Bytes, len(frontDoors(f.API)))})
	defer front.Close()
	if err := openFront(ctx, front, f.API, log); err != nil {
		return err
	}
	n := newNode(s, f, log)
	archives := deployment.Share(deployment.SharedOptions{Link: l, Dir: functionsDir(f.DataDir),
		Peers: func() []link.Peer { return n.latest().Cluster.Others() }, Report: report("functions")})
	defer archives.Close()
	defer s.follow(ctx, s.manager.reloads(n.reload))()
	ready := sync.OnceFunc(func() {
		s.manager.opened(log)
		s.tellReady(log)
	})
	defer time.AfterFunc(openSoon, ready).Stop()
	var waiting waiting
	cluster.AdmitWaiting(l, func() cluster.Status { return cluster.Status{Node: c.Node, Waits: waiting.told()} })
	r, err := openReplica(ctx, f, l, log, waiting.tell)
	if toldToStop(ctx, err) {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	n.open(r)
	defer cluster.Admit(l, r)()
	log.Info("node open", "cluster", c.Name, "node", c.Node, "address", l.Addr().String(), "nodes", len(c.Peers),
		"data_dir", f.DataDir)
	ready()
	leave := sync.OnceFunc(func() {
		if r.Owner().Node != c.Node {
			return
		}
		stop, cancel := context.WithTimeout(context.WithoutCancel(ctx), handOver)
		defer cancel()
		if err := r.Transfer(stop, ""); err != nil { // the others find out by themselves, later
			log.Warn("no other node has taken the shard", "error", err)
		}
	})
	err = cluster.Run(ctx, r, front, func(ctx context.Context, j journal.Journal, term uint64) error {
		log.Info("this node owns the shard", "term", term)
		h, err := openHouseOver(ctx, n.latest(), os.Stderr, s.adopt, []journal.Journal{j}, archives)
		if toldToStop(ctx, err) {
			return nil
		}
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, journal.ErrFull) {
			return giveAway(ctx, r, log, term, err)
		}
		if err == nil {
			r.BeforeTransfer(h.store.Checkpoint) // so that the next owner has little to fold
			defer r.BeforeTransfer(nil)
			err = h.live(ctx, surroundings{follow: n.follow, reload: n.reloadNow, opened: func(*slog.Logger) {},
				front: front, leave: leave, more: []prometheus.Collector{cluster.NewCollector(r, front)}})
		}
		if errors.Is(err, journal.ErrLost) {
			log.Warn("this node does not own the shard any more", "term", term, "error", err)
		}
		return err
	})
	if err == nil {
		leave()
	}
	return err
}

// toldToStop tells whether something was left because the node was told to stop, which is no mistake.
func toldToStop(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// giveAway gives the shard to another node, since this one has no room to open it: it keeps the log meanwhile. When
// nobody takes it this node tries again, some seconds later.
func giveAway(ctx context.Context, r nodeReplica, log *slog.Logger, term uint64, why error) error {
	log.Warn("this node has no room to own the shard, and gives it away", "term", term, "error", why)
	ctx, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()
	if err := r.Transfer(ctx, ""); err != nil && !errors.Is(err, cluster.ErrNotOwner) {
		log.Warn("no other node has taken the shard", "error", err)
		<-ctx.Done()
	}
	return journal.ErrLost
}

// waiting is what a node that has no log yet waits for.
type waiting struct {
	mu  sync.Mutex
	why string
}

func (w *waiting) tell(why error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.why = strings.ReplaceAll(why.Error(), "\n", "; ")
}

// told is never empty: the node may not have asked the others yet.
func (w *waiting) told() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return cmp.Or(w.why, "its log is being opened")
}

// passedOn is how many connections of each of some doors may be passed on to another node, in a process that may have
// so many files open and so many bytes of memory; 0: nobody says. Each has two files open, and all together take half
// of the files and a quarter of the memory at most.
func passedOn(files uint64, memory int64, doors int) int {
	share := uint64(4 * max(doors, 1))
	most := uint64(4096)
	if files > 0 {
		most = files / share
	}
	if memory > 0 {
		most = min(most, uint64(memory)/(share*cluster.PassageBytes))
	}
	return int(min(max(most, 1), 1<<20))
}

// frontDoor is a door whose address a node has, whoever owns the shard.
type frontDoor struct {
	name, listen, usual string
	off                 bool
	door                cluster.Door
}

// frontDoors are those that are not off.
func frontDoors(api config.API) []frontDoor {
	return slices.DeleteFunc([]frontDoor{
		{"mysql", api.MySQL.Listen, settings.DefaultListen, api.MySQL.Off || slices.Contains(leftOut, "mysql"),
			cluster.Door{}},
		{"pubsub", api.PubSub.Listen, pubsubdoor.DefaultListen, api.PubSub.Off, cluster.Door{}},
		{"sqs", api.SQS.Listen, sqsdoor.DefaultListen, api.SQS.Off, cluster.Door{}},
		{"lambda", api.Lambda.Listen, lambdadoor.DefaultListen, api.Lambda.Off, cluster.Door{}},
		{"http", api.HTTP.Listen, httpdoor.DefaultListen, api.HTTP.Off, cluster.Door{Live: !api.HTTP.TLS.On()}},
	}, func(d frontDoor) bool { return d.off })
}

// openFront opens the addresses of the doors. One that nobody has set, and that somebody else has, stays closed.
func openFront(ctx context.Context, front *cluster.Front, api config.API, log *slog.Logger) error {
	for _, d := range frontDoors(api) {
		listen := d.listen
		if listen == "" {
			listen = d.usual
		}
		addr, err := front.Open(ctx, d.name, listen, d.door)
		switch {
		case err == nil:
			log.Info("door open on this node", "door", d.name, "address", addr.String())
		case d.listen == "" && d.name != "http" && errors.Is(err, syscall.EADDRINUSE):
			sayTaken(log, d.name, err)
		default:
			return fmt.Errorf("%w (api: %s: listen:)", err, d.name)
		}
	}
	if !slices.Contains(front.Doors(), "mysql") {
		return nil
	}
	socket, err := listenMySQL(ctx, api.MySQL)
	if err == nil && socket != nil {
		err = front.Add("mysql", socket)
	}
	if err != nil {
		return fmt.Errorf("%w (api: mysql: socket:)", err)
	}
	return nil
}

// node is what of a node outlives its houses.
type node struct {
	flags *serveFlags
	log   *slog.Logger
	began *config.File // as it was when the process began

	mu      sync.Mutex
	file    *config.File // as it was read last
	house   *house       // nil: another node owns the shard
	replica nodeReplica  // nil while it is being opened
}

// open has a replica know the nodes that the configuration names, as it is read again.
func (n *node) open(r nodeReplica) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.replica = r
	r.Name(n.file.Cluster.Others())
}

func newNode(s *serveFlags, f *config.File, log *slog.Logger) *node {
	return &node{flags: s, log: log, began: f, file: f}
}

// follow has a house read the configuration again, as long as it is open.
func (n *node) follow(h *house) (stop func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.house = h
	if h.file != n.file { // it was read again while the house was being opened
		h.reread(n.file)
	}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		n.house = nil
	}
}

// latest is the configuration for the next house.
func (n *node) latest() *config.File {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.file
}

// reload reads the configuration again: for the house, and for those to come.
func (n *node) reload() {
	n.mu.Lock()
	defer n.mu.Unlock()
	next := readAgain(n.log, n.flags.config)
	if next == nil {
		return
	}
	n.take(next) // what the house cannot take while it is open the next one has
	if n.house != nil {
		n.house.reread(next)
		return
	}
	changed := slices.DeleteFunc(n.began.Changed(next), func(setting string) bool { return !ofProcess(setting) })
	n.log.Info("SIGHUP: the configuration was read again", "taken", "when this node owns the shard", "needs_restart",
		changed)
}

// reloadNow is reload for somebody who waits for what comes of it. only: it changes nothing.
func (n *node) reloadNow(h *house, only bool) (difference, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	next, err := config.Load(n.flags.config, os.LookupEnv)
	if err != nil {
		return difference{}, err
	}
	if !only {
		n.take(next)
	}
	return h.rereadNow(next, only)
}

// take has a configuration be that of the next house, but for what belongs to the process. One without a cluster is
// taken by a process that is started with it.
func (n *node) take(next *config.File) {
	if !next.Cluster.On() {
		return
	}
	peers := next.Cluster.Peers
	next.DataDir, next.Cluster = n.began.DataDir, n.began.Cluster
	next.Cluster.Peers = peers
	n.file = next
	if n.replica != nil {
		n.replica.Name(next.Cluster.Others())
	}
}

// ofProcess tells whether a setting is what it was when the process began, whatever houses it opens.
func ofProcess(setting string) bool {
	part, _, _ := strings.Cut(setting, ".")
	switch part {
	case "data_dir":
		return true
	case "cluster":
		return !strings.HasPrefix(setting, "cluster.peers")
	case "api":
		return strings.HasSuffix(setting, ".listen") || strings.HasSuffix(setting, ".socket") ||
			strings.HasSuffix(setting, ".off")
	}
	return false
}
