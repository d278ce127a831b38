package sink

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// sinkTarget is the database of a run.
type sinkTarget struct {
	to      string
	address string
	desk    sinkDesk
	fake    *harness.Talker // the server for tests; nil: a real one, or none
	made    map[string]bool
}

// openTarget finds the database, or starts one.
func (s *session) openTarget(ctx context.Context) (err error) {
	t := &sinkTarget{to: s.To, made: map[string]bool{}}
	s.target = t
	switch t.to {
	case toSQLite:
		t.address = filepath.Join(s.Temp, "table.db")
	case toPostgres:
		if t.address = s.Postgres; t.address == "" {
			return errors.New("--to postgres wants to know where: --postgres " +
				"postgres://user:password@host:port/database")
		}
	case toMySQL:
		if t.address = s.MySQL; t.address == "" {
			return errors.New("--to mysql wants to know where: --mysql user:password@tcp(host:port)/database")
		}
	case toTsurugi:
		if t.address = s.Tsurugi; t.address == "" {
			if err := s.startFake(ctx); err != nil {
				return err
			}
			s.Report.Note("TsurugiDB: not measured against a real server, which TSURUGI_ENDPOINT would name: what is " +
				"measured is the client beside our server for tests, and no rate or ratio of it says anything about " +
				"TsurugiDB")
		}
	default:
		return fmt.Errorf("there is no sink %q: choose from %s", t.to, strings.Join(sinkTargets(), ", "))
	}
	t.desk, err = openDesk(ctx, t.to, t.address)
	return err
}

func (s *session) startFake(ctx context.Context) error {
	if len(s.Sink) == 0 {
		return errors.New("no command was given that serves in a process of its own")
	}
	fake, err := harness.StartTalker(ctx, "the TsurugiDB server for tests",
		append(s.Sink[:len(s.Sink):len(s.Sink)], "--kind", kindFake)...)
	if err != nil {
		return err
	}
	var said fakeSaid
	if err := fake.Hear(&said); err != nil {
		return err
	}
	s.target.fake, s.target.address = fake, said.Endpoint
	return nil
}

// asked is what the server for tests has been asked for so far.
func (t *sinkTarget) asked() (said fakeSaid, err error) {
	return said, t.fake.Ask("", &said)
}

// conflicts tells the server for tests, if that is what it is, how many of a thousand commits are to fail from then on.
// "": as before.
func (t *sinkTarget) conflicts(perMille string) error {
	if t.fake == nil || perMille == "" {
		return nil
	}
	var said fakeSaid
	return t.fake.Ask(perMille, &said)
}

// empty makes a table, in place of the one there may be.
func (t *sinkTarget) empty(ctx context.Context, schema *sinkSchema) error {
	if err := t.drop(ctx, schema.table); err != nil {
		return err
	}
	if err := t.desk.exec(ctx, schema.create(t.to)); err != nil {
		return fmt.Errorf("%s: make the table %s: %w", t.to, schema.table, err)
	}
	t.made[schema.table] = true
	return nil
}

func (t *sinkTarget) drop(ctx context.Context, table string) error {
	if err := t.desk.exec(ctx, "DROP TABLE IF EXISTS "+table); err != nil {
		return fmt.Errorf("%s: drop the table %s: %w", t.to, table, err)
	}
	return nil
}

// check looks whether each row is there once.
func (t *sinkTarget) check(ctx context.Context, schema *sinkSchema, events int) error {
	seen, rows, missing := make([]bool, events), 0, events
	err := t.desk.read(ctx, "SELECT value1 FROM "+schema.table, func(v any) error {
		text := fmt.Sprint(v)
		if b, ok := v.([]byte); ok {
			text = string(b)
		}
		f, err := strconv.ParseFloat(text, 64)
		if i := int(f); err != nil || i < 0 || i >= events || float64(i) != f {
			return fmt.Errorf("there is a row %s, which nobody sent", text)
		} else if !seen[i] {
			seen[i] = true
			missing--
		}
		rows++
		return nil
	})
	if err != nil {
		return fmt.Errorf("%s: look at the table %s: %w", t.to, schema.table, err)
	}
	if missing > 0 || rows != events {
		return fmt.Errorf("%s: of %d events %d are missing from the table %s, and %d are there more than once", t.to,
			events, missing, schema.table, rows-(events-missing))
	}
	return nil
}

// Close drops the tables, also when ctx has ended, and ends the server for tests.
func (t *sinkTarget) Close(ctx context.Context) error {
	var errs []error
	if t.desk != nil {
		ctx = context.WithoutCancel(ctx)
		for table := range t.made {
			if t.fake == nil && t.to != toSQLite { // else they are gone with their database
				errs = append(errs, t.drop(ctx, table))
			}
		}
		errs = append(errs, t.desk.Close())
	}
	if t.fake != nil {
		errs = append(errs, t.fake.Close())
	}
	if t.to == toSQLite && t.address != "" {
		for _, more := range []string{"", "-wal", "-shm"} {
			if err := os.Remove(t.address + more); !errors.Is(err, os.ErrNotExist) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// sinkTypes are the types of the sinks, and the setting that says where the database is.
var sinkTypes = map[string][2]string{
	toTsurugi:  {"tsurugidb", "endpoint"},
	toPostgres: {"postgres", "database"},
	toMySQL:    {"mysql", "database"},
	toSQLite:   {"sqlite", "database"},
}

// configuration is that of a courier.
func (t *sinkTarget) configuration(r *sinkRun) string {
	var b strings.Builder
	inputs := "fields"
	b.WriteString("sources:\n  lines: { type: stdin }\n")
	if r.raw {
		inputs = "lines"
	} else {
		fmt.Fprintf(&b, "transforms:\n  fields: { type: decode, inputs: [lines], codec: csv, columns: [%s] }\n",
			r.schema.names())
	}
	fmt.Fprintf(&b, "sinks:\n  table:\n    inputs: [%s]\n", inputs)
	if r.way == harness.CaseOurs {
		kind := sinkTypes[t.to]
		address, who := t.address, (*url.Userinfo)(nil)
		if t.to == toTsurugi {
			address, who = tsurugiAt(address)
		}
		fmt.Fprintf(&b, "    type: %s\n    %s: %s\n    table: %s\n", kind[0], kind[1], quoted(address), r.schema.table)
		if password, _ := who.Password(); who != nil {
			fmt.Fprintf(&b, "    credential: { user: %s, password: %s }\n", quoted(who.Username()), quoted(password))
		}
	} else {
		b.WriteString("    type: stdout\n") // and another stands in its place
	}
	b.WriteString(r.sink)
	if r.batch != "" {
		fmt.Fprintf(&b, "    batch: { %s }\n", r.batch)
	}
	request := r.request
	if r.inFlight != "" {
		request = strings.TrimSuffix("in_flight_limit: "+r.inFlight+", "+request, ", ")
	}
	if request != "" {
		fmt.Fprintf(&b, "    request: { %s }\n", request)
	}
	return b.String()
}
