package sink

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// bareMeans measures ours, as fast as it goes, beside what the database's own means take in, and beside a courier that
// has no sink: the same rows, in turns.
func (s *session) bareMeans(ctx context.Context) error {
	run := s.asFast(scenarioBare, doubleSchema(10), s.bare)
	run.ready = true // the database's own means have a file
	bare, err := s.bareOf(ctx, run.schema)
	if err != nil {
		return err
	}
	without := *run
	without.way = wayNothing
	found, rest, peer := &sinkFound{run: run}, &sinkFound{run: &without}, &sinkFound{}
	others := s.otherSettings(run)
	turns := []func() error{
		func() error { return s.again(ctx, found) },
		func() error { return s.again(ctx, rest) },
		func() error {
			if bare == nil {
				return nil
			}
			elapsed, err := s.barely(ctx, run, bare)
			peer.tooks = append(peer.tooks, &sinkTook{events: run.events, elapsed: elapsed})
			return err
		},
	}
	for _, o := range others {
		turns = append(turns, func() error { return s.again(ctx, o) })
	}
	for round := range s.bares {
		for turn := range turns {
			if err := turns[(round+turn)%len(turns)](); err != nil {
				return err
			}
		}
		s.Step()
	}
	r := s.sinkRow(found)
	r.Set("sink_us", harness.Hundredths(max(0, found.cost()-rest.cost())))
	if bare != nil {
		r.Set("rate_bare", harness.Hundredths(found.ratio(peer)))
	}
	switch {
	case s.target.fake != nil:
		harness.Judge(r, s.Quick, harness.AtLeast("per_statement", 100), harness.AtMost("sink_us", 5))
	case bare != nil && s.To != toMySQL:
		harness.Judge(r, s.Quick, harness.AtLeast("rate_bare", 0.8))
	}
	for _, o := range others {
		r := s.sinkRow(o).Set("client", o.run.setting).Set("sink_us", harness.Hundredths(max(0, o.cost()-rest.cost())))
		if bare != nil {
			r.Set("rate_bare", harness.Hundredths(o.ratio(peer)))
		}
	}
	s.sinkRow(rest)
	if bare != nil {
		s.Report.Row(caseBare, scenarioBare).Set("server", s.To).Set("columns", 10).Set("client",
			bare.name).Set("events", run.events).
			Set("per_s", math.Round(peer.rate())).Set("cells_per_s", math.Round(10*peer.rate())).Set("rows_in_table",
			run.events)
	}
	return nil
}

// otherSettings are ours with a setting that costs or gains something: the message's id as the key, so that nothing is
// there twice whatever happens; and MySQL's own means.
func (s *session) otherSettings(r *sinkRun) []*sinkFound {
	keyed := *r
	keyed.schema, keyed.setting, keyed.sink = doubleSchema(len(r.schema.columns)).withID(), "id_column",
		"    id_column: id\n"
	found := []*sinkFound{{run: &keyed}}
	if s.To == toMySQL {
		load := *r
		load.setting, load.sink = "load_data", "    load_data: true\n"
		found = append(found, &sinkFound{run: &load})
	}
	return found
}

// bareWay is a database's own means to take rows in.
type bareWay struct {
	name string
	load func(ctx context.Context, table, lines string) (time.Duration, error) // of a file
}

// bareOf is that of the target; nil if there is none, which a note then tells.
func (s *session) bareOf(ctx context.Context, schema *sinkSchema) (*bareWay, error) {
	switch s.To {
	case toPostgres:
		if !harness.Has("psql") {
			s.Report.Note("PostgreSQL's bare COPY was not measured: psql is not here: install postgresql-client")
			return nil, nil
		}
		return &bareWay{"psql, COPY", s.copyByPSQL}, nil
	case toMySQL:
		local := ""
		if err := s.target.desk.read(ctx, "SELECT @@global.local_infile", func(v any) error {
			local = fmt.Sprint(v)
			return nil
		}); err != nil {
			return nil, err
		}
		if local != "1" {
			s.Report.Note("MySQL's LOAD DATA was not measured: the server does not allow it: SET GLOBAL local_infile " +
				"= 1")
			return nil, nil
		}
		return &bareWay{"LOAD DATA LOCAL", s.loadData}, nil
	case toSQLite:
		return &bareWay{"one transaction of prepared INSERTs",
			func(ctx context.Context, table, lines string) (time.Duration, error) {
				return s.insertPrepared(ctx, table, len(schema.columns), lines)
			}}, nil
	default:
		return nil, nil
	}
}

// barely lets the means fill a table, and looks at it.
func (s *session) barely(ctx context.Context, r *sinkRun, bare *bareWay) (time.Duration, error) {
	if err := s.target.empty(ctx, r.schema); err != nil {
		return 0, err
	}
	name := filepath.Join(s.Temp, "lines.csv")
	f, err := os.Create(name)
	if err != nil {
		return 0, err
	}
	feed := &lineFeed{schema: r.schema, step: 1, n: r.events}
	if err := errors.Join(feed.write(ctx, f, time.Now(), nil), f.Close()); err != nil {
		return 0, err
	}
	elapsed, err := bare.load(ctx, r.schema.table, name)
	if err != nil {
		return 0, fmt.Errorf("%s: %w", bare.name, err)
	}
	return elapsed, errors.Join(s.target.check(ctx, r.schema, r.events), os.Remove(name))
}

// psqlTime is what psql says of a statement.
var psqlTime = regexp.MustCompile(`Time: ([0-9.]+) ms`)

// copyByPSQL takes psql's own time, without its start.
func (s *session) copyByPSQL(ctx context.Context, table, lines string) (time.Duration, error) {
	cmd := exec.CommandContext(ctx, "psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", s.target.address,
		"-c", `\timing on`, "-c", `\copy `+table+` FROM '`+strings.ReplaceAll(lines, "'", "''")+`' (FORMAT csv)`)
	var out, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &complaint
	if err := cmd.Run(); err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(complaint.String()))
	}
	m := psqlTime.FindSubmatch(out.Bytes())
	if m == nil {
		return 0, fmt.Errorf("it told no time: %q", out.String())
	}
	ms, err := strconv.ParseFloat(string(m[1]), 64)
	return time.Duration(ms * float64(time.Millisecond)), err
}

func (s *session) loadData(ctx context.Context, table, lines string) (time.Duration, error) {
	handler := "hikyaku-bench-" + table
	mysql.RegisterReaderHandler(handler, func() io.Reader {
		f, err := os.Open(lines)
		if err != nil {
			return strings.NewReader("") // the look at the table tells
		}
		return f // the driver closes it
	})
	defer mysql.DeregisterReaderHandler(handler)
	began := time.Now()
	err := s.target.desk.exec(ctx, "LOAD DATA LOCAL INFILE 'Reader::"+handler+"' INTO TABLE "+table+
		" FIELDS TERMINATED BY ','")
	return time.Since(began), err
}

// insertPrepared binds values that are there already, in one transaction.
func (s *session) insertPrepared(ctx context.Context, table string, columns int, lines string) (took time.Duration,
	err error) {
	text, err := os.ReadFile(lines)
	if err != nil {
		return 0, err
	}
	var values []any
	for line := range strings.Lines(string(text)) {
		for field := range strings.SplitSeq(strings.TrimSuffix(line, "\n"), ",") {
			v, err := strconv.ParseFloat(field, 64)
			if err != nil {
				return 0, err
			}
			values = append(values, v)
		}
	}
	db := s.target.desk.(*sqlDesk).db
	began := time.Now()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return 0, err
	}
	insert, err := tx.PrepareContext(ctx, "INSERT INTO "+table+" VALUES (?"+strings.Repeat(", ?", columns-1)+")")
	if err != nil {
		return 0, errors.Join(err, tx.Rollback())
	}
	for i := 0; i < len(values); i += columns {
		if _, err := insert.ExecContext(ctx, values[i:i+columns]...); err != nil {
			return 0, errors.Join(err, tx.Rollback())
		}
	}
	if err := errors.Join(insert.Close(), tx.Commit()); err != nil {
		return 0, err
	}
	return time.Since(began), nil
}
