package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/benchtest"
	"github.com/hikyaku/hikyaku/internal/measure"
)

func TestBenchSaysWhatItCanBeAskedFor(t *testing.T) {
	r := hikyaku(t, "", nil, "bench", "queue", "--only", "put,putt")
	if r.code != exitUsage || r.stdout != "" || !strings.Contains(r.stderr, `no work "putt"`) ||
		!strings.Contains(r.stderr, "put-pipelined") {
		t.Errorf("a work that does not exist: %+v", r)
	}
	if r := hikyaku(t, "", nil, "bench", "queue", "--quick", "--deep"); r.code != exitUsage ||
		!strings.Contains(r.stderr, "choose one") {
		t.Errorf("quick and deep at once: %+v", r)
	}
	if r := hikyaku(t, "", nil, "bench", "queue", "--quick", "--page", t.TempDir()); r.code != exitUsage ||
		!strings.Contains(r.stderr, "--page with --quick") {
		t.Errorf("a page of a quick run: %+v", r)
	}
	if r := hikyaku(t, "", nil, "bench", "queue", "--help"); r.code != 0 || !strings.Contains(r.stdout, "hand-over") {
		t.Errorf("the help does not name the works: %+v", r)
	}
}

func TestBenchComparesTwoPrograms(t *testing.T) {
	for _, wrong := range []struct{ args, hint string }{
		{"", "the name of a BENCH"}, {"flaw", "choose from"}, {"flow", "--with PROGRAM"},
		{"--rounds 2 --with " + binary + " flow", "--rounds 2"},
	} {
		r := hikyaku(t, "", nil, append([]string{"bench", "compare"}, strings.Fields(wrong.args)...)...)
		if r.code != exitUsage || !strings.Contains(r.stderr, wrong.hint) {
			t.Errorf("%q: %+v", wrong.args, r)
		}
	}
	r := hikyaku(t, "", nil, "bench", "compare", "--with", binary, "--rounds", "3", "--json", "flow", "--quick",
		"--only", "overhead")
	var report struct {
		Rows []struct {
			Case, Figure string
			Rounds       int
			Before, Now  float64
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if len(report.Rows) != 4 {
		t.Errorf("%+v", report)
	}
	for _, row := range report.Rows {
		if row.Rounds != 3 || row.Before <= 0 || row.Now <= 0 {
			t.Errorf("%+v", row)
		}
	}
}

func TestBenchMeasuresMemoryInAProcessOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "queue", "--quick", "--json", "--only", "memory", "--dir", dir)
	var report struct {
		Rows []struct {
			Work    string
			RSS     float64 `json:"rss_mb"`
			Indexes int
		}
		Notes []string
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if len(report.Rows) != 2 || len(report.Notes) != 0 || report.Rows[0].RSS <= 0 || report.Rows[1].Indexes != 2 {
		t.Errorf("%+v", report)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestBenchServesMySQLClientsInAProcessOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "q4m", "--quick", "--json", "--only", "insert", "--dir", dir)
	var report struct {
		Bench string
		Rows  []struct{ Case, Work, Client string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if report.Bench != "q4m" || len(report.Rows) == 0 || report.Rows[0].Case != "hikyaku" ||
		report.Rows[0].Client == "" {
		t.Errorf("%+v", report)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if r := hikyaku(t, "", nil, "bench", "q4m", "--mysql", "root@tcp(127.0.0.1:1)/"); r.code == 0 ||
		!strings.Contains(r.stderr, "names no database") {
		t.Errorf("an address without a database: %+v", r)
	}
	if r := hikyaku(t, "", nil, "bench", "queue", "--mysql", "x"); r.code != exitUsage {
		t.Errorf("a bench that compares with no server takes an address of one: %+v", r)
	}
}

func TestBenchServesPubSubClientsInAProcessOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "publish", "--quick", "--json", "--only", "lone", "--dir", dir)
	var report struct {
		Bench string
		Rows  []struct{ Case, Work, Server string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if report.Bench != "publish" || len(report.Rows) == 0 || report.Rows[0].Case != "hikyaku" ||
		report.Rows[0].Server != "instant" {
		t.Errorf("%+v", report)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestBenchStartsThisProgramAndLeavesNothingBehind(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "start", "--quick", "--json", "--dir", dir)
	var report measure.BenchReport
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	var got []string
	for _, row := range report.Rows {
		got = append(got, fmt.Sprint(row.Get("work"), " ", row.Get("case")))
		figures := []string{"p50_ms"}
		if row.Get("work") == "serve" {
			figures = append(figures, "cpu_ms", "rss_mb", "own_mb")
		}
		benchtest.CheckPositive(t, len(got)-1, row, figures...)
	}
	if want := []string{"command hikyaku", "command true", "serve hikyaku", "serve again"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestBenchServesSQSClientsInAProcessOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "sqs", "--quick", "--json", "--only", "send", "--dir", dir)
	var report struct {
		Bench string
		Rows  []struct{ Case, Work, Queue string }
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if report.Bench != "sqs" || len(report.Rows) == 0 || report.Rows[0].Case != "hikyaku" ||
		report.Rows[0].Queue != "standard" {
		t.Errorf("%+v", report)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if r := hikyaku(t, "", nil, "bench", "sqs", "--elasticmq", "http://127.0.0.1:1"); r.code == 0 ||
		!strings.Contains(r.stderr, "elasticmq at 127.0.0.1:1") {
		t.Errorf("an ElasticMQ that is not there: %+v", r)
	}
}

func TestBenchRunsCouriersInProcessesOfTheirOwn(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "sink", "--quick", "--json", "--only", "baseline", "--dir", dir)
	var report struct {
		Bench string
		Rows  []struct {
			Case, Work, Server string
			Events             int
			RowsInTable        int `json:"rows_in_table"`
		}
	}
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	if report.Bench != "sink" || len(report.Rows) != 2 || report.Rows[0].Case != "hikyaku" ||
		report.Rows[0].Server != "sqlite" || report.Rows[0].Events == 0 ||
		report.Rows[0].RowsInTable != report.Rows[0].Events {
		t.Errorf("%+v", report)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
	if r := hikyaku(t, "", nil, "bench", "sink", "--to", "oracle"); r.code == 0 ||
		!strings.Contains(r.stderr, `no sink "oracle"`) {
		t.Errorf("a database that it does not know: %+v", r)
	}
	if r := hikyaku(t, "", nil, "bench", "queue", "--to", "sqlite"); r.code != exitUsage {
		t.Errorf("a bench that writes into no database takes one: %+v", r)
	}
}

func TestWhatOnlyABenchRunsIsNotOffered(t *testing.T) {
	r := hikyaku(t, "", nil, "bench", "--help")
	for _, name := range []string{occupantName, serverName, pubsubName, sqsName, sinkName} {
		if strings.Contains(r.stdout, name) {
			t.Errorf("the help offers %s: %s", name, r.stdout)
		}
	}
}

// The bench is ended where it is hardest: while a process of its own writes files.
func TestBenchLeavesNothingAfterCtrlC(t *testing.T) {
	dir := t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := command(ctx, nil, "bench", "queue", "--only", "memory", "--dir", dir)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	look := time.NewTicker(5 * time.Millisecond)
	defer look.Stop()
	for {
		logs, err := filepath.Glob(filepath.Join(dir, "hikyaku-bench-*", "occupant-*", "store-*", "journal", "*.log"))
		if err != nil || ctx.Err() != nil {
			t.Fatalf("the process of its own wrote nothing: %v, %v\n%s", err, ctx.Err(), out.Bytes())
		}
		if len(logs) > 0 {
			break
		}
		<-look.C
	}
	if err := cmd.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err == nil {
		t.Error("a bench that was ended early ended well")
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 0 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

func TestBenchRunsAClusterWhoseOwnerIsMovedAndKilledAndMissesNothing(t *testing.T) {
	dir := t.TempDir()
	r := hikyaku(t, "", nil, "bench", "cluster", "--quick", "--json", "--only", "forward,hand-off,crowd,takeover,move",
		"--waiting", "100", "--kills", "1", "--dir", dir)
	var report struct{ Rows []*measure.Row }
	if err := json.Unmarshal([]byte(r.stdout), &report); err != nil || r.code != 0 {
		t.Fatalf("%v: %+v", err, r)
	}
	var got []string
	for i, row := range report.Rows {
		got = append(got, fmt.Sprint(row.Get("case"), " ", row.Get("work"), " ", row.Get("asked")))
		if row.Get("work") != "check" {
			benchtest.CheckPositive(t, i, row, "n", "p50_ms", "p99_ms", "max_ms")
			benchtest.CheckUnjudged(t, i, row)
			continue
		}
		benchtest.CheckPositive(t, i, row, "acknowledged", "taken")
		if n, is := row.Number("missing"); !is || n != 0 {
			t.Errorf("%v messages are missing", row.Get("missing"))
		}
	}
	benchtest.CheckRows(t, got, []string{
		"hikyaku forward more p50 ms <= 0.25", "local forward <nil>",
		"hikyaku forward more p50 ms <= 0.25", "local forward <nil>",
		"hikyaku hand-off beyond p50 ms <= 0.5", "local hand-off <nil>",
		"hikyaku crowd <nil>", "local crowd <nil>",
		"hikyaku move max ms <= 200", "still move <nil>",
		"hikyaku takeover max ms <= 3,000", "hikyaku takeover max ms <= 3,000", "election takeover <nil>",
		"hikyaku check <nil>",
	})
	benchtest.Left(t, dir)
	if r := hikyaku(t, "", nil, "bench", "queue", "--kills", "1"); r.code != exitUsage {
		t.Errorf("a bench that kills nothing takes a number of kills: %+v", r)
	}
}
