package main

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"cloud.google.com/go/pubsub/v2/apiv1/pubsubpb"
	_ "github.com/go-sql-driver/mysql"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/hikyaku/hikyaku/internal/cluster"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/journal"
	"github.com/hikyaku/hikyaku/internal/journal/memory"
	"github.com/hikyaku/hikyaku/internal/link"
	"github.com/hikyaku/hikyaku/internal/waittest"
)

// sharedLog is one log for several nodes in this process, of which one owns it.
type sharedLog struct {
	disk *memory.Disk

	mu       sync.Mutex
	owner    cluster.Owner
	changed  chan struct{}
	draining map[string]bool
	nodes    []string
	at       map[string]string // where a node is reached
	open     *memory.Journal   // the owner's
	astray   string            // who takes the log instead of whom it is given to; "": that one
	reading  chan struct{}     // closed when the log is read, which takes until the node stops; nil: it takes no time
	leaving  func()            // is called before the owner gives the log away
}

func newSharedLog(nodes ...string) *sharedLog {
	return &sharedLog{disk: memory.New(), changed: make(chan struct{}), draining: map[string]bool{}, nodes: nodes}
}

// move makes a node the owner, "" nobody.
func (s *sharedLog) move(to string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.owner = cluster.Owner{Node: to, Address: s.at[to], Term: s.owner.Term + 1, Since: time.Now()}
	close(s.changed)
	s.changed = make(chan struct{})
}

// opened is the journal that was opened last.
func (s *sharedLog) opened() *memory.Journal {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.open
}

// part is what a node has of it.
type part struct {
	*sharedLog
	node   string
	opened uint64 // the last term that was opened here
}

func (p *part) Own(ctx context.Context) (journal.Journal, uint64, error) {
	for {
		changed, owner := p.Changed(), p.Owner()
		if owner.Node == p.node && owner.Term > p.opened {
			p.opened = owner.Term
			j, err := p.disk.Open(memory.Options{Term: owner.Term, Durability: journal.Fsync})
			if err != nil {
				return nil, 0, err
			}
			p.mu.Lock()
			p.open = j
			p.mu.Unlock()
			if p.reading != nil {
				return &longJournal{j, p.reading}, owner.Term, nil
			}
			return j, owner.Term, nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return nil, 0, ctx.Err()
		}
	}
}

// longJournal takes long to read.
type longJournal struct {
	journal.Journal
	reading chan struct{}
}

func (j *longJournal) Scan(ctx context.Context, _ journal.Position) iter.Seq2[journal.Group, error] {
	return func(yield func(journal.Group, error) bool) {
		close(j.reading)
		<-ctx.Done()
		yield(journal.Group{}, ctx.Err())
	}
}

func (s *sharedLog) Owner() cluster.Owner {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.owner
}

func (p *part) Changed() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.changed
}

func (p *part) Status() cluster.Status {
	s := cluster.Status{Node: p.node, Owner: p.Owner()}
	p.mu.Lock()
	defer p.mu.Unlock()
	s.Draining = p.draining[p.node]
	for _, n := range p.nodes {
		s.Members = append(s.Members, cluster.MemberView{Node: n, Alive: true, Known: s.Owner.Node == p.node})
	}
	return s
}

func (p *part) Transfer(_ context.Context, to string) error {
	if p.Owner().Node != p.node {
		return cluster.ErrNotOwner
	}
	for _, n := range p.nodes {
		if to == "" && n != p.node && !p.draining[n] {
			to = n
		}
	}
	if p.leaving != nil {
		p.leaving()
	}
	p.move(cmp.Or(p.astray, to))
	return nil
}

func (p *part) Drain(ctx context.Context, on bool) error {
	p.mu.Lock()
	p.draining[p.node] = on
	p.mu.Unlock()
	if on && p.Owner().Node == p.node {
		return p.Transfer(ctx, "")
	}
	return nil
}

func (p *part) Join(context.Context, link.Peer) error { return errors.ErrUnsupported }
func (p *part) Leave(context.Context, string) error   { return errors.ErrUnsupported }
func (p *part) Name([]link.Peer)                      {}

func (p *part) BeforeTransfer(func(context.Context) error) {}

func (p *part) Close() error { return nil }

// threeNodes serve over one log.
func threeNodes(t *testing.T) (log *sharedLog, nodes map[string]*clusterNode) {
	t.Helper()
	return threeNodesOver(t, func(log *sharedLog, f *config.File) nodeReplica {
		return &part{sharedLog: log, node: f.Cluster.Node}
	})
}

// threeNodesOver serve over what each has of one log.
func threeNodesOver(t *testing.T, has func(*sharedLog, *config.File) nodeReplica) (log *sharedLog,
	nodes map[string]*clusterNode) {
	t.Helper()
	log = newSharedLog("a", "b", "c")
	before := openReplica
	openReplica = func(_ context.Context, f *config.File, _ *link.Listener, _ *slog.Logger, _ func(error)) (nodeReplica,
		error) {
		log.mu.Lock()
		defer log.mu.Unlock()
		log.at = f.Cluster.Peers
		return has(log, f), nil
	}
	t.Cleanup(func() { openReplica = before })
	return log, startNodes(t, log.nodes...)
}

func TestWhatIsPutAtOneNodeIsTakenAtAnother(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("b")
	nodes["a"].keep(t, "hello")
	if got := nodes["c"].take(t); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("%q", got)
	}
	// What one owner has acknowledged the next one has.
	nodes["b"].keep(t, "again")
	before := log.opened()
	log.move("c")
	// What node b claims until then is the next owner's to give again, later.
	waittest.Until(t, "node c has opened the log", func() bool { return log.opened() != before })
	if got := nodes["b"].take(t); !slices.Contains(got, "again") {
		t.Errorf("%q", got)
	}
	waittest.Until(t, "it is ready", func() bool {
		status, _, err := nodes["a"].ask(t, http.MethodGet, "/readyz", "")
		return err == nil && status == http.StatusOK
	})
	_, text, err := nodes["a"].ask(t, http.MethodGet, "/metrics", "")
	if err != nil || !strings.Contains(text, `hikyaku_cluster_owner{node="c"} 1`) ||
		!strings.Contains(text, "hikyaku_cluster_term 2") {
		t.Errorf("%s %v", text, err)
	}
}

// Every door is a front of the owner's.
func TestEveryDoorOfANodeIsTheOwners(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("b")
	db, err := sql.Open("mysql", "root@tcp("+nodes["a"].mysql+")/test")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE TABLE jobs (payload text NOT NULL) ENGINE=QUEUE"); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO jobs VALUES ('hello')"); err != nil {
		t.Fatal(err)
	}
	status, text, err := askAt(t, http.MethodPost, "http://"+nodes["c"].sqs+"/", `{"QueueName":"letters"}`, http.Header{
		"X-Amz-Target": {"AmazonSQS.CreateQueue"}, "Content-Type": {"application/x-amz-json-1.0"}})
	if err != nil || status != http.StatusOK {
		t.Errorf("SQS: %d %s %v", status, text, err)
	}
	conn, err := grpc.NewClient(nodes["a"].pubsub, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	topics := pubsubpb.NewPublisherClient(conn)
	if _, err := topics.CreateTopic(t.Context(), &pubsubpb.Topic{Name: "projects/local/topics/news"}); err != nil {
		t.Error(err)
	}
	log.move("c")
	waittest.Until(t, "the clients have found the new owner", func() bool {
		_, err := topics.GetTopic(t.Context(), &pubsubpb.GetTopicRequest{Topic: "projects/local/topics/news"})
		var n int
		counted := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM jobs").Scan(&n)
		return err == nil && counted == nil && n == 1
	})
}

func TestNothingAcknowledgedIsLostWhileTheShardMoves(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("a")
	const each = 40
	var putting sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for _, n := range nodes {
		putting.Go(func() {
			for i := range each {
				body := fmt.Sprintf("%s %d", n.name, i)
				n.keep(t, body)
				mu.Lock()
				done++
				mu.Unlock()
			}
		})
	}
	for i := 1; i <= 6; i++ {
		waittest.Until(t, "some were put", func() bool {
			mu.Lock()
			defer mu.Unlock()
			return done >= i*each*len(nodes)/8
		})
		log.move([]string{"a", "b", "c"}[i%3])
	}
	putting.Wait()
	got := map[string]bool{}
	for _, body := range nodes["c"].take(t) {
		got[body] = true
	}
	if len(got) != each*len(nodes) {
		t.Errorf("%d messages of %d", len(got), each*len(nodes))
	}
}

func TestAConfigurationOfANodeIsServedAlone(t *testing.T) {
	_, nodes := threeNodes(t)
	err := runPipelines(t.Context(), &runFlags{config: nodes["a"].config})
	var hint *hinted
	if !errors.As(err, &hint) || !strings.Contains(err.Error(), "of a node of a cluster") {
		t.Errorf("%v", err)
	}
}

// What is lost is another node's; what has failed has to be started again.
func TestAJournalThatFailsEndsItsNodeAlone(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("a")
	nodes["b"].keep(t, "hello")
	log.mu.Lock()
	log.open.Break(journal.ErrFailed)
	log.mu.Unlock()
	if err := <-nodes["a"].ended; !errors.Is(err, journal.ErrFailed) {
		t.Errorf("%v", err)
	}
	nodes["a"].ended <- nil
	log.move("b")
	if got := nodes["c"].take(t); !slices.Equal(got, []string{"hello"}) {
		t.Errorf("%q", got)
	}
}

// A node takes a changed configuration whether it owns the shard or will.
func TestANodeReadsItsConfigurationAgain(t *testing.T) {
	log, nodes := threeNodes(t)
	log.move("b")
	nodes["a"].keep(t, "hello")
	for _, name := range []string{"a", "b"} {
		text, err := os.ReadFile(nodes[name].config)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, "users: { ann: { secret: secret-one, grants: [{ can: [admin], on: [\"*\"] }] } }\n"...)
		if err := os.WriteFile(nodes[name].config, text, 0o600); err != nil {
			t.Fatal(err)
		}
		nodes[name].hangup()
		status := 0
		waittest.Until(t, "node "+name+" wants users", func() bool {
			before := log.opened() // a house that is open cannot take the first users: the next one can
			log.move("c")
			waittest.Until(t, "node c owns the shard", func() bool { return log.opened() != before })
			log.move(name)
			status, _, err = nodes["c"].ask(t, http.MethodGet, "/default/queues", "")
			return err == nil && status == http.StatusUnauthorized
		})
	}
}

func TestASIGHUPWhileAHouseIsBeingOpenedIsTakenByIt(t *testing.T) {
	path := filepath.Join(t.TempDir(), "node.yaml")
	text := "data_dir: " + t.TempDir() + "\ncluster: { name: t, node: a, secret: \"" + strings.Repeat("s", 32) +
		"\", peers: { a: \"127.0.0.1:1\" } }\nusers:\n  bob: { secret: secret-two }\n"
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(text)
	f, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	n := newNode(&serveFlags{runFlags: runFlags{config: path}}, f, newLogger(os.Stderr, f.Log, new(slog.LevelVar)))
	j, err := memory.New().Open(memory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h, err := openHouseOver(t.Context(), n.latest(), os.Stderr, false, []journal.Journal{j}, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := h.close(); err != nil {
			t.Error(err)
		}
	}()
	write(text + "  ann: { secret: secret-one }\n")
	n.reload()
	defer n.follow(h)()
	if _, there := h.users.Named("ann"); !there {
		t.Error("the house does not know the user who was added")
	}
}

// What belongs to the process, and not to one term of it, stays as it was when the process began.
func TestASIGHUPChangesNoFolderAndNoSecretOfANode(t *testing.T) {
	path, data := filepath.Join(t.TempDir(), "node.yaml"), t.TempDir()
	write := func(dataDir, listen, letter, peers string) {
		t.Helper()
		text := "data_dir: " + dataDir + "\napi: { sqs: { listen: \"" + listen + "\" } }\n" +
			"cluster: { node: a, secret: " + strings.Repeat(letter, 32) + ", peers: { " + peers + " } }\n"
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(data, "127.0.0.1:1", "s", "a: \"127.0.0.1:2\"")
	f, err := config.Load(path, os.LookupEnv)
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	n := newNode(&serveFlags{runFlags: runFlags{config: path}}, f, newLogger(&said, f.Log, new(slog.LevelVar)))
	write(t.TempDir(), "127.0.0.1:3", "t", "a: \"127.0.0.1:2\", b: \"127.0.0.1:4\"")
	n.reload()
	now := n.latest()
	if now.DataDir != data || now.Cluster.Secret != f.Cluster.Secret {
		t.Errorf("the next house is in %s, or has another secret", now.DataDir)
	}
	if len(now.Cluster.Peers) != 2 {
		t.Errorf("it has %d nodes", len(now.Cluster.Peers))
	}
	for _, name := range []string{"needs_restart", "api.sqs.listen", "cluster.secret", "data_dir"} {
		if !strings.Contains(said.String(), name) {
			t.Errorf("the log does not name %s: %s", name, said.String())
		}
	}
}

// A process may open a house as often as it likes: nothing of the earlier ones goes on.
func TestNothingOfAnEarlierTermGoesOn(t *testing.T) {
	log, nodes := threeNodes(t)
	round := func() {
		for _, n := range []string{"a", "b", "c"} {
			log.move(n)
			nodes["a"].keep(t, n)
		}
	}
	round()
	most := runtime.NumGoroutine() + 10
	for range 4 {
		round()
	}
	waittest.Until(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= most })
}

func TestDoorsThatAreOffLeaveTheirConnectionsToTheOthers(t *testing.T) {
	var api config.API
	all := passedOn(20_000, 0, len(frontDoors(api)))
	api.MySQL.Off, api.PubSub.Off, api.SQS.Off, api.Lambda.Off = true, true, true, true
	if one := passedOn(20_000, 0, len(frontDoors(api))); one != 5000 || all >= one {
		t.Errorf("of 20,000 files %d connections are passed on of one door, and %d of each of all", one, all)
	}
}
