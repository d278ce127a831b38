package fetch

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/hikyaku/hikyaku/internal/message"
)

// pgPool is a pool of PostgreSQL's connections. Their statements are kept prepared by pgx.
type pgPool struct {
	config *pgx.ConnConfig
	seats  chan struct{}  // one for each connection in use
	free   chan *pgx.Conn // those that nobody uses
	ended  chan struct{}
}

func newPGPool(c *pgx.ConnConfig, connections int) *pgPool {
	return &pgPool{c, make(chan struct{}, connections), make(chan *pgx.Conn, connections), make(chan struct{})}
}

var errPoolClosed = errors.New("the connections are closed")

// take waits for a connection. used: it has served before, so that the server may have closed it meanwhile.
func (p *pgPool) take(ctx context.Context) (c *pgx.Conn, used bool, err error) {
	select {
	case p.seats <- struct{}{}:
	case <-ctx.Done():
		return nil, false, ctx.Err()
	case <-p.ended:
		return nil, false, errPoolClosed
	}
	select {
	case c = <-p.free:
		return c, true, nil
	default:
	}
	if c, err = pgx.ConnectConfig(ctx, p.config.Copy()); err != nil {
		<-p.seats
		return nil, false, err
	}
	return c, false, nil
}

// give puts a connection back. One that is broken, or was left in the middle of an answer, is closed.
func (p *pgPool) give(c *pgx.Conn) {
	if !c.IsClosed() {
		p.free <- c // there is room: it has a seat
	}
	<-p.seats
}

func (p *pgPool) check(ctx context.Context, text string) error {
	c, _, err := p.take(ctx)
	if err != nil {
		return err
	}
	defer p.give(c)
	_, err = c.Prepare(ctx, "", text)
	return err
}

func (p *pgPool) ask(ctx context.Context, text string, _ int, args []any, take func(Row) error) error {
	for {
		c, used, err := p.take(ctx)
		if err != nil {
			return err
		}
		began := false
		err = p.askOver(ctx, c, text, args, func(r Row) error {
			began = true
			return take(r)
		})
		gone := err != nil && c.IsClosed()
		p.give(c)
		if gone && used && !began && pgconn.SafeToRetry(err) && ctx.Err() == nil {
			continue // the server had closed it before: that says nothing about the question
		}
		return err
	}
}

func (p *pgPool) askOver(ctx context.Context, c *pgx.Conn, text string, args []any, take func(Row) error) error {
	// Texts: what JSON wants is a text, too, and the digits of numbers stay as they are.
	rows, err := c.Query(ctx, text, append([]any{pgx.QueryResultFormats{pgx.TextFormatCode}}, args...)...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		fields := rows.FieldDescriptions()
		row := make(Row, len(fields))
		for i, raw := range rows.RawValues() {
			value, err := pgJSON(c.TypeMap(), fields[i].DataTypeOID, raw)
			if err != nil {
				return &valueError{fields[i].Name, string(raw)}
			}
			row[i] = Field{fields[i].Name, value}
		}
		if err := take(row); err != nil {
			return &takenError{err}
		}
	}
	return rows.Err()
}

// pgJSON makes JSON of the text of a value. What has no form of its own in JSON, such as an array, is its text.
func pgJSON(types *pgtype.Map, oid uint32, raw []byte) (json.RawMessage, error) {
	if raw == nil {
		return json.RawMessage("null"), nil
	}
	switch oid {
	case pgtype.BoolOID:
		return strconv.AppendBool(nil, len(raw) > 0 && raw[0] == 't'), nil
	case pgtype.Int2OID, pgtype.Int4OID, pgtype.Int8OID, pgtype.OIDOID, pgtype.Float4OID, pgtype.Float8OID,
		pgtype.NumericOID:
		if !json.Valid(raw) {
			return nil, errors.New("no number")
		}
		return append(json.RawMessage(nil), raw...), nil
	case pgtype.JSONOID, pgtype.JSONBOID:
		return Compact(append(json.RawMessage(nil), raw...)), nil
	case pgtype.ByteaOID:
		var b []byte
		if err := types.Scan(oid, pgtype.TextFormatCode, raw, &b); err != nil {
			return nil, err
		}
		return strconv.AppendQuote(nil, base64.StdEncoding.EncodeToString(b)), nil
	case pgtype.TimestampOID, pgtype.TimestamptzOID:
		var t time.Time
		if err := types.Scan(oid, pgtype.TextFormatCode, raw, &t); err != nil {
			return appendQuoted(nil, string(raw)), nil // infinity
		}
		return json.RawMessage(`"` + t.UTC().Format(message.TimeFormat) + `"`), nil
	}
	return appendQuoted(nil, string(raw)), nil
}

func (p *pgPool) close() error {
	close(p.ended)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for the words of farewell
	defer cancel()
	var errs []error
	for range cap(p.seats) { // those in use come back first
		p.seats <- struct{}{}
	}
	for {
		select {
		case c := <-p.free:
			errs = append(errs, c.Close(ctx))
		default:
			return errors.Join(errs...)
		}
	}
}
