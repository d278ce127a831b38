package clients_test

import (
	"cmp"
	"path/filepath"
	"slices"
	"testing"
)

// checks are what every program does in this order, unless the list below says that its client lacks it. README.md says
// what they are.
var checks = []string{
	"connect-tcp", "connect-socket", "ping",
	"create-table", "show-table", "insert-text", "insert-prepared", "insert-multi-row", "insert-refused",
	"select-unowned",
	"error-codes", "abort-outside-owner-mode",
	"wait", "own-row-text", "own-row-prepared", "rowid", "abort", "end", "wait-condition", "wait-prepared", "time-out",
	"bad-condition",
	"wake-up", "disconnect",
	"types-insert-text", "types-insert-prepared", "types-read-text", "types-read-prepared", "types-own-row", "long-row",
	"set-names", "transactions", "drop-table",
}

// guardedChecks are done besides where the server has users and a certificate.
var guardedChecks = []string{"connect-tls", "connect-native", "connect-sha2", "wrong-password"}

// A client is one that people use, and our program for it.
type client struct {
	name     string
	database string   // of its own, so that clients can run beside each other
	needs    []string // a command that fails if something is not installed
	command  []string
	env      []string          // besides the server's
	lacks    map[string]string // the checks that it cannot do, and why
	more     []string          // checks that only it has
	guarded  []string          // of those, what is done only with users
	alone    bool              // it has none of the common checks
}

// expected are the checks that have to be done.
func (c client) expected(guarded bool) []string {
	want := slices.Clone(c.more)
	if !c.alone {
		want = append(want, checks...)
	}
	if guarded {
		want = append(want, c.guarded...)
	}
	if guarded && !c.alone {
		want = append(want, guardedChecks...)
	}
	return slices.DeleteFunc(want, func(name string) bool { return c.lacks[name] != "" })
}

// Why a client lacks a check.
const (
	choosesNot  = "it takes the method that the greeting names"
	textOnly    = "it puts parameters into the text itself"
	noBinary    = "it shows what SQL gives, and has no binary protocol"
	noSockets   = "Java's sockets know no paths without another library"
	droppedLong = "it has dropped that method"
)

// debianPython is the interpreter that Debian's packages are for; another one may come first in the path.
const debianPython = "/usr/bin/python3"

// clients are all of them.
func clients() []client {
	python, jar := filepath.Join(built.Cache, "python", "bin", "python"), filepath.Join(built.Cache, "java", "*")
	inShell := map[string]string{"own-row-prepared": noBinary, "types-insert-prepared": noBinary,
		"types-read-prepared": noBinary}
	return []client{{
		name: "mariadb-shell", database: "clients_mariadb_shell",
		needs:   []string{"mariadb", "--version"},
		command: []string{"bash", "mariadb/conformance.sh", "mariadb"},
		lacks:   inShell,
		more:    []string{"large-packet"},
	}, {
		name: "mysql-shell", database: "clients_mysql_shell",
		needs:   []string{"mysql", "--version"},
		command: []string{"bash", "mariadb/conformance.sh", "mysql"},
		lacks:   inShell,
		more:    []string{"large-packet"},
	}, {
		name: "admin", database: "clients_admin",
		needs: []string{"sh", "-c", "command -v mysqladmin && command -v mysqldump && command -v mysqlcheck && " +
			"test -x /usr/lib/nagios/plugins/check_mysql && command -v prometheus-mysqld-exporter"},
		command: []string{"bash", "admin/conformance.sh"},
		alone:   true,
		more:    []string{"mysqladmin", "kill", "nagios", "dump", "restore", "maintenance", "exporter"},
	}, {
		name: "ruby-mysql2", database: "clients_ruby_mysql2",
		needs:   []string{"ruby", "-rmysql2", "-e", ""},
		command: []string{"ruby", "ruby/conformance.rb"},
	}, {
		name: "ruby-mysql2-seed", database: "test",
		needs:   []string{"ruby", "-rmysql2", "-e", ""},
		command: []string{"ruby", "ruby/seed.rb"},
		alone:   true,
		more:    []string{"seed-rows", "seed-newest", "seed-oldest", "seed-insert"},
	}, {
		name: "ruby-active-record", database: "clients_ruby_active_record",
		needs:   []string{"ruby", "-ractive_record", "-rmysql2", "-e", ""},
		command: []string{"ruby", "ruby/active_record.rb"},
		alone:   true,
		more: []string{
			"create-table", "show-table", "insert-multi-row", "select", "insert-refused", "own-row", "transactions",
			"reconnect", "drop-table",
		},
	}, {
		name: "perl-dbd-mysql", database: "clients_perl_dbd_mysql",
		needs:   []string{"perl", "-MDBD::mysql", "-e", ""},
		command: []string{"perl", "perl/conformance.pl"},
		lacks:   map[string]string{"connect-sha2": choosesNot},
	}, {
		name: "python-pymysql", database: "clients_python_pymysql",
		needs:   []string{python, "-c", "import pymysql"},
		command: []string{python, "python/conformance.py", "pymysql"},
		lacks: map[string]string{
			"connect-sha2": choosesNot, "own-row-prepared": textOnly, "wait-prepared": textOnly,
			"types-insert-prepared": textOnly, "types-read-prepared": textOnly,
		},
		more: []string{"wait-parameters", "warnings", "select-db"},
	}, {
		name: "python-mysqlclient", database: "clients_python_mysqlclient",
		needs:   []string{debianPython, "-c", "import MySQLdb"},
		command: []string{debianPython, "python/conformance.py", "mysqldb"},
		lacks: map[string]string{
			"connect-sha2": choosesNot, "own-row-prepared": textOnly, "wait-prepared": textOnly,
			"types-insert-prepared": textOnly, "types-read-prepared": textOnly,
		},
		more: []string{"wait-parameters", "warnings", "select-db"},
	}, {
		name: "python-connector", database: "clients_python_connector",
		needs:   []string{python, "-c", "import mysql.connector"},
		command: []string{python, "python/conformance.py", "connector"},
		lacks:   map[string]string{"connect-native": droppedLong},
		more:    []string{"pool-reset", "change-user"},
		guarded: []string{"connect-sha2-tls"},
	}, {
		name: "go-sql-driver", database: "clients_go_sql_driver",
		needs:   []string{"go", "version"},
		command: []string{built.GoClient},
		lacks:   map[string]string{"connect-sha2": choosesNot},
		more:    []string{"cancel", "pool", "huge-row", "column-types"},
	}, {
		name: "java-connector-j", database: "clients_java_connector_j",
		needs: []string{"java", "-version"},
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp",
			built.JavaClient + string(filepath.ListSeparator) + jar, "Conformance"},
		lacks: map[string]string{"connect-socket": noSockets},
		more:  []string{"query-timeout", "pool-reset", "column-types", "large-packet"},
	}, {
		name: "node-mysql2", database: "clients_node_mysql2",
		needs:   []string{"node", "-e", "require('mysql2')"},
		command: []string{"node", "node/conformance.js"},
		env:     []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules")},
		lacks:   map[string]string{"connect-sha2": choosesNot},
		more:    []string{"pool"},
	}, {
		name: "python-sqlalchemy", database: "clients_python_sqlalchemy",
		needs:   []string{python, "-c", "import sqlalchemy"},
		command: []string{python, "python/orm.py"},
		alone:   true,
		more: []string{"create-table", "show-table", "insert-multi-row", "own-row", "transactions", "pool",
			"drop-table"},
	}, {
		name: "python-django", database: "clients_python_django",
		needs:   []string{python, "-c", "import django"},
		command: []string{python, "python/django_orm.py"},
		alone:   true,
		more: []string{
			"create-table", "show-table", "insert-multi-row", "select", "insert-refused", "own-row", "transactions",
			"reconnect", "drop-table",
		},
	}, node("mysql"), node("mariadb", "own-row-prepared"), node("sequelize"),
		orm("typeorm", "show-table"), orm("knex", "show-table"), orm("drizzle"), hibernate(), gorm(), gomysql(),
		hikari("mysql"), hikari("mariadb", "connect-tls"),
		php("pdo"), php("mysqli"), adminer(), rust("sqlx"), rust("mysql")}
}

// hikari is Java's pool HikariCP on MySQL's or MariaDB's Connector/J.
func hikari(driver string, guarded ...string) client {
	path := built.JavaClient + string(filepath.ListSeparator) + filepath.Join(built.Cache, "java", "*")
	return client{
		name: "java-hikari-" + driver, database: "clients_java_hikari_" + driver,
		needs:   []string{"java", "-version"},
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, "Pools", driver},
		alone:   true,
		more: []string{"connect-tcp", "create-table", "show-table", "insert-prepared", "own-row-prepared",
			"pool-reset"},
		guarded: append(guarded, "wrong-password"),
	}
}

// node are Node's other drivers, and an ORM on mysql2.
func node(module string, more ...string) client {
	c := client{
		name: "node-" + module, database: "clients_node_" + module,
		needs:   []string{"node", "-e", "require('" + module + "')"},
		command: []string{"node", "node/others.js", module},
		env:     []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules")},
		alone:   true,
		more: append(more, "connect-tcp", "connect-socket", "create-table", "insert-text", "error-codes", "wait",
			"own-row", "pool-reset",
			"end"),
		guarded: []string{"connect-tls", "wrong-password"},
	}
	if module == "sequelize" {
		c.more = []string{"connect-tcp", "create-table", "show-table", "insert-text", "select-unowned", "transactions",
			"drop-table"}
		c.guarded = nil
	}
	return c
}

// orm is an ORM of Node's, or a builder of queries, on mysql2.
func orm(name string, more ...string) client {
	module := map[string]string{"drizzle": "drizzle-orm"}[name]
	return client{
		name: "node-" + name, database: "clients_node_" + name,
		needs:   []string{"node", "-e", "require('" + cmp.Or(module, name) + "')"},
		command: []string{"node", "node/orms.js", name},
		env:     []string{"NODE_PATH=" + filepath.Join(built.Cache, "node", "node_modules")},
		alone:   true,
		more: append(more, "connect-tcp", "create-table", "insert-multi-row", "select", "own-row", "transactions",
			"drop-table"),
	}
}

// gorm is Go's ORM, on go-sql-driver/mysql.
func gorm() client {
	program := filepath.Join(built.Cache, "gorm", "bootstrap")
	return client{
		name: "go-gorm", database: "clients_go_gorm",
		needs:   []string{"test", "-x", program},
		command: []string{program},
		alone:   true,
		more: []string{
			"connect-tcp", "create-table", "show-table", "insert-multi-row", "select", "own-row", "transactions",
			"drop-table",
		},
	}
}

// gomysql is Go's other driver, go-mysql-org/go-mysql.
func gomysql() client {
	program := filepath.Join(built.Cache, "gomysql", "bootstrap")
	return client{
		name: "go-gomysql", database: "clients_go_gomysql",
		needs:   []string{"test", "-x", program},
		command: []string{program},
		alone:   true,
		more: []string{
			"connect-tcp", "connect-socket", "compression", "ping", "create-table", "show-table", "insert-text",
			"insert-prepared", "transactions", "wait-parameters", "own-row-prepared", "end", "error-codes",
			"column-types", "pool", "drop-table",
		},
		guarded: []string{"connect-tls", "wrong-password"},
	}
}

// hibernate is Java's ORM, on MySQL's Connector/J.
func hibernate() client {
	path := built.JavaClient + string(filepath.ListSeparator) + filepath.Join(built.Cache, "java", "*")
	return client{
		name: "java-hibernate", database: "clients_java_hibernate",
		needs:   []string{"java", "-version"},
		command: []string{"java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-cp", path, "Orm"},
		alone:   true,
		more:    []string{"create-table", "insert-multi-row", "select", "own-row", "drop-table"},
	}
}

// php and rust are those whose programs do fewer checks: what their drivers do otherwise than others.
func php(driver string) client {
	return client{
		name: "php-" + driver, database: "clients_php_" + driver,
		needs: []string{"php", "-r", "exit(class_exists('PDO') && in_array('mysql', PDO::getAvailableDrivers()) && " +
			"class_exists('mysqli') ? 0 : 1);"},
		command: []string{"php", "php/conformance.php", driver},
		alone:   true,
		more: []string{
			"connect-tcp", "connect-socket", "create-table", "insert-text", "insert-prepared", "transactions", "wait",
			"own-row", "wait-parameters", "end", "character-sets", "compression", "error-codes",
			"persistent", "large-packet", "long-values",
		},
		guarded: []string{"connect-tls", "wrong-password"},
	}
}

// adminer is the page on which people look at servers, as a browser uses it.
func adminer() client {
	return client{
		name: "php-adminer", database: "clients_php_adminer",
		needs: []string{"sh", "-c", "test -e /usr/share/adminer/adminer/index.php && php -r " +
			"'exit(class_exists(\"mysqli\") ? 0 : 1);'"},
		command: []string{"php", "php/adminer.php"},
		alone:   true,
		more: []string{
			"connect-tcp", "create-table", "show-table", "insert-text", "select-unowned", "pages", "dump",
			"error-codes", "drop-table",
		},
		guarded: []string{"wrong-password"},
	}
}

func rust(driver string) client {
	program := filepath.Join(built.Cache, "rust", "debug", "conformance")
	return client{
		name: "rust-" + driver, database: "clients_rust_" + driver,
		needs:   []string{"test", "-x", program},
		command: []string{program, driver},
		alone:   true,
		more: []string{
			"connect-tcp", "connect-socket", "create-table", "insert-prepared", "transactions", "wait-parameters",
			"own-row-prepared", "end", "error-codes", "pool",
		},
		guarded: []string{"connect-tls", "wrong-password"},
	}
}

func TestTheListIsWhole(t *testing.T) {
	for _, c := range clients() {
		for _, guarded := range []bool{false, true} {
			names := c.expected(guarded)
			slices.Sort(names)
			if len(names) == 0 || len(slices.Compact(slices.Clone(names))) != len(names) {
				t.Errorf("%s: its checks are %q", c.name, names)
			}
		}
		for name := range c.lacks {
			if !slices.Contains(slices.Concat(checks, guardedChecks), name) {
				t.Errorf("%s lacks %s, which is no check", c.name, name)
			}
		}
	}
}
