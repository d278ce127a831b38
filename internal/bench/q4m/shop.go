package q4m

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// A shop is a server with a table of rows that clients take and put: ours, or one to compare with.
type shop interface {
	// connect opens a connection of a worker, of the light client or the usual one. It is for one goroutine at a time,
	// and ends with ctx.
	connect(ctx context.Context, light bool) (hand, error)
	// client names what connect opens.
	client(light bool) string
	// reset leaves in the table so many rows of before the moment, the oldest, and so many of since then, and nothing
	// else.
	reset(ctx context.Context, before, since int) error
	// add puts n more rows of one kind in.
	add(ctx context.Context, n int, at int64) error
	// count is how many rows there are.
	count(ctx context.Context) (int64, error)
	// keeping counts its syncs; nil: nobody can.
	keeping() *harness.Kept
	// about tells which server this is and what makes it durable.
	about() string
	Close() error
}

// A hand is a worker's connection to a shop. What it does is durable when a call returns.
type hand interface {
	take(k kind) error // the oldest row of a kind is taken, and gone
	insert(id string, at int64) error
	ping() error
	Close() error
}

// The moment that tells old rows from new ones: the field report's. Half of what is measured takes what came since,
// half what came before.
const (
	moment     = 1501686146
	atBefore   = moment - 1000
	atSince    = moment + 1000
	takeWithin = 5 // seconds that a worker waits for a row
)

// kind is which rows are taken.
type kind string

const (
	since  kind = ">="
	before kind = "<"
)

// at is the time of rows of that kind.
func (k kind) at() int64 {
	if k == since {
		return atSince
	}
	return atBefore
}

// tableName is the table that is made in a peer's database, and dropped at the end.
const tableName = "hikyaku_bench_q4m"

// sqlGroup is how many rows are put at once where a table is only to be filled.
const sqlGroup = 500

// insertMany is an INSERT of n rows. The texts need no quoting.
func insertMany(into string, n int, at int64, payload string) string {
	var b strings.Builder
	b.Grow(n*(len(payload)+64) + 100)
	b.WriteString("INSERT INTO " + into + " VALUES ")
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("('row-")
		b.WriteString(strconv.Itoa(i))
		b.WriteString("','")
		b.WriteString(payload)
		b.WriteString("',")
		b.WriteString(strconv.FormatInt(at, 10))
		b.WriteByte(')')
	}
	return b.String()
}

// addMany puts n rows in over a line.
func addMany(ctx context.Context, l line, into string, n int, at int64, payload string) error {
	text := ""
	for size := 0; n > 0; n -= size {
		if err := ctx.Err(); err != nil {
			return err
		}
		if now := min(n, sqlGroup); now != size {
			size, text = now, insertMany(into, now, at, payload)
		}
		if _, _, err := l.ask(text); err != nil {
			return fmt.Errorf("fill the table: %w", err)
		}
	}
	return nil
}

// queueShop is our server, in a process of its own as the peers are.
type queueShop struct {
	child   *harness.Child
	to      *mysql.Config
	desk    line // for what is not measured
	payload string
}

// The tables of our server. Nobody reads the second.
const (
	queueTable = "q4m_test"
	stuckTable = "q4m_stuck"
)

const createQueue = "CREATE TABLE `%s` (`id` varchar(255) COLLATE utf8mb4_bin NOT NULL, `payload` text COLLATE " +
	"utf8mb4_bin NOT NULL, " +
	"`enqueued_at` int(10) unsigned NOT NULL) ENGINE=QUEUE"

// openQueueShop starts a server over a new store in dir.
func openQueueShop(ctx context.Context, command []string, dir string, with harness.Setting) (_ *queueShop, err error) {
	child, err := harness.StartQ4M(ctx, command, dir, with)
	if err != nil {
		return nil, err
	}
	to := mysql.NewConfig()
	to.User, to.Net, to.Addr, to.DBName = "root", "tcp", child.Addr, "test"
	s := &queueShop{child: child, to: to, payload: string(harness.MakeBody(harness.BodyBytes))}
	if s.desk, err = openLight(ctx, to); err != nil {
		return nil, errors.Join(err, child.Close())
	}
	for _, t := range []string{queueTable, stuckTable} {
		if _, _, err := s.desk.ask(fmt.Sprintf(createQueue, t)); err != nil {
			return nil, errors.Join(fmt.Errorf("make table %s: %w", t, err), s.Close())
		}
	}
	return s, nil
}

func (s *queueShop) client(light bool) string { return clientName(light) }

func clientName(light bool) string {
	if light {
		return clientLight
	}
	return clientDriver
}

// openLine opens a line of the light client or of the usual one.
func openLine(ctx context.Context, to *mysql.Config, light bool) (line, error) {
	if light {
		return openLight(ctx, to)
	}
	return openDriver(ctx, to)
}

func (s *queueShop) connect(ctx context.Context, light bool) (hand, error) {
	return s.connectTo(ctx, light, queueTable)
}

// connectTo is connect for inserts into any of the tables.
func (s *queueShop) connectTo(ctx context.Context, light bool, table string) (hand, error) {
	l, err := openLine(ctx, s.to, light)
	if err != nil {
		return nil, err
	}
	if err := l.prepare("INSERT INTO " + table + " VALUES (?, ?, ?)"); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare an insert: %w", err), l.Close())
	}
	return &queueHand{l, s.payload}, nil
}

func (s *queueShop) reset(ctx context.Context, before, since int) error {
	if _, _, err := s.desk.ask("TRUNCATE TABLE " + queueTable); err != nil {
		return fmt.Errorf("empty the table: %w", err)
	}
	return errors.Join(s.add(ctx, before, atBefore), s.add(ctx, since, atSince))
}

func (s *queueShop) add(ctx context.Context, n int, at int64) error {
	return addMany(ctx, s.desk, queueTable, n, at, s.payload)
}

func (s *queueShop) count(context.Context) (int64, error) {
	st, err := s.child.Say(harness.SayStats)
	return st.Messages, err
}

func (s *queueShop) keeping() *harness.Kept { return harness.Keeping(s.child) }

func (s *queueShop) about() string {
	return harness.CaseOurs + ": the MySQL door of a process of its own, every answer after fdatasync"
}

func (s *queueShop) Close() error { return errors.Join(s.desk.Close(), s.child.Close()) }

// queueHand takes and puts as a Q4M client does.
type queueHand struct {
	line
	payload string
}

// The statements of a take.
var takeStatements = map[kind]string{
	since:  fmt.Sprintf("SELECT queue_wait('%s:enqueued_at>=%d', %d)", queueTable, moment, takeWithin),
	before: fmt.Sprintf("SELECT queue_wait('%s:enqueued_at<%d', %d)", queueTable, moment, takeWithin),
}

func (h *queueHand) take(k kind) error {
	for _, statement := range [...]string{takeStatements[k], "select queue_end()"} {
		answer, _, err := h.ask(statement)
		if err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
		if answer != "1" {
			return fmt.Errorf("%s: the answer is %q, though there are rows", statement, answer)
		}
	}
	return nil
}

func (h *queueHand) insert(id string, at int64) error {
	if err := h.execute(id, h.payload, at); err != nil {
		return fmt.Errorf("insert: %w", err)
	}
	return nil
}
