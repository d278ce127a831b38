package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/dolthub/vitess/go/vt/sqlparser"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// session is a connection as SQL sees it: go-mysql-server's session with the connection's seat. Both paths of a
// statement end here.
type session struct {
	*gms.BaseSession
	door *Server
	user *access.User // nil without users
	end  *caller.End  // of the connection
	seat seat
	mark mark // what queue_set_srcid said of the next insert

	// waiting is called when a statement begins to wait for a row: it notices the client's end meanwhile, and KILL's.
	// It returns what to call when the waiting is over.
	waiting func(context.Context) (context.Context, func())

	meter *meter // of the statement that runs; nil: none does, or one of the short path

	stands bool // it has taken sessionBytes
	kept   kept

	variables ownVariables

	parsed  parsed // of the command that is worked on
	naming  string // the name that a PREPARE gives; "": the command is none
	assigns bool   // the command has an @a := 1
	limits  bool   // sql_select_limit is not what it is by default

	locked  []*lock // its own; guarded by the locks' mu, as awaited is
	awaited *lock   // that it waits for; nil: none

	altering  *altering      // what an ALTER TABLE of several parts has gathered
	fractions map[string]int // digits of a second of the TIME columns that a statement defines
	plain     bool           // quotes and backslashes mean what they mean by default: the short path may read them
	mode      *gms.SqlMode
	border    border
	warned    uint16     // how many warnings the statement before this one left
	absent    string     // the table that was looked for last and is not there, behind its database and a dot
	text      clientText // what the client speaks
}

var _ gms.LifecycleAwareSession = (*session)(nil)

func newSession(ctx context.Context, d *Server, conn *vmysql.Conn, base *gms.BaseSession, user *access.User) (*session,
	error) {
	s := &session{BaseSession: base, door: d, user: user, end: caller.Of(conn.Conn), plain: true,
		border: border{autocommit: true}, text: newText(), variables: newVariables()}
	s.kept.of = d.keeping
	s.seat = seat{store: d.store, owner: d.store.NewOwner("mysql connection")}
	s.waiting = func(ctx context.Context) (context.Context, func()) {
		if s.meter != nil {
			return ctx, s.meter.pause() // it is watched, and has a time-out of its own
		}
		return d.watch(ctx, conn)
	}
	conn.ClientData = s
	s.border.tell(conn)
	sc := gms.NewContext(ctx, gms.WithSession(s))
	if err := s.speak(sc, conn.CharacterSet); err != nil {
		return nil, err
	}
	s.mode = gms.LoadSqlMode(sc)
	return s, errors.Join(s.readLease(sc), s.readLimit(sc))
}

// known is the session of a connection, found without asking go-mysql-server: to be asked it makes a context of its
// own, which costs more than a hot statement. nil: there is none yet.
func known(conn *vmysql.Conn) *session {
	s, _ := conn.ClientData.(*session)
	return s
}

// sessionOf is the session of a statement; nil where there is none, as when the planner evaluates a literal.
func sessionOf(ctx *gms.Context) *session {
	if ctx == nil {
		return nil
	}
	s, _ := ctx.Session.(*session)
	return s
}

// CommandBegin, CommandEnd and SessionEnd are go-mysql-server's. The end of a session gives back what it owns: the
// connection is gone, or was reset.
func (s *session) CommandBegin() error { return nil }
func (s *session) CommandEnd()         {}
func (s *session) SessionEnd() {
	s.ownedGoesBack(func(t *tableCounts) *atomic.Int64 { return &t.closed })
	s.seat.close()
	s.door.locks.releaseAll(s)
	s.kept.end()
	if s.stands {
		s.door.standing.Give(sessionBytes)
		s.stands = false
	}
}

// CacheQuery and GetCachedQuery keep nothing: the cache of the base has no bound.
func (s *session) CacheQuery(string, sqlparser.Statement) {}

func (s *session) GetCachedQuery(string) (sqlparser.Statement, bool) { return nil, false }

// SetSessionVariable follows the variables that the door itself has to know.
func (s *session) SetSessionVariable(ctx *gms.Context, name string, value any) error {
	if err := s.text.check(name, value); err != nil {
		return err
	}
	if text, ok := value.(string); ok && strings.EqualFold(name, switchVariable) {
		now, err := s.GetSessionVariable(ctx, switchVariable)
		if err != nil {
			return err
		}
		if value, err = switched(text64(now), text); err != nil {
			return err
		}
	}
	lower := strings.ToLower(name)
	if err := s.assign(ctx, lower, value); err != nil {
		return err
	}
	s.text.set(name, value)
	switch lower {
	case leaseVariable:
		return s.readLease(ctx)
	case limitVariable:
		return s.readLimit(ctx)
	case gms.AutoCommitSessionVar:
		on, err := gms.ConvertToBool(ctx, value)
		if err != nil {
			return err
		}
		s.border.auto(on)
	case "sql_mode":
		s.mode = gms.LoadSqlMode(ctx)
		mode := strings.ToUpper(s.mode.String())
		s.border.noEscapes = strings.Contains(mode, "NO_BACKSLASH_ESCAPES")
		s.plain = !strings.Contains(mode, "ANSI") && !s.border.noEscapes
	}
	return nil
}

// maxKeptNames is how many user variables a connection may have.
const maxKeptNames = 1000

// SetUserVariable keeps a connection's variables within the bytes of one statement: they stay for as long as the
// connection.
func (s *session) SetUserVariable(ctx *gms.Context, name string, value any, typ gms.Type) error {
	name = strings.ToLower(name)
	bytes, k := valueBytes(value)+int64(len(name)), &s.kept
	was, again := k.values[name]
	if k.user-was+bytes > s.allowance().value || !again && len(k.values) >= maxKeptNames {
		return sqlError(erCapacity, "HY000", "The variables of a connection may have %d bytes in all, and %d names: "+
			"@%.64s is one too much", s.allowance().value, maxKeptNames, name)
	}
	if !k.change(was, bytes) {
		return errKept("the value of @" + name)
	}
	if k.values == nil {
		k.values = map[string]int64{}
	}
	k.user += bytes - was
	k.values[name] = bytes
	return s.BaseSession.SetUserVariable(ctx, name, value, typ)
}

// readLease takes over what was said of leases, at first what SET GLOBAL said.
func (s *session) readLease(ctx *gms.Context) error {
	v, err := s.GetSessionVariable(ctx, leaseVariable)
	if err != nil {
		return err
	}
	seconds, _ := v.(int64)
	s.seat.lease = min(time.Duration(seconds)*time.Second, queue.MaxLease)
	return nil
}

// may tells whether the user may do it with that queue; if not the error says so as MySQL does.
func (s *session) may(action access.Action, n queue.Name, verb string) error {
	if s.door.users.Allowed(s.user, action, s.door.store.Resolve(n)) {
		return nil
	}
	why := fmt.Sprintf("it needs the grant %q", action)
	if !s.door.users.Any() {
		other := s.otherAccount()
		if other == nil {
			return nil
		}
		why = other.Whole()
	}
	return sqlError(erTableAccess, "42000", "%s command denied to user '%s'@'%s' for table '%s' (%s)", verb,
		s.Client().User, s.Client().Address, n.Name, why)
}

// otherAccount says, without users, that the client is of an account of this machine that may not administer; nil: it
// may.
func (s *session) otherAccount() *access.LocalError {
	var other *access.LocalError
	errors.As(s.door.users.Local(s.end), &other) // nil is as it stays
	return other
}

// mayAdminAll tells whether the user may do everything with every queue.
func (s *session) mayAdminAll() bool {
	return s.door.users.AllowedAll(s.user, access.Admin) || !s.door.users.Any() && s.otherAccount() == nil
}

// mine tells of connections whether they are of the session's own user, or, since without users names say nothing, of
// its account.
func (s *session) mine() func(connection uint32, user string) bool {
	if s.door.users.Any() {
		return func(_ uint32, user string) bool { return user == s.Client().User }
	}
	same := map[uint32]bool{s.ID(): true}
	_ = s.door.sessions.Iter(func(other gms.Session) (stop bool, err error) { // it returns what the function does
		if o, ok := other.(*session); ok && s.door.users.SameEnds(s.end, o.end) {
			same[o.ID()] = true
		}
		return false, nil
	})
	return func(connection uint32, _ string) bool { return same[connection] }
}
