package mysql

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"sync/atomic"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

// sessions is the rows.Driver.
type sessions struct {
	config *mysql.Config
	tls    secure.TLS
	load   bool          // LOAD DATA is asked for
	denied atomic.Uint64 // sessions whose server has refused it
	undone atomic.Uint64 // blocks that did not go in whole
}

// secure reads the certificates, if there are any to be read.
func (d *sessions) secure() (err error) {
	if d.tls.IsSet() {
		host, _, _ := net.SplitHostPort(d.config.Addr) // none for a socket
		d.config.TLS, err = d.tls.Load(host)
	}
	return err
}

// Open connects.
func (d *sessions) Open(ctx context.Context) (rows.Session, error) {
	connector, err := mysql.NewConnector(d.config)
	if err != nil {
		return nil, err
	}
	made, err := connector.Connect(ctx)
	if err != nil {
		return nil, &failure{classify(err), err}
	}
	c, ok := made.(conn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("the library's connections are %T", made), made.Close())
	}
	s := &session{conn: c, driver: d, plans: plans{}, loads: d.load, reader: newReader()}
	if err := s.begin(ctx); err != nil {
		return nil, errors.Join(s.failed(err), s.Close())
	}
	return s, nil
}

// begin asks for what the session has to know. How it is to read and judge what we write was said when it was opened
// (sessionSettings).
func (s *session) begin(ctx context.Context) error {
	found, err := s.ask(ctx, "SELECT @@max_allowed_packet")
	if err != nil {
		return err
	}
	if len(found) == 1 {
		s.packet, err = strconv.Atoi(found[0][0])
	}
	return err
}

// Judge says what an error of a session means.
func (d *sessions) Judge(err error) rows.Fault {
	var e *failure
	if errors.As(err, &e) {
		return e.Fault
	}
	return classify(err)
}

// Close has nothing to let go of.
func (d *sessions) Close() error { return nil }
