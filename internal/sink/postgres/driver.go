package postgres

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// driver makes sessions.
type driver struct {
	config *pgconn.Config
	tls    secure.TLS
}

// Open connects.
func (d *driver) Open(ctx context.Context) (rows.Session, error) {
	w, err := dial(ctx, d.config)
	if err != nil {
		return nil, &failure{classify(err), err}
	}
	s := &session{wire: w, driver: d, plans: plans{}}
	answer, err := w.ask(ctx, lifeQuery)
	if err == nil && len(answer) == 0 {
		err = errors.New("the server does not say since when it runs")
	}
	if err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	s.life = answer[0][0]
	return s, nil
}

// Judge says what an error of a session means.
func (d *driver) Judge(err error) rows.Fault {
	if e, ok := asFailure(err); ok {
		return e.Fault
	}
	return classify(err)
}

// UsualRows implements rows.Wide: a block is two round trips and a wait for the disk, whatever its size.
func (d *driver) UsualRows() int { return 5000 }

// Close has nothing to let go of.
func (d *driver) Close() error { return nil }

// cancelQuery asks the server, on a connection of its own, to end what a session is doing.
func (s *session) cancelQuery(ctx context.Context) error {
	far := s.conn.RemoteAddr()
	conn, err := new(net.Dialer).DialContext(ctx, far.Network(), far.String())
	if err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	defer conn.Close()
	if end, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(end)
	}
	const cancelRequest = 1234<<16 | 5678
	m := binary.BigEndian.AppendUint32(nil, uint32(12+len(s.secret)))
	m = binary.BigEndian.AppendUint32(m, cancelRequest)
	m = binary.BigEndian.AppendUint32(m, s.pid)
	if _, err := conn.Write(append(m, s.secret...)); err != nil {
		return fmt.Errorf("cancel: %w", err)
	}
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	_, _ = conn.Read(make([]byte, 1)) // it is heard when the server closes the connection
	return nil
}
