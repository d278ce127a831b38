package fetch

import (
	"errors"
	"net/url"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"

	"github.com/hikyaku/hikyaku/internal/message"
)

// dialect is what differs between databases.
type dialect struct {
	name  string
	place func(n int) string           // of the n-th argument, from 1
	bind  func(v message.Value) any    // a value as an argument
	array func(vs []message.Value) any // values as one argument; nil: it has no arrays
	open  func(connections int) (pool, error)
	// passing tells whether an error of the server, or of the library, may be gone the next time. known is false for
	// errors that are not the database's own.
	passing func(err error) (passes, known bool)
	// denied tells whether an error says that we may not come in. It may pass, when somebody has changed a password;
	// but a start shows it.
	denied func(err error) bool
}

// newDialect reads which database a setting means. Errors show nothing of it: it may hold a password.
func newDialect(database string) (dialect, error) {
	scheme, _, isURL := strings.Cut(database, "://")
	switch {
	case database == "":
		return dialect{}, errors.New("is missing: name a file for SQLite, or postgres://… or mysql://…")
	case isURL && (scheme == "postgres" || scheme == "postgresql"):
		return postgres(database)
	case isURL && (scheme == "mysql" || scheme == "mariadb"):
		return mySQL(database)
	case isURL && scheme == "sqlite":
		return sqLite(strings.TrimPrefix(database, "sqlite://")), nil
	case isURL:
		return dialect{}, errors.New("is of a kind that is not known: there are postgres://…, mysql://… and " +
			"sqlite://…, and the name of a file for SQLite")
	}
	return sqLite(database), nil
}

func postgres(address string) (dialect, error) {
	c, err := pgx.ParseConfig(address)
	if err != nil {
		// err would show what may be secret
		return dialect{}, errors.New("cannot be read as postgres://user:password@host:port/database")
	}
	return dialect{
		name: "PostgreSQL", place: dollar, bind: asText, array: asArray,
		open: func(connections int) (pool, error) { return newPGPool(c, connections), nil },
		passing: func(err error) (passes, known bool) {
			var e *pgconn.PgError
			if !errors.As(err, &e) || len(e.Code) < 2 {
				return false, false
			}
			switch e.Code[:2] {
			case "21", "22", "23", "42": // the values do not fit, or the query is wrong
				return false, true
			}
			return true, true
		},
		denied: func(err error) bool {
			var e *pgconn.PgError
			return errors.As(err, &e) && (strings.HasPrefix(e.Code, "28") || e.Code == "3D000")
		},
	}, nil
}

func mySQL(address string) (dialect, error) {
	unreadable := errors.New("cannot be read as mysql://user:password@host:port/database")
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return dialect{}, unreadable
	}
	c, err := mysql.ParseDSN("/?" + u.RawQuery)
	if err != nil {
		return dialect{}, unreadable
	}
	c.Net, c.Addr, c.DBName = "tcp", u.Host, strings.TrimPrefix(u.Path, "/")
	if u.Port() == "" {
		c.Addr += ":3306"
	}
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.ParseTime, c.Loc = true, time.UTC
	c.Logger = &mysql.NopLogger{}
	return dialect{
		name: "MySQL", place: mark, bind: asItself,
		open: func(connections int) (pool, error) {
			made, err := mysql.NewConnector(c)
			if err != nil {
				return nil, err
			}
			return newSQLPool(made, connections, true), nil
		},
		passing: func(err error) (passes, known bool) {
			var e *mysql.MySQLError
			if !errors.As(err, &e) {
				return false, false
			}
			switch e.Number {
			case 1044, 1045, 1049, 1698, // who we are, and to which database
				1040, 1053, 1129, 1152, 1158, 1159, 1160, 1161, 1180, 1203, 1205, 1206, 1213, 1226, 1290, 1317, 1836,
				3024, 4031:
				return true, true // too many connections, shutting down, locks, time-outs
			}
			return false, true
		},
		denied: func(err error) bool {
			var e *mysql.MySQLError
			return errors.As(err, &e) && (e.Number == 1044 || e.Number == 1045 || e.Number == 1049 || e.Number == 1698)
		},
	}, nil
}

// sqLite opens a file that is there, and changes nothing in it.
func sqLite(file string) dialect {
	address := sqLiteAddress(file, "rw") + "&_pragma=query_only(1)"
	return dialect{
		name: "SQLite", place: mark, bind: asItself,
		open: func(connections int) (pool, error) {
			return newSQLPool(connector{&sqlite.Driver{}, address}, connections, false), nil
		},
		passing: func(err error) (passes, known bool) {
			var e *sqlite.Error
			if !errors.As(err, &e) {
				return false, false
			}
			switch e.Code() & 0xff { // the rest says more of the same
			// busy, locked, no memory, read-only, interrupted, disk, full, cannot open, protocol
			case 5, 6, 7, 8, 9, 10, 13, 14, 15:
				return true, true
			}
			return false, true
		},
		denied: func(error) bool { return true }, // a file that cannot be opened at the start is the wrong one
	}
}

// sqLiteAddress is how SQLite is told of a file, whatever its name.
func sqLiteAddress(file, mode string) string {
	place := url.URL{Scheme: "file", Opaque: (&url.URL{Path: filepath.ToSlash(file)}).EscapedPath(),
		RawQuery: "mode=" + mode + "&_pragma=busy_timeout(5000)"}
	return place.String()
}

// asItself binds a value by its type.
func asItself(v message.Value) any {
	switch v.Kind() {
	case message.KindNull:
		return nil
	case message.KindBool:
		return v.AsBool()
	case message.KindInt:
		return v.AsInt()
	case message.KindUint:
		return v.Text() // drivers take no unsigned integers whose highest bit is set
	case message.KindFloat:
		return v.AsFloat()
	case message.KindBytes:
		return []byte(v.AsString())
	case message.KindTime:
		return v.AsTime()
	}
	return v.Text()
}

// asText binds a value by its text: PostgreSQL knows the type that it wants, and reads it from the text.
func asText(v message.Value) any {
	switch v.Kind() {
	case message.KindNull:
		return nil
	case message.KindBytes:
		return []byte(v.AsString())
	}
	return v.Text()
}

// asArray is the text of an array of PostgreSQL.
func asArray(vs []message.Value) any {
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range vs {
		if i > 0 {
			b.WriteByte(',')
		}
		if v.IsNull() {
			b.WriteString("NULL")
			continue
		}
		b.WriteByte('"')
		b.WriteString(arrayEscapes.Replace(v.Text()))
		b.WriteByte('"')
	}
	b.WriteByte('}')
	return b.String()
}

var arrayEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`)
