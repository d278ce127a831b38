package function

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/measure"
)

// itemReader is a function that reads one item of DynamoDB, or gets credentials, as the report had it.
type itemReader struct {
	name, runtime, folder, handler string
	memoryMB                       int
	report                         []float64 // what was billed there, in ms
	watched                        float64   // what a watch said there of the first call, in ms
	reportMB                       int       // what it used there
	first, later                   string    // why a call takes what it takes
}

func itemReaders() []itemReader {
	const (
		apart = "what it loads is loaded in the start, which is apart from the bill then, and has a whole processor: " +
			"that is why a watch says less, too"
		left = "what is left in the first call is what a client does at its first request, with the function's " +
			"share of a processor"
		java = "warm: the connection is made anew, with a client that is loaded but not yet compiled"
	)
	return []itemReader{
		{"java, in the handler", "java17", "dynamodb-java", "Read1::myHandler", 192,
			[]float64{21800, 1300, 19000, 1000, 500, 400, 400}, 0, 68,
			"the classes of the client are loaded in the handler, with 192/1769 of a processor; the third call " +
				"as published met the second machine", java},
		{"java, in the constructor", "java17", "dynamodb-java", "Read2::myHandler", 192,
			[]float64{6700, 7300, 500, 1300, 400, 100, 300}, 0, 68,
			because(apart, left), "warm: client and connection stay"},
		{"java, credentials in the handler", "java17", "dynamodb-java", "Credentials1::myHandler", 192,
			[]float64{22000}, 24000, 0,
			"to get them takes classes for HTTP and JSON, which are loaded in the handler, with 192/1769 of a processor", "warm: the classes are there"},
		{"java, credentials in the constructor", "java17", "dynamodb-java", "Credentials2::myHandler", 192,
			[]float64{6000}, 8000, 0, apart, "warm: they were got before"},
		{"node, in the handler", "nodejs", "dynamodb-node", "index.read1", 128,
			[]float64{900, 800, 200, 200, 400, 200, 400}, 0, 29,
			"the client's files are loaded in the start; it is made, and connects, in the call",
			"warm: it is made, and connects, in each call"},
		{"node, before", "nodejs", "dynamodb-node", "index.read2", 128, nil, 0, 0,
			because("the client is made in the start", left), "warm: client and connection stay"},
		{"go through node", "nodejs", "dynamodb-node", "index.through", 128,
			[]float64{600, 500, 500, 400, 500, 500, 500}, 0, 15,
			"a program is started for the call, which connects anew", "a program is started for each call, which " +
				"connects anew: nothing of it becomes warm, as was published"},
		{"go, in the handler", "provided", "dynamodb-go", "read1", 128, nil, 0, 0,
			"nothing is loaded late; the call makes a client and connects",
			"warm: each call makes a client and connects anew"},
		{"go, before", "provided", "dynamodb-go", "read2", 128, nil, 0, 0,
			"nothing is loaded late; the client connects at its first request", "warm: client and connection stay"},
	}
}

// dynamo lets functions read from DynamoDB Local, seven times each.
func (s *session) dynamo(ctx context.Context) (err error) {
	if s.Clients == "" {
		s.Report.Note("dynamodb was not measured, because no folder with its clients was given")
		return nil
	}
	root, err := filepath.Abs(s.Clients)
	if err != nil {
		return fmt.Errorf("find the folder with the clients of functions: %w", err)
	}
	jars := filepath.Join(root, "dynamodb")
	if _, err := os.Stat(jars); err != nil {
		s.Report.Note("dynamodb was not measured, because there is no " + jars + ": scripts/need-clients makes it")
		return nil
	}
	d, err := startDynamoDB(ctx, jars)
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, d.Close()) }()
	if err := d.fill(ctx); err != nil {
		return err
	}
	giver, err := giveCredentials()
	if err != nil {
		return err
	}
	defer func() { err = harness.JoinCleanup(err, giver.Close()) }()
	for _, r := range itemReaders() {
		if s.Quick {
			r.memoryMB = 1769 // a class takes its time with a tenth of a processor
		}
		def := function.Definition{
			Name: "read", Runtime: r.runtime, Handler: r.handler,
			Code: code.Source{Folder: filepath.Join(root, "code", r.folder)}, MemoryMB: r.memoryMB,
			Timeout: 5 * time.Minute, InitTimeout: time.Minute,
			Environment: map[string]string{"DYNAMODB": d.url, "AWS_CONTAINER_CREDENTIALS_FULL_URI": giver.url},
		}
		if err := s.with(func(p *functionPool) error { return s.readRows(ctx, p, r) }, def); err != nil {
			return err
		}
		s.Step()
	}
	return nil
}

func (s *session) readRows(ctx context.Context, p *functionPool, r itemReader) error {
	for n := range s.reads {
		c, err := p.call(ctx, "read", `{"name":"hikyaku","n":1}`)
		if err != nil {
			return err
		}
		if c.last("Found") != "hikyaku" {
			return fmt.Errorf("%s did not find what it looks for:\n%s", r.name, c.Payload)
		}
		row := s.Report.Row(r.name, workDynamoDB).Set("memory_mb", r.memoryMB).Set("call", n+1)
		if n < len(r.report) {
			row.Set("report_ms", r.report[n])
		}
		if n == 0 && r.watched > 0 {
			row.Set("report_total_ms", r.watched)
		}
		if n == 0 && r.reportMB > 0 {
			row.Set("report_mb", r.reportMB)
		}
		why := r.later
		if n == 0 {
			why = r.first
		}
		c.bills(row).Set("because", why)
	}
	return nil
}

// credentialsGiver gives credentials over HTTP, as the provider's machines do it for the programs on them.
type credentialsGiver struct {
	url    string
	server *http.Server
	ended  chan error
}

func giveCredentials() (*credentialsGiver, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("listen for those who want credentials: %w", err)
	}
	g := &credentialsGiver{url: "http://" + l.Addr().String() + "/credentials", ended: make(chan error, 1)}
	g.server = &http.Server{ReadHeaderTimeout: time.Minute,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			// who has gone misses it
			_, _ = fmt.Fprintf(w, `{"AccessKeyId":"hikyaku","SecretAccessKey":"local","Token":"local","Expiration":%q}`,
				time.Now().Add(time.Hour).UTC().Format(time.RFC3339))
		})}
	go func() { g.ended <- g.server.Serve(l) }()
	return g, nil
}

func (g *credentialsGiver) Close() error {
	err := g.server.Close()
	<-g.ended // it says that it was closed
	return err
}

func drawDynamoDB(p *measure.Plot, r *measure.Row) {
	x := harness.Place(p, strconv.Itoa(int(harness.Number(r, "call"))))
	harness.AddPoint(p, fmt.Sprint(r.Get("case")), measure.LineMarks, x, harness.Number(r, "billed_ms"))
}
