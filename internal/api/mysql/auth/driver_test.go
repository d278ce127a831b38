package auth_test

import (
	"crypto/tls"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	vmysql "github.com/dolthub/vitess/go/mysql"
	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/mysql/auth"
)

const wrongSecret = "close sesame"

// drivers are the methods as a driver that follows the greeting uses them.
var drivers = []struct {
	name string
	make func(*auth.Server) vmysql.AuthServer
}{
	{"native", func(s *auth.Server) vmysql.AuthServer { return s }},
	{"sha2", func(s *auth.Server) vmysql.AuthServer { return greeting{s, vmysql.CachingSha2Password} }},
	{"sha2 in full", func(s *auth.Server) vmysql.AuthServer {
		return forgetful{greeting{s,
			vmysql.CachingSha2Password}}
	}},
}

// ways lead to a door, for drivers.
var ways = []struct {
	name string
	take func(door, *mysql.Config)
}{
	{"tcp", func(d door, c *mysql.Config) { c.Net, c.Addr = "tcp", d.tcp }},
	{"unix", func(d door, c *mysql.Config) { c.Net, c.Addr = "unix", d.socket }},
	{"tls", func(d door, c *mysql.Config) {
		c.Net, c.Addr, c.TLS = "tcp", d.tcp, &tls.Config{InsecureSkipVerify: true} // the name does not matter here
	}},
}

// who asks the server who came.
func who(t *testing.T, take func(*mysql.Config), name, password string) (string, error) {
	t.Helper()
	c := mysql.NewConfig()
	c.User, c.Passwd, c.Logger = name, password, mysql.Logger(&mysql.NopLogger{})
	take(c)
	connector, err := mysql.NewConnector(c)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	var got string
	err = db.QueryRowContext(t.Context(), "who").Scan(&got)
	return got, err
}

// everyWay runs a test for every method on every way.
func everyWay(t *testing.T, users func() *access.Users,
	test func(t *testing.T, host string, take func(*mysql.Config))) {
	t.Helper()
	for _, driver := range drivers {
		for _, way := range ways {
			host := "127.0.0.1"
			if way.name == "unix" {
				host = "localhost"
			}
			t.Run(driver.name+" by "+way.name, func(t *testing.T) {
				d := open(t, driver.make(auth.New(users()))) // of its own: whoever fails often is slowed
				test(t, host, func(c *mysql.Config) { way.take(d, c) })
			})
		}
	}
}

func TestTheRightPasswordOpens(t *testing.T) {
	everyWay(t, func() *access.Users { return someUsers(t) }, func(t *testing.T, _ string, take func(*mysql.Config)) {
		for name, secret := range map[string]string{"ann": annSecret, "bob": bobSecret} {
			if got, err := who(t, take, name, secret); err != nil || got != name {
				t.Errorf("%s is %q: %v", name, got, err)
			}
		}
	})
}

func TestNothingElseOpens(t *testing.T) {
	everyWay(t, func() *access.Users { return someUsers(t) },
		func(t *testing.T, host string, take func(*mysql.Config)) {
			for _, c := range []struct{ name, password string }{
				{"ann", wrongSecret}, {"ann", ""}, {"ann", bobSecret}, {"ann", annSecret[:len(annSecret)-1]},
				{"ann", annSecret + "x"},
				{"eve", annSecret}, {"eve", ""}, {"", annSecret}, {"", ""}, {"ANN", annSecret},
				{strings.Repeat("n", 500), wrongSecret},
			} {
				_, err := who(t, take, c.name, c.password)
				using := "YES"
				if c.password == "" {
					using = "NO"
				}
				want := fmt.Sprintf("Access denied for user '%.96s'@'%s' (using password: %s)", c.name, host, using)
				var denied *mysql.MySQLError
				if !errors.As(err, &denied) || denied.Number != 1045 || string(denied.SQLState[:]) != "28000" ||
					denied.Message != want {
					t.Errorf("%.10q with %q: %v, want %s", c.name, c.password, err, want)
				}
			}
		})
}

func TestWithoutUsersEverybodyComesIn(t *testing.T) {
	empty, err := access.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, users := range []*access.Users{nil, empty} {
		everyWay(t, func() *access.Users { return users }, func(t *testing.T, _ string, take func(*mysql.Config)) {
			for _, c := range [][2]string{{"", ""}, {"root", ""}, {"root", "password"}, {"x", bobSecret}} {
				if got, err := who(t, take, c[0], c[1]); err != nil || got != "nobody" {
					t.Errorf("%q is %q: %v", c, got, err)
				}
			}
		})
	}
}

func TestAPasswordOfManyBytesIsCheckedInFull(t *testing.T) {
	long := strings.Repeat("0123456789", 20) // RSA of 2048 bits takes no more than 213 bytes at once
	users, err := access.New([]access.User{{Name: "ann", Secret: access.Secret(long)}})
	if err != nil {
		t.Fatal(err)
	}
	everyWay(t, func() *access.Users { return users }, func(t *testing.T, _ string, take func(*mysql.Config)) {
		if _, err := who(t, take, "ann", long); err != nil {
			t.Error(err)
		}
		if _, err := who(t, take, "ann", long[:199]); err == nil {
			t.Error("the last byte does not count")
		}
	})
}

func TestManyComeAtOnce(t *testing.T) {
	d := open(t, forgetful{greeting{auth.New(someUsers(t)), vmysql.CachingSha2Password}})
	var visitors sync.WaitGroup
	for i := range 32 {
		visitors.Go(func() {
			take := func(c *mysql.Config) { ways[i%len(ways)].take(d, c) }
			if got, err := who(t, take, "ann", annSecret); err != nil || got != "ann" {
				t.Errorf("%q, %v", got, err)
			}
			if i%8 != 0 {
				return // more that fail would slow the others
			}
			if _, err := who(t, take, "ann", wrongSecret); err == nil {
				t.Error("a wrong password opens")
			}
		})
	}
	visitors.Wait()
}
