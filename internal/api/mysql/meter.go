package mysql

import (
	"context"
	"errors"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/bounds"
	"github.com/hikyaku/hikyaku/internal/door"
)

// allowance is what one statement of a user may cost.
type allowance struct {
	words bounds.Limits
	value int64 // bytes of one value that an expression makes: max_allowed_packet
	bytes int64 // held at once
	rows  int64 // walked
	time  time.Duration
}

// allowance is what the session's user may spend on a statement. Who has no grant at all, and so no table to ask, gets
// by with little.
func (s *session) allowance() allowance {
	c := s.door.config
	a := allowance{words: bounds.Default, value: c.MaxPacketBytes, bytes: c.StatementBytes, rows: c.MaxJoinSize,
		time: c.StatementTimeout}
	if v, ok := s.variables.of(joinVariable); ok {
		if own, ok := v.Val.(int64); ok {
			a.rows = min(a.rows, own)
		}
	}
	if s.door.users.Any() && (s.user == nil || len(s.user.Grants) == 0) {
		a.words = bounds.Least
		a.value, a.bytes = min(a.value, 64<<10), min(a.bytes, 4<<20)
		a.rows, a.time = min(a.rows, 10_000), min(a.time, 10*time.Second)
	}
	return a
}

// meter counts what a statement costs while it runs, and says when it is too much. It belongs to the goroutine that
// runs the statement.
type meter struct {
	allowance
	budget *door.Busy // of all statements; what is held is taken from it
	ctx    context.Context
	end    context.CancelCauseFunc
	timer  *time.Timer
	until  time.Time

	running bool       // rows are being made, or were: the statement is past its planning
	strict  bool       // rows are changed, and a division by 0 ends the statement
	built   bool       // the statement's own plan is built: what is built from then on are subqueries
	columns []computed // of the answer, as the plan tells
	walked  int64
	held    int64
	listed  int64        // of held or not yet: what statements that show tables keep of them
	row     int64        // bytes of values made since the last row was read
	taken   int64        // of the budget
	pages   []*door.Hold // of what is read of tables
	err     error        // sticks: some evaluators pass over errors
}

// errTimeout is the cause of a context whose statement took too long.
var errTimeout = sqlError(erQueryTimeout, "HY000", "Query execution was interrupted, maximum statement execution "+
	"time exceeded")

// measure begins to count. The caller calls stop.
func (s *session) measure(ctx context.Context) (*meter, context.Context) {
	m := &meter{allowance: s.allowance(), budget: s.door.budget}
	if own := s.ownTime(); own > 0 && own < m.time {
		m.time = own
	}
	m.ctx, m.end = context.WithCancelCause(ctx)
	m.until = time.Now().Add(m.time)
	m.timer = time.AfterFunc(m.time, func() { m.end(errTimeout) })
	return m, m.ctx
}

// ownTime is max_execution_time of the connection; 0: none.
func (s *session) ownTime() time.Duration {
	v, err := s.GetSessionVariable(gms.NewEmptyContext(), "max_execution_time")
	if err != nil {
		return 0
	}
	ms, _ := v.(int64)
	return time.Duration(min(ms, int64(maxTimeout/time.Millisecond))) * time.Millisecond
}

// stop gives back what is held.
func (m *meter) stop() {
	m.timer.Stop()
	m.end(context.Canceled)
	m.budget.Give(m.taken)
	m.taken = 0
	for _, h := range m.pages { // as a rule each was ended with its rows
		h.End()
	}
}

// pause stops the clock: a wait for a row has a time-out of its own. It returns what goes on.
func (m *meter) pause() func() {
	left := time.Until(m.until)
	if !m.timer.Stop() {
		return func() {}
	}
	return func() {
		m.until = time.Now().Add(left)
		m.timer.Reset(left)
	}
}

// alive says why the statement has to end, if it has to.
func (m *meter) alive() error {
	if m.err == nil && m.ctx.Err() != nil {
		m.fail(context.Cause(m.ctx))
	}
	return m.err
}

func (m *meter) fail(err error) error {
	if m.err == nil {
		m.err = err
	}
	return m.err
}

// stick lets the statement that runs end with an error that whoever met it cannot return. One that is only planned goes
// on: it shows nothing, and meets it again when it runs.
func (s *session) stick(err error) {
	if err != nil && s != nil && s.meter != nil {
		_ = s.meter.fail(err) // whoever asks next is told
	}
}

// walk counts a row that was read.
func (m *meter) walk() error {
	m.passed()
	if m.walked++; m.walked > m.rows {
		return m.fail(sqlError(erTooBigSelect, "42000", "The SELECT would examine more than MAX_JOIN_SIZE rows (%d); "+
			"check your WHERE and use max_join_size in the server's configuration if the SELECT is okay", m.rows))
	}
	return m.alive()
}

// passed forgets the values that were made for a row: they were sent, counted as held, or are no longer used.
func (m *meter) passed() { m.row = 0 }

// hold counts bytes that stay until the statement ends.
func (m *meter) hold(n int64) error {
	m.held += n
	return m.take(m.held)
}

// list counts bytes that a statement about tables keeps of them. What the few have that most statements name is not
// taken from the budget of all statements.
func (m *meter) list(n int64) error {
	before := max(m.listed-smallValues, 0)
	m.listed += n
	if over := max(m.listed-smallValues, 0) - before; over > 0 {
		return m.hold(over)
	}
	return m.alive()
}

// make counts a value that an expression is about to make.
func (m *meter) make(n int64) error {
	m.row += n
	if err := m.take(m.held + m.row - smallValues); err != nil {
		return err
	}
	return m.alive()
}

// answer counts a row that is about to be sent: as text, and as the packet that this is copied into. What fits in no
// packet is refused, as MySQL does it: a row may have one long value many times.
func (m *meter) answer(row gms.Row) error {
	var n int64
	for _, v := range row {
		n += valueBytes(v)
	}
	if err := fitsPacket(n, m.value); err != nil {
		return m.fail(err)
	}
	return m.make(2 * n)
}

// fitsPacket refuses a row of more bytes than a packet may have.
func fitsPacket(n, limit int64) error {
	if n <= limit {
		return nil
	}
	return sqlError(erPacketTooLarge, "08S01", "Got a packet bigger than 'max_allowed_packet' bytes: a row of %d "+
		"bytes, max_allowed_packet is %d: select fewer or shorter values", n, limit)
}

// smallValues is what the values of a row may have without being taken from the budget of all statements: most have
// less.
const smallValues = 64 << 10

// take lets so many bytes be of the budget.
func (m *meter) take(n int64) error {
	if m.held+m.row > m.bytes {
		return m.full()
	}
	for n > m.taken {
		const step = 1 << 20
		if !m.budget.Try(step) {
			return m.fail(sqlError(erOutOfResources, "HY000", "Out of memory: too much of other statements is being "+
				"worked on (try again; max_busy_bytes bounds it)"))
		}
		m.taken += step
	}
	return m.err
}

func (m *meter) full() error {
	return m.fail(sqlError(erCapacity, "HY000", "Memory capacity of %d bytes for 'statement_bytes' exceeded: select "+
		"fewer rows or shorter values", m.bytes))
}

// MaxMemory and UsedMemory make the meter a gms.Reporter: go-mysql-server asks before it keeps another row or group.
func (m *meter) MaxMemory() uint64 {
	_ = m.hold(keptBytes) // the error sticks, and the next row tells
	return 0
}

func (m *meter) UsedMemory() uint64 { return 0 }

// keptBytes is about what a row or group costs that go-mysql-server keeps, without its values.
const keptBytes = 256

// why is the reason for which a statement ended: the meter's, if it has one.
func (m *meter) why(err error) error {
	if err == nil {
		return nil
	}
	if m.err == nil && m.ctx.Err() != nil && errors.Is(context.Cause(m.ctx), errTimeout) {
		m.err = errTimeout
	}
	if m.err != nil {
		return m.err
	}
	return err
}
