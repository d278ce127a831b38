package accounts

import (
	"database/sql"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/caller/callertest"
)

// prepare makes what the calls want to be there.
func prepare(t *testing.T, v *visitor) {
	t.Helper()
	for _, path := range []string{"/default/queues/news", "/default/queues/empty", "/default/topics/papers",
		"/default/topics/papers/subscriptions/readers"} {
		if err := v.ask(t.Context(), "http", "PUT", path, "application/json", "{}", ""); err != nil {
			t.Fatal(err)
		}
	}
	for _, to := range [][2]string{{"/2015-03-31/functions", function("u")},
		{"/2021-10-31/functions/u/url", `{"AuthType":"NONE"}`}} {
		if err := v.ask(t.Context(), "lambda", "POST", to[0], "application/json", to[1], ""); err != nil {
			t.Fatal(err)
		}
	}
}

// all makes every call, and compares what is refused.
func all(t *testing.T, who string, v *visitor, refused bool) {
	t.Helper()
	for i, c := range calls {
		err := c.do(v, t.Context(), strings.ReplaceAll(fmt.Sprintf("%s-%d", who, i), " ", "-"))
		switch {
		case !c.admin || !refused:
			if err != nil {
				t.Errorf("%s, %s: %s: %v", who, c.door, c.what, err)
			}
		case err == nil:
			t.Errorf("%s, %s: %s was done", who, c.door, c.what)
		default:
			for _, word := range []string{c.deny, fmt.Sprint("uid ", served), fmt.Sprint("uid ", stranger),
				"local_accounts: any"} {
				if !strings.Contains(err.Error(), word) {
					t.Errorf("%s, %s: %s was refused without %q: %v", who, c.door, c.what, word, err)
				}
			}
		}
	}
}

func TestWithoutUsersOtherAccountsPutAndTakeAndNoMore(t *testing.T) {
	s := serve(t, "")
	own := visit(t, s, itself)
	prepare(t, own)
	if os.Geteuid() != 0 {
		all(t, "own", own, false) // the account of the server
		return
	}
	all(t, "root", own, false)
	all(t, "same", visit(t, s, callertest.As(t, served).Dial), false)
	other := visit(t, s, callertest.As(t, stranger).Dial)
	all(t, "other", other, true)
	campaigns(t, own, other)
}

// campaigns makes sure that another account neither sees nor ends a campaign.
func campaigns(t *testing.T, own, other *visitor) {
	t.Helper()
	id := regexp.MustCompile(`"id":"([^"]+)"`).FindStringSubmatch(own.get(t, "/default/campaigns"))
	if id == nil {
		t.Fatal("there is no campaign")
	}
	if got := other.get(t, "/default/campaigns"); strings.Contains(got, id[1]) {
		t.Errorf("the other account sees %s", got)
	}
	of := "/default/campaigns/" + id[1]
	for path, method := range map[string]string{of: "GET", of + "/pause": "POST", of + "/resume": "POST",
		of + "/cancel": "POST"} {
		if err := other.ask(t.Context(), "http", method, path, "", "", ""); err == nil || missing(err) != nil {
			t.Errorf("%s %s by the other account: %v", method, path, err)
		}
	}
	if got := own.get(t, of); !strings.Contains(got, `"state":"running"`) {
		t.Errorf("afterwards it is %s", got)
	}
}

func TestOtherAccountsMayAdministerWhereTheConfigurationSaysSo(t *testing.T) {
	s := serve(t, "access: { local_accounts: any }\n")
	v := visit(t, s, itself)
	prepare(t, v)
	if os.Geteuid() == 0 {
		v = visit(t, s, callertest.As(t, stranger).Dial)
	}
	all(t, "other", v, false)
}

// Without users a client of the MySQL door says any name it likes.
func TestOtherAccountsNeitherSeeNorEndStatementsOfOthers(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("this account cannot be another one")
		return
	}
	s := serve(t, "")
	db := func(d dial) *sql.Conn {
		t.Helper()
		pool, err := (&visitor{s: s, dial: d}).open("tcp")
		if err != nil {
			t.Fatal(err)
		}
		c, err := pool.Conn(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _, _ = c.Close(), pool.Close() })
		return c
	}
	other := callertest.As(t, stranger).Dial
	root, one, two := db(itself), db(other), db(other)
	id := func(c *sql.Conn) (id int) {
		t.Helper()
		if err := c.QueryRowContext(t.Context(), "SELECT connection_id()").Scan(&id); err != nil {
			t.Fatal(err)
		}
		return id
	}
	seen := func(c *sql.Conn) (ids []int) {
		t.Helper()
		rows, err := c.QueryContext(t.Context(), "SELECT id FROM information_schema.processlist ORDER BY id")
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var id int
			if err := rows.Scan(&id); err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		return ids
	}
	if got, want := seen(one), []int{id(one), id(two)}; !slices.Equal(got, want) {
		t.Errorf("the other account sees %v, its own are %v", got, want)
	}
	if got := seen(root); len(got) != 3 {
		t.Errorf("root sees %v", got)
	}
	if _, err := one.ExecContext(t.Context(), fmt.Sprint("KILL ", id(root))); err == nil ||
		!strings.Contains(err.Error(), "Error 1095") {
		t.Errorf("the other account ends root's connection: %v", err)
	}
	if _, err := one.ExecContext(t.Context(), fmt.Sprint("KILL ", id(two))); err != nil {
		t.Errorf("the other account's own connection: %v", err)
	}
	if _, err := root.ExecContext(t.Context(), fmt.Sprint("KILL QUERY ", id(one))); err != nil {
		t.Errorf("root: %v", err)
	}
}
