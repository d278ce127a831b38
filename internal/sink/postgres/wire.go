package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgproto3"
)

// wire is a connection that has been let in. It writes what it is given and reads answers; what stands in them is its
// users' business.
type wire struct {
	conn   net.Conn
	in     *pgproto3.Frontend // for reading alone
	pid    uint32
	secret []byte
	broken bool // it cannot be used again
}

// dial connects and logs in.
func dial(ctx context.Context, c *pgconn.Config) (*wire, error) {
	conn, err := pgconn.ConnectConfig(ctx, c)
	if err != nil {
		return nil, err
	}
	// A greeting that took long to send makes the library read in the background. That reader would take the first
	// answer that is ours.
	if err := conn.SyncConn(ctx); err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	// All that remains to be done over it is a few messages, which leave in fewer pieces when we write them.
	got, err := conn.Hijack()
	if err != nil {
		return nil, errors.Join(err, conn.Close(ctx))
	}
	return &wire{conn: got.Conn, in: pgproto3.NewFrontend(got.Conn, got.Conn), pid: got.PID, secret: got.SecretKey}, nil
}

// during lets ctx bound what is read and written, until end is called.
func (w *wire) during(ctx context.Context) (end func()) {
	stop := context.AfterFunc(ctx, func() { _ = w.conn.SetDeadline(time.Unix(1, 0)) })
	return func() {
		if !stop() {
			w.broken = true
		}
	}
}

func (w *wire) write(p []byte) error {
	if _, err := w.conn.Write(p); err != nil {
		w.broken = true
		return fmt.Errorf("send: %w", err)
	}
	return nil
}

// receive reads a message, which is good until the next call. A message that ends the session is an error,
// *pgconn.PgError; other errors of the server's are messages like others.
func (w *wire) receive() (pgproto3.BackendMessage, error) {
	m, err := w.in.Receive()
	if err != nil {
		w.broken = true
		return nil, fmt.Errorf("receive: %w", err)
	}
	if e, ok := m.(*pgproto3.ErrorResponse); ok &&
		(e.Severity == "FATAL" || e.Severity == "PANIC" || e.SeverityUnlocalized == "FATAL" ||
			e.SeverityUnlocalized == "PANIC") {
		w.broken = true
		return nil, pgconn.ErrorResponseToPgError(e)
	}
	return m, nil
}

// ask runs one statement with texts as arguments, and returns the rows' texts.
func (w *wire) ask(ctx context.Context, sql string, args ...string) (rows [][]string, err error) {
	defer w.during(ctx)()
	parameters := make([][]byte, len(args))
	for i, a := range args {
		parameters[i] = []byte(a)
	}
	out, err := appendMessages(nil, &pgproto3.Parse{Query: sql}, &pgproto3.Bind{Parameters: parameters},
		&pgproto3.Execute{}, &pgproto3.Sync{})
	if err != nil {
		return nil, err
	}
	if err := w.write(out); err != nil {
		return nil, err
	}
	return rows, w.drain(func(m pgproto3.BackendMessage) {
		if m, ok := m.(*pgproto3.DataRow); ok {
			row := make([]string, len(m.Values))
			for i, v := range m.Values {
				row[i] = string(v) // also of null
			}
			rows = append(rows, row)
		}
	})
}

// drain reads up to the end of the answer, and shows what comes. The error is the first of the server's, or that of
// reading.
func (w *wire) drain(show func(pgproto3.BackendMessage)) error {
	var failed error
	for {
		m, err := w.receive()
		if err != nil {
			return err
		}
		switch m := m.(type) {
		case *pgproto3.ErrorResponse:
			if failed == nil {
				failed = pgconn.ErrorResponseToPgError(m)
			}
		case *pgproto3.ReadyForQuery:
			return failed
		default:
			show(m)
		}
	}
}

// close says farewell, which nobody waits for.
func (w *wire) close() error {
	if !w.broken {
		_ = w.conn.SetDeadline(time.Now().Add(time.Second))
		_ = w.write([]byte{'X', 0, 0, 0, 4})
	}
	return w.conn.Close()
}

func appendMessages(dst []byte, messages ...pgproto3.FrontendMessage) (_ []byte, err error) {
	for _, m := range messages {
		if dst, err = m.Encode(dst); err != nil {
			return dst, err
		}
	}
	return dst, nil
}

// appendQuery appends a text of statements, all of them one transaction.
func appendQuery(dst []byte, sql string) []byte {
	dst = append(dst, 'Q')
	dst = binary.BigEndian.AppendUint32(dst, uint32(len(sql)+5))
	dst = append(dst, sql...)
	return append(dst, 0)
}
