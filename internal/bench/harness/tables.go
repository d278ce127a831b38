package harness

import (
	"fmt"
	"io"
	"slices"

	"github.com/hikyaku/hikyaku/internal/measure"
)

// shown are the columns of the tables for people, in their order, and what they are called there.
var shown = [...]struct{ name, heading string }{
	{"work", "work"}, {"case", "case"}, {"kind", "kind"}, {"writers", "at once"}, {"connections", "connections"},
	{"client", "client"},
	{"server", "server"}, {"publisher", "publisher"}, {"rtt_ms", "round trip ms"}, {"burst", "messages"},
	{"rate", "offered/s"}, {"setting", "count, delay"}, {"depth", "depth"}, {"condition", "condition"},
	{"matching", "matching"},
	{"queue", "queue"}, {"clients", "clients"}, {"groups", "groups"}, {"backlog", "waiting"}, {"stuck", "stuck"},
	{"slice_messages", "at most a slice"}, {"waiters", "others"}, {"start", "after"}, {"indexes", "indexes"},
	{"columns", "columns"}, {"types", "types"}, {"offered_per_s", "offered/s"}, {"in_flight", "at a time"},
	{"couriers", "couriers"}, {"transaction", "transaction"},
	{"batch_limit", "max_events"}, {"conflicts", "conflicts"}, {"retry_s", "back-off s"}, {"layer", "layer"},
	{"at_s", "s"}, {"events", "events"},
	{"messages", "queue messages"}, {"n", "calls"}, {"mean_ms", "mean ms"}, {"p50_ms", "p50 ms"}, {"p95_ms", "p95 ms"},
	{"p99_ms", "p99 ms"}, {"p999_ms", "p99.9 ms"}, {"max_ms", "max ms"}, {"min_ms", "min ms"},
	{"per_s", "messages/s"},
	{"look_p50_us", "look p50 µs"}, {"look_p99_us", "look p99 µs"},
	{"cpu_ms", "CPU ms"},
	{"rss_mb", "RSS MB"}, {"own_mb", "of it its own"}, {"program_mb", "program MB"}, {"heap_mb", "heap MB"},
	{"message_bytes", "bytes a message"},
	{"index_bytes", "bytes a column"},
	{"log_mb", "log MB"}, {"copied_mb", "copied MB"}, {"checkpoint_mb", "checkpoints MB"},
	{"amplification", "amplification"},
	{"read_mb", "read MB"}, {"mb_per_s", "MB/s"}, {"per_sync", "per sync"},
	{"ratio", "ratio"}, {"ratio_q1", "q1"}, {"ratio_q3", "q3"}, {"ratio_lone", "to lone"}, {"ratio_alone", "to alone"},
	{"more_p50_ms", "more p50 ms"}, {"more_p50_ms_q1", "q1"}, {"more_p50_ms_q3", "q3"},
	{"owner_kb", "owner's KB"}, {"node_kb", "node's KB"},
	{"acknowledged", "acknowledged"}, {"taken", "taken"}, {"again", "came again"}, {"missing", "missing"},
	{"ratio_sync", "to one sync"}, {"per_group", "a group"},
	{"ratio_mariadb", "to MariaDB"}, {"ratio_postgres", "to PostgreSQL"}, {"ratio_p50", "p50 to limit"},
	{"ratio_depth", "cost to few"}, {"ratio_p999", "p99.9 to disk"},
	{"per_request", "a request"}, {"ratio_default", "p50 to default"}, {"ratio_count", "p50 to count"},
	{"ratio_raw", "p50 to raw"}, {"ratio_limit", "p50 to limit"}, {"syncs", "syncs"},
	{"ratio_best", "p50 to best"}, {"ratio_requests", "requests to best"},
	{"rate_default", "to default"}, {"rate_count", "to count"}, {"rate_raw", "to raw"}, {"rate_pstest", "to pstest"},
	{"put_p50_ms", "answer p50 ms"}, {"put_p99_ms", "answer p99 ms"}, {"beyond_p50_ms", "beyond p50 ms"},
	{"beyond_p99_ms", "beyond p99 ms"},
	{"ratio_elasticmq", "to ElasticMQ"}, {"ratio_empty", "to empty"}, {"ratio_light", "to light"},
	{"users", "users"}, {"total_ms", "total ms"}, {"ideal_ms", "ideal ms"}, {"ratio_ideal", "to ideal"},
	{"ratio_sequence", "faster than in sequence"}, {"report_ms", "published ms"},
	{"report_total_ms", "published total ms"},
	{"slow", "slow devices"}, {"first_mean_ms", "from first: mean ms"}, {"first_p99_ms", "from first: p99 ms"},
	{"bound_mean_ms", "bound mean ms"}, {"bound_p99_ms", "bound p99 ms"},
	{"mean_fix2", "mean to fix-2"}, {"p99_fix2", "p99 to fix-2"}, {"first_mean_fix2", "from first: mean to fix-2"},
	{"first_p99_fix2", "from first: p99 to fix-2"}, {"mean_bound", "mean to bound"}, {"p99_bound", "p99 to bound"},
	{"p99_even", "p99 to even"},
	{"mistake", "mistake"}, {"refused", "refused"}, {"lost", "lost"}, {"dead", "devices lost"},
	{"receipts", "receipts"},
	{"rate_without", "rate to without"}, {"cpu_without", "CPU to without"},
	{"cpu_us", "µs of CPU"}, {"rate_http", "to go-http"}, {"rate_pushy", "to pushy"}, {"rate_limit", "to limit"},
	{"turned_away", "turned away"}, {"failed", "failed"},
	{"due_p99_ms", "p99 ms from due"}, {"cells_per_s", "cells/s"}, {"cpu_pct", "% of a processor"},
	{"busy", "processors"}, {"batch", "a batch"}, {"batch_max", "largest"},
	{"retries", "retries"}, {"unread", "waiting lines"}, {"rows_in_table", "rows in table"},
	{"seed_per_s", "an INSERT each/s"}, {"rate_seed", "to an INSERT each"},
	{"rate_four", "to 4 at a time"}, {"rate_best", "to the best"}, {"cells_ten", "cells to 10 columns"},
	{"rate_bare", "to bare"}, {"rate_doubles", "to DOUBLE"}, {"rate_one", "to one"},
	{"sink_us", "µs of the sink"}, {"per_statement", "rows a statement"}, {"bytes_row", "bytes a row"},
	{"waits_row", "waits a row"},
	{"minutes", "minutes"}, {"own_p99_ms", "own p99 ms"}, {"missed", "missed frames"},
	{"drift_frames", "drift, frames"},
	{"workers", "workers"}, {"goroutines", "goroutines"}, {"item_ns", "ns an item"},
	{"memory_mb", "memory MB"}, {"machine", "machine"}, {"number", "number"}, {"call", "call"}, {"name", "name"},
	{"count", "count"}, {"cold", "cold"}, {"took_ms", "took ms"}, {"before_ms", "before wait ms"},
	{"after_ms", "after wait ms"}, {"called_ms", "called ms"},
	{"init_ms", "init ms"}, {"duration_ms", "duration ms"}, {"billed_ms", "billed ms"},
	{"billed_then_ms", "billed then ms"}, {"peak_mb", "used MB"}, {"report_mb", "published MB"},
	{"isolation", "isolation"}, {"threads", "threads"}, {"tasks", "the system's"}, {"frames", "frames"},
	{"hand_ms", "by hand ms"}, {"traced_ms", "strace ms"}, {"over_ms", "ms over by hand"},
	{"ratio_hand", "init to by hand"}, {"ratio_rie", "p50 to emulator"},
	{"cold_starts", "cold starts"}, {"cold_later", "after the first"}, {"cold_calls", "cold calls"},
	{"cold_pct", "% cold"}, {"ratio_spread", "to spread"}, {"instances", "instances"}, {"theirs_mb", "theirs MB"},
	{"asked", "asked"}, {"met", "met"}, {"because", "because"},
}

// Heading is what a value is called in the tables.
func Heading(name string) string {
	for _, s := range shown {
		if s.name == name {
			return s.heading
		}
	}
	return name
}

// Section is a table with the works it shows, without the columns that say nothing there.
type Section struct {
	Title string
	Works []string
	Hides []string
}

// rare are columns that only the tables of field reports have, which show what the reports show.
var rare = []string{"mean_ms", "min_ms"}

// View is how a report is shown to people.
type View struct {
	Sections []Section
	Pictures []Picture
	Means    []string                    // the works whose tables have the columns of rare, too
	Label    func(r *measure.Row) string // names a row in a caption: its work, and what tells it apart
}

// CaseLabel names a row by its work and its case.
func CaseLabel(r *measure.Row) string { return fmt.Sprintf("%v, %v", r.Get("work"), r.Get("case")) }

// hidden are the columns that a section does not have.
func (v View) hidden(s Section) []string {
	if slices.Contains(v.Means, s.Works[0]) {
		return s.Hides
	}
	return slices.Concat(s.Hides, rare)
}

// WriteTables writes the report for people: fewer columns, with headings.
func (v View) WriteTables(w io.Writer, b *measure.BenchReport) error {
	return v.writeTables(w, b, "", (*measure.Table).WriteText)
}

// WriteMarkdown is WriteTables for a page.
func (v View) WriteMarkdown(w io.Writer, b *measure.BenchReport) error {
	return v.writeTables(w, b, "## ", (*measure.Table).WriteMarkdown)
}

func (v View) writeTables(
	w io.Writer, b *measure.BenchReport, heading string, write func(*measure.Table, io.Writer) error,
) error {
	gap := ""
	for _, s := range v.Sections {
		part := &measure.BenchReport{Bench: b.Bench, Machine: b.Machine}
		for _, r := range b.Rows {
			if work, _ := r.Get("work").(string); slices.Contains(s.Works, work) {
				part.Rows = append(part.Rows, r)
			}
		}
		if len(part.Rows) == 0 {
			continue
		}
		if _, err := fmt.Fprintf(w, "%s%s%s\n\n", gap, heading, s.Title); err != nil {
			return err
		}
		gap = "\n"
		if err := write(shorten(part, v.hidden(s)).Table(Heading), w); err != nil {
			return err
		}
	}
	for _, n := range b.Notes {
		if _, err := fmt.Fprintf(w, "\nNote: %s.\n", n); err != nil {
			return err
		}
	}
	return nil
}

// shorten keeps of each row what people look at first, and no column that is empty in all of them.
func shorten(b *measure.BenchReport, hides []string) *measure.BenchReport {
	short := &measure.BenchReport{Bench: b.Bench, Machine: b.Machine}
	var names []string
	for _, s := range shown {
		used := slices.ContainsFunc(b.Rows, func(r *measure.Row) bool { return slices.Contains(r.Names(), s.name) })
		if used && !slices.Contains(hides, s.name) {
			names = append(names, s.name)
		}
	}
	for _, r := range b.Rows {
		line := new(measure.Row)
		for _, name := range names {
			if slices.Contains(r.Names(), name) {
				line.Set(name, r.Get(name))
			} else {
				line.Set(name, "")
			}
		}
		short.Rows = append(short.Rows, line)
	}
	return short
}
