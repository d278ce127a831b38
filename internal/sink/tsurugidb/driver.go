package tsurugidb

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/hikyaku/hikyaku/internal/rows"
	"github.com/hikyaku/hikyaku/tsurugi"
)

// driver is a TsurugiDB server as package rows sees it.
type driver struct {
	endpoint string
	tx       tsurugi.TxType
	// credential is asked for each session.
	credential func() (tsurugi.Credential, error)
	strict     bool // a column that may be null is taken for one without a default, and not left out
	// params is how many placeholders a statement may have: fewer after the server has refused a longer one.
	params atomic.Int64
}

// mostParams is how many placeholders a statement has at most. Servers are known to take as many; from some hundred on,
// more gain nothing.
const mostParams = 1_200

func newDriver(endpoint string, tx tsurugi.TxType) *driver {
	d := &driver{endpoint: endpoint, tx: tx,
		credential: func() (tsurugi.Credential, error) { return tsurugi.Credential{}, nil }}
	d.params.Store(mostParams)
	return d
}

var errCredential = errors.New("there is no credential to show to the server")

// Open makes a session.
func (d *driver) Open(ctx context.Context) (rows.Session, error) {
	credential, err := d.credential()
	if err != nil {
		return nil, &failure{err: fmt.Errorf("%w: %w", errCredential, err), row: -1, broken: true}
	}
	s, err := tsurugi.Connect(ctx, d.endpoint, tsurugi.Config{Credential: credential, Application: "hikyaku"})
	if err != nil {
		return nil, &failure{err: err, row: -1, broken: true}
	}
	return &session{d: d, inner: s}, nil
}

// Close has nothing to do: there is nothing but the sessions.
func (d *driver) Close() error { return nil }

// options are those of a transaction that writes a table.
func (d *driver) options(table string) tsurugi.TxOptions {
	o := tsurugi.TxOptions{Type: d.tx, Label: "hikyaku"}
	if d.tx == tsurugi.LTX {
		o.WritePreserve = []string{table}
	}
	return o
}

// tableName is a table as the server's messages name it. A schema before it says nothing: there is only one.
func tableName(n rows.Name) string {
	if len(n) == 0 {
		return ""
	}
	return n[len(n)-1]
}
