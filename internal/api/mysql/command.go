package mysql

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"time"

	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
	"github.com/hikyaku/hikyaku/internal/api/mysql/gate"
)

// command answers a command that the protocol's library does not know, or answers otherwise than MySQL. It runs in the
// connection's own goroutine, between two commands.
func (h *handler) command(c *vmysql.Conn, com gate.Command) error {
	switch com.Code {
	case gate.Statistics:
		ctx, unwatch := h.door.watch(context.Background(), c)
		line, err := h.door.statistics(ctx)
		unwatch()
		if err != nil {
			return com.Refuse(sqlErrorOf(err))
		}
		return com.Say([]byte(line))
	case gate.Kill:
		if len(com.Payload) < 4 {
			return com.Refuse(errMalformed)
		}
		if err := h.killConnection(known(c), binary.LittleEndian.Uint32(com.Payload)); err != nil {
			return com.Refuse(sqlErrorOf(err))
		}
		return com.OK(c.StatusFlags)
	case gate.Refresh: // there is nothing to be flushed
		return com.OK(c.StatusFlags)
	case gate.ResetClient:
		if err := h.anew(c); err != nil {
			return com.End(sqlErrorOf(err))
		}
		return com.OK(c.StatusFlags)
	case gate.ChangeUser:
		if err := h.changeUser(c, com); err != nil {
			return com.End(sqlErrorOf(err))
		}
		return com.OK(c.StatusFlags)
	}
	return com.Refuse(sqlError(1047, "08S01", "Unknown command"))
}

var errMalformed = sqlError(1835, "HY000", "Malformed communication packet")

// anew begins a connection's session again: what it owned goes back, what it prepared and set is forgotten. The
// database stays.
func (h *handler) anew(c *vmysql.Conn) error {
	err := h.ComResetConnection(c)
	c.PrepareData = map[uint32]*vmysql.PrepareData{}
	return err
}

// changeUser lets another user go on with the connection. After an error it ends, as with MySQL.
func (h *handler) changeUser(c *vmysql.Conn, com gate.Command) error {
	p, ok := parseChange(com.Payload)
	if !ok {
		return errMalformed
	}
	getter, err := h.door.auth.Again(c, p.user, p.method, auth.Exchange{Ask: com.Ask, Say: com.Say})
	if err != nil {
		return err
	}
	c.User, c.UserData, c.CharacterSet = p.user, getter, p.collation
	if s := known(c); s != nil {
		s.SetCurrentDatabase("")
	}
	if err := h.anew(c); err != nil {
		return err
	}
	if p.database == "" {
		return nil
	}
	return h.ComInitDB(c, p.database)
}

// change is what a COM_CHANGE_USER says.
type change struct {
	user, database, method string
	collation              uint8
}

// parseChange reads a COM_CHANGE_USER. The proof in it is of an old challenge, and asked for anew.
func parseChange(b []byte) (c change, ok bool) {
	if c.user, b, ok = cutText(b); !ok || len(b) == 0 || len(b) < 1+int(b[0]) {
		return c, false
	}
	b = b[1+int(b[0]):]
	if c.database, b, ok = cutText(b); !ok {
		return c, false
	}
	if len(b) >= 2 {
		if c.collation = b[0]; b[1] != 0 {
			c.collation = 0 // one of UTF-8
		}
		c.method, _, _ = cutText(b[2:])
	}
	return c, true
}

// cutText takes a text that a zero ends.
func cutText(b []byte) (text string, rest []byte, ok bool) {
	t, rest, ok := bytes.Cut(b, []byte{0})
	return string(t), rest, ok
}

// killConnection ends another connection, or the statement that it runs if it is one's own.
func (h *handler) killConnection(s *session, id uint32) error {
	for _, p := range h.door.processes.Processes() {
		if p.Connection != id {
			continue
		}
		if s == nil || !s.mayAdminAll() && !s.mine()(p.Connection, p.User) {
			return sqlError(1095, "HY000", "You are not owner of thread %d", id)
		}
		h.door.processes.Kill(id)
		return h.door.sessions.KillConnection(id)
	}
	return sqlError(1094, "HY000", "Unknown thread id: %d", id)
}

// statistics is the line that "mysqladmin status" shows.
func (d *Server) statistics(ctx context.Context) (string, error) {
	queues, err := d.store.Queues(ctx)
	if err != nil {
		return "", fromStore(err, "")
	}
	up, questions, tables := max(d.uptime(), 1), d.counts.statements.Load(), len(queues)
	return fmt.Sprintf("Uptime: %d  Threads: %d  Questions: %d  Slow queries: 0  Opens: %d  Flush tables: 1  Open "+
		"tables: %d  Queries per second avg: %d.%03d",
		up, d.limit.open.Load(), questions, tables, tables, questions/up, questions*1000/up%1000), nil
}

// uptime is how many seconds the door is open.
func (d *Server) uptime() int64 { return int64(time.Since(d.since) / time.Second) }
