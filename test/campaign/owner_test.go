package campaign

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/config"
	"github.com/hikyaku/hikyaku/internal/databasetest"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/pipeline"
	"github.com/hikyaku/hikyaku/internal/queue"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestDevicesThatAreGoneAreMarkedInTheirOwnersTable runs examples/push-owner.yaml twice against a PostgreSQL: the first
// campaign finds three devices gone and a token that is none, the second one leaves the former out, but for one that
// has registered again. Each push has its receipt in a table.
func TestDevicesThatAreGoneAreMarkedInTheirOwnersTable(t *testing.T) {
	server, err := databasetest.StartPostgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	o := &owner{url: server.PostgresURL("postgres"), dir: t.TempDir()}
	text, err := os.ReadFile("../../examples/push-owner.sql")
	if err != nil {
		t.Fatal(err)
	}
	o.tell(t, string(text)+"; update devices set token = 'no token of Apple''s' where id = 20")
	o.far(t, device(9), device(99), device(149))

	const state = "select count(*), count(gone_at), coalesce(string_agg(id::text, ' ' order by id) filter (where " +
		"gone_at is not null), '') from devices"
	if c := o.campaign(t); c.Messages != 196 {
		t.Errorf("%d phones were told, of 200", c.Messages)
	}
	const report = "select string_agg(line, ' ' order by line) from (select concat_ws(',', app, outcome, reason, " +
		"count(*)) as line from push_receipts" +
		" where answered_at > now() - interval '1 hour' group by app, outcome, reason) of"
	if got := o.ask(t, report); got != bundle+",delivered,196 "+bundle+
		",rejected,BadDeviceToken: it is not made of hexadecimal digits,1 "+bundle+",rejected,Unregistered,3" {
		t.Errorf("the report says %s", got)
	}
	o.tell(t, "create table report as "+strings.TrimSuffix(o.documented(t), ";\n"))
	if got := o.ask(t,
		"select count(*), sum(count), count(*) filter (where p99 > '0' and p99 < '1 hour') from report"); got != "3|200|3" {
		t.Errorf("the report of the document has %s", got)
	}
	const unknown = "select count(*) from push_receipts r left join devices d on " +
		"encode(substring(sha256(convert_to(d.token, 'UTF8')) for 16), 'hex') = r.device" +
		" where d.id is null or answered_at < accepted_at or (push_id is null) = (outcome = 'delivered')"
	if got := o.ask(t, unknown); got != "0" {
		t.Errorf("%s receipts are of no device, or make no sense", got)
	}
	if got := o.ask(t, state); got != "200|3|10 100 150" {
		t.Fatalf("the table has %s", got)
	}
	if got := o.ask(t, "select count(*) from devices where gone_at between now() - interval '1 hour' and now() + "+
		"interval '1 minute'"); got != "3" {
		t.Errorf("%s of the times are those of the far end", got)
	}
	// the app is installed again
	o.tell(t, "update devices set registered_at = now() + interval '1 minute' where id = 100")
	o.far(t, device(9), device(149))
	if c := o.campaign(t); c.Messages != 197 || c.Refused["Unregistered"] != 0 {
		t.Errorf("%d phones were told, of 197; refused: %v", c.Messages, c.Refused)
	}
	if got := o.ask(t, state); got != "200|3|10 100 150" {
		t.Errorf("the table has %s", got)
	}
}

// documented is the report by SQL that docs/push.md shows.
func (o *owner) documented(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../docs/push.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(page), "### A report by SQL")
	_, rest, _ = strings.Cut(rest, "```sql\n")
	query, _, ok := strings.Cut(rest, "```")
	if !ok {
		t.Fatal("docs/push.md has no report by SQL")
	}
	return query
}

// owner is a database of devices, and a far end that knows them.
type owner struct {
	url, dir string
	apple    *apns.Server
}

// far starts a far end that says of some devices that they are gone. It ends with the campaign.
func (o *owner) far(t *testing.T, gone ...string) {
	t.Helper()
	key, err := apns.NewKey("TEAM123456", "KEY1234567")
	if err != nil {
		t.Fatal(err)
	}
	b := farend.Behaviour{Devices: []farend.Device{{Tokens: gone,
		Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered"}}}}}
	o.apple, err = apns.Start(apns.Config{Config: farend.Config{Behaviour: b}, Keys: []*apns.Key{key},
		Topics: []string{bundle}})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"authority.pem": o.apple.Authority.PEM,
		"AuthKey_KEY1234567.p8": key.PEM} {
		if err := os.WriteFile(filepath.Join(o.dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// campaign runs the example to its end, as hikyaku run does, and tells what the far end counted.
func (o *owner) campaign(t *testing.T) farend.Counts {
	t.Helper()
	values := map[string]string{"HIKYAKU_DATA": filepath.Join(o.dir, "data"), "OWNER_DB": o.url, "SANDBOX": o.dir,
		"APNS": o.apple.Addr().String()}
	f, err := config.Load("../../examples/push-owner.yaml",
		func(name string) (string, bool) { v, ok := values[name]; return v, ok })
	if err != nil {
		t.Fatal(err)
	}
	j, err := file.Open(t.Context(), file.Options{Dir: filepath.Join(o.dir, "data")})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := errors.Join(store.Close(), j.Close(), o.apple.Close()); err != nil {
			t.Error(err)
		}
	}()
	if err := f.Define(t.Context(), store, false); err != nil {
		t.Fatal(err)
	}
	a, err := f.Build(store, component.Env{Stdin: strings.NewReader(`{"news": 42}` + "\n")})
	if err != nil {
		t.Fatal(err)
	}
	p, err := pipeline.New(a.Nodes, pipeline.Options{Store: store, Finite: true})
	if err != nil {
		t.Fatal(err)
	}
	if r, err := p.Run(t.Context()); err != nil || r.GivenBack != 0 {
		t.Fatalf("%+v, %v", r, err)
	}
	return o.apple.Counts()
}

func (o *owner) connect(t *testing.T) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), o.url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func (o *owner) tell(t *testing.T, sql string) {
	t.Helper()
	if _, err := o.connect(t).Exec(t.Context(), sql); err != nil {
		t.Fatal(err)
	}
}

// ask is the answer of a query of one row.
func (o *owner) ask(t *testing.T, query string) string {
	t.Helper()
	r := o.connect(t).PgConn().ExecParams(t.Context(), query, nil, nil, nil, nil).Read()
	if r.Err != nil || len(r.Rows) != 1 {
		t.Fatalf("%s: %d rows, %v", query, len(r.Rows), r.Err)
	}
	var fields []string
	for _, f := range r.Rows[0] {
		fields = append(fields, string(f))
	}
	return strings.Join(fields, "|")
}
