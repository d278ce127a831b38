package mysql

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/settings"
)

var statements = flag.Int("statements", 0, "how many statements TestStatementsStayWithinTheirBounds sends, each held "+
	"to a second of a processor too; 0: some hundred, without looking at the time")

var statementSeed = flag.Uint64("statement-seed", 1, "the first seed of TestStatementsStayWithinTheirBounds")

// statementBytes is what one statement may have in memory at once, whatever it asks for: with small limits, and with
// those that a door has by default.
const (
	statementBytes        = 64 << 20
	defaultStatementBytes = 512 << 20
)

// TestStatementsStayWithinTheirBounds sends statements at random, each made from a seed: expressions of all functions
// within each other, with sizes and counts that are far too large, joins, subqueries, recursion, what keeps rows, and
// what nobody can parse. Each has to end, within the memory that a statement may have, and the door has to go on.
func TestStatementsStayWithinTheirBounds(t *testing.T) {
	n := amount(400, 150)
	if *statements > 0 {
		n = *statements
	}
	newProver(t, Config{MaxPacketBytes: 1 << 20, StatementBytes: 8 << 20, MaxJoinSize: 10_000,
		StatementTimeout: 200 * time.Millisecond}, statementBytes).proveMany(n)
}

// TestStatementsStayWithinTheDefaultBounds sends some of them to a door with the limits that it has by default, but for
// the time, of which a statement has 10 s.
func TestStatementsStayWithinTheDefaultBounds(t *testing.T) {
	p := newProver(t, Config{StatementTimeout: 10 * time.Second}, defaultStatementBytes)
	p.unhurried = true
	p.proveMany(max(amount(100, 40), *statements/100))
}

// proveMany sends n statements.
func (p *prover) proveMany(n int) {
	t := p.t
	t.Helper()
	tables := []string{"CREATE TABLE a (i int, s varchar(20)) ENGINE=QUEUE",
		"INSERT INTO a VALUES (1,'x'),(2,'yy'),(3,NULL)", "CREATE TABLE b (u bigint, t text, j json) ENGINE=QUEUE",
		`INSERT INTO b VALUES (1,'飛脚','{"a":[1,2]}'),(7,'','[]')`}
	for _, s := range tables {
		exec(t, p.conn, s)
	}
	for i := range n {
		seed := *statementSeed + uint64(i)
		p.prove(seed, statementOf(seed))
		if t.Failed() {
			return
		}
		if *statements > 0 && (i+1)%10_000 == 0 {
			t.Logf("%d statements: %v; slowest %v, most made %d MiB, %d panics", i+1, p.codes, p.slowest, p.most>>20,
				p.panics())
		}
	}
	t.Logf("%d statements: %v; slowest %v of a processor, %v by the clock, most made %d MiB, in use %d MiB, %d panics",
		n, p.codes, p.slowest, p.longest, p.most>>20, p.peak>>20, p.panics())
	if p.codes[0] < n/20 {
		t.Errorf("only %d of %d statements were answered with rows: the grammar tests errors", p.codes[0], n)
	}
}

// prover sends statements on one connection, and looks what they cost.
type prover struct {
	t       *testing.T
	r       *rig
	conn    *sql.Conn
	codes   map[int]int // by MySQL's number; 0: answered
	slowest time.Duration
	longest time.Duration // by the clock
	most    uint64        // bytes that one statement allocated, in use at once or not
	peak    uint64        // in use at once, of those that allocated much

	mostBytes uint64 // what one may have in use
	unhurried bool   // nobody looks at the time

	mu   sync.Mutex
	seed uint64   // of the statement that is sent
	told []string // places of panics
	sum  int
}

func newProver(t *testing.T, c Config, mostBytes uint64) *prover {
	p := &prover{t: t, codes: map[int]int{}, mostBytes: mostBytes}
	s, stop := openStore(t, t.TempDir())
	t.Cleanup(stop)
	c.Listen, c.Socket = "127.0.0.1:0", settings.NoSocket
	d, err := New(c, Options{Store: s, Report: p.report})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := d.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	p.r = &rig{t: t, store: s, door: d, addr: addr.String()}
	t.Cleanup(p.r.close)
	p.conn = p.r.connect("multiStatements=true")
	return p
}

// report is told of panics: they are go-mysql-server's, and end a connection alone. Each place is shown once.
func (p *prover) report(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sum++
	place := tracePlace(err.Error())
	if !slices.Contains(p.told, place) {
		p.told = append(p.told, place)
		p.t.Logf("seed %d ends in a panic: %.200s at %s", p.seed, err, place)
	}
}

// tracePlace is the first function below the first panic: others were raised again.
func tracePlace(trace string) string {
	below := trace[max(0, strings.LastIndex(trace, "\npanic(")):]
	for _, line := range strings.Split(below, "\n") {
		if strings.Contains(line, "/") && strings.Contains(line, "(") && !strings.HasPrefix(line, "\t") &&
			!strings.HasPrefix(line, "runtime") {
			return line[:strings.LastIndexByte(line, '(')]
		}
	}
	return trace[:min(len(trace), 200)]
}

func (p *prover) panics() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.sum
}

// mostTime is what a statement may take: of processors, as other programs have them too, and by the clock.
const (
	mostProcessor = int64(time.Second)
	mostTime      = 10 * time.Second
)

// prove sends a statement. What seems to need too much, or too long, is asked again: what else the machine does is no
// fault of a statement.
func (p *prover) prove(seed uint64, statement string) {
	p.mu.Lock()
	p.seed = seed
	p.mu.Unlock()
	begun, before := time.Now(), cpu()
	code, made := p.send(seed, statement)
	took, burnt := time.Since(begun), cpu()-before
	p.codes[code]++
	p.most, p.longest = max(p.most, made), max(p.longest, took)
	if made > statementBytes {
		kept := p.kept(seed, statement)
		// what is made while the collector looks counts as kept
		for again := 0; again < 4 && kept > p.mostBytes; again++ {
			kept = min(kept, p.kept(seed, statement))
		}
		p.peak = max(p.peak, kept)
		if kept > p.mostBytes {
			p.t.Errorf("seed %d has %d MiB in memory: %.3000s", seed, kept>>20, statement)
		}
	}
	for again := 0; *statements > 0 && !p.unhurried && (burnt > mostProcessor || took > mostTime); again++ {
		if again == 5 {
			p.t.Errorf("seed %d takes %v, %v of a processor: %.3000s", seed, took, time.Duration(burnt), statement)
			return
		}
		before = cpu()
		begun = time.Now()
		p.send(seed, statement)
		took, burnt = min(took, time.Since(begun)), min(burnt, cpu()-before)
	}
	p.slowest = max(p.slowest, time.Duration(burnt))
}

// patience is how long a statement may take by the clock. How much of a processor it may take is bounded beside it; a
// busy machine gives that slowly.
const patience = 10 * time.Minute

// send returns the number of the error, and how many bytes were allocated meanwhile.
func (p *prover) send(seed uint64, statement string) (code int, made uint64) {
	before := metric("/gc/heap/allocs:bytes")
	ctx, cancel := context.WithTimeout(p.t.Context(), patience)
	defer cancel()
	rows, err := p.conn.QueryContext(ctx, statement)
	if err == nil {
		for more := true; more; more = rows.NextResultSet() {
			for rows.Next() {
				continue
			}
		}
		err = rows.Err()
		rows.Close()
	}
	made = metric("/gc/heap/allocs:bytes") - before
	var known *driver.MySQLError
	switch {
	case err == nil:
		return 0, made
	case errors.As(err, &known):
		code = int(known.Number)
	case ctx.Err() != nil:
		p.t.Errorf("seed %d has not ended after %v: %.3000s", seed, patience, statement)
		return 0, made
	default:
		code = -1
	}
	if p.conn.PingContext(p.t.Context()) != nil {
		p.conn.Close()
		p.conn = p.r.connect("multiStatements=true")
	}
	return code, made
}

// kept is how many bytes a statement has in use at once, as the garbage collector sees them.
func (p *prover) kept(seed uint64, statement string) (most uint64) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	debug.FreeOSMemory()
	before := metric("/gc/heap/live:bytes")
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.send(seed, statement)
	}()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-done:
			return most - min(most, before)
		case <-tick.C:
			most = max(most, metric("/gc/heap/live:bytes"))
		}
	}
}

func metric(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// statementOf makes the statement of a seed.
func statementOf(seed uint64) string {
	g := &wild{random: rand.New(rand.NewPCG(seed, 31))}
	s := g.statement()
	if g.one(12) == 0 && s != "" { // what nobody can parse
		at := g.one(len(s))
		s = s[:at] + g.pick("(", ")", "'", "`", "\\", "/*", "*/", "--", ";", ",", "\x00", "飛", " or ", " select ") +
			s[at:]
	}
	return fmt.Sprintf("%.100000s", s)
}
