package mysql

import (
	"math"
	"runtime"
	"sync"
	"time"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// joinVariable is the most rows that a statement may read.
const joinVariable = "max_join_size"

// leaseVariable is SET queue_lease: the seconds for which rows taken from then on are owned; 0: as long as the
// connection lives.
const leaseVariable = "queue_lease"

// variables adds the server's own system variables and corrects those that name an engine. They belong to the process:
// go-mysql-server has one set.
var variables = sync.OnceValue(func() *sharedVariables {
	variable := func(name string, typ gms.SystemVariableType, value any) gms.SystemVariable {
		return &gms.MysqlSystemVariable{
			Name: name, Scope: gms.GetMysqlScope(gms.SystemVariableScope_Both), Dynamic: true, Type: typ,
			Default: value,
		}
	}
	gms.SystemVariables.AddSystemVariables([]gms.SystemVariable{
		variable(leaseVariable, types.NewSystemIntType(leaseVariable, 0, int64(queue.MaxLease/time.Second), false),
			int64(0)),
		variable("default_storage_engine", types.NewSystemEnumType("default_storage_engine", engineName), engineName),
		// programs switch it on and off; nothing is profiled
		variable("profiling", types.NewSystemBoolType("profiling"), int8(0)),
		// Nobody waits for a lock, and there is no choice of plans: programs set these all the same.
		variable("innodb_lock_wait_timeout", types.NewSystemIntType("innodb_lock_wait_timeout", 1, 1<<30, false),
			int64(50)),
		variable("innodb_strict_mode", types.NewSystemBoolType("innodb_strict_mode"), int8(1)),
		variable("innodb_table_locks", types.NewSystemBoolType("innodb_table_locks"), int8(1)),
		variable("binlog_format", types.NewSystemEnumType("binlog_format", "MIXED", "STATEMENT", "ROW"), "ROW"),
		variable(switchVariable, types.NewSystemStringType(switchVariable), switches),
		countedVariable(warningsVariable), countedVariable(errorsVariable),
		// go-mysql-server lets both be negative, and then refuses every SELECT
		variable(limitVariable, types.NewSystemUintType(limitVariable, 0, noLimit), noLimit),
		variable("max_execution_time", types.NewSystemIntType("max_execution_time", 0, math.MaxUint32, false),
			int64(0)),
		usualMode(),
		fixed("version", types.NewSystemStringType("version"), version),
		fixed("secure_file_priv", types.NewSystemStringType("secure_file_priv"), noFolder),
		// What the greeting names; any method that the server knows is taken.
		fixed("default_authentication_plugin", types.NewSystemStringType("default_authentication_plugin"),
			"mysql_native_password"),
		fixed("authentication_policy", types.NewSystemStringType("authentication_policy"), "*:mysql_native_password,,"),
		fixed("version_compile_os", types.NewSystemStringType("version_compile_os"), systemName()),
		fixed("version_compile_machine", types.NewSystemStringType("version_compile_machine"), machineName()),
		// What drivers and programs with windows ask for before they use it.
		has("have_compress", "YES"), has("have_dynamic_loading", "NO"), has("have_geometry", "NO"),
		has("have_profiling", "NO"), has("have_query_cache", "NO"), has("have_rtree_keys", "NO"),
		has("have_statement_timeout", "YES"), has("have_symlink", "DISABLED"),
		fixed("innodb_read_only", types.NewSystemBoolType("innodb_read_only"), int8(0)),
		fixed("version_comment", types.NewSystemStringType("version_comment"), "hikyaku, a message courier"),
	})
	shared := &sharedVariables{SystemVariableRegistry: gms.SystemVariables}
	gms.SystemVariables = shared
	return shared
})

// usualMode is MySQL's mode: dates of which a part is 0 are refused, and a division by 0 warns.
func usualMode() gms.SystemVariable {
	const mode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO," +
		"NO_ENGINE_SUBSTITUTION"
	v, _, _ := gms.SystemVariables.GetGlobal("sql_mode")
	own, ok := v.(*gms.MysqlSystemVariable)
	if !ok {
		return v
	}
	usual := *own
	usual.Default = mode
	return &usual
}

// has says whether the server has something, as MySQL does.
func has(name, value string) gms.SystemVariable {
	return fixed(name, types.NewSystemStringType(name), value)
}

// systemName and machineName are what MySQL's builds call where they run.
func systemName() string {
	switch runtime.GOOS {
	case "linux":
		return "Linux"
	case "darwin":
		return "macos"
	case "windows":
		return "Win64"
	}
	return runtime.GOOS
}

func machineName() string {
	switch runtime.GOARCH {
	case "amd64":
		return "x86_64"
	case "arm64":
		return "aarch64"
	}
	return runtime.GOARCH
}

func fixed(name string, typ gms.SystemVariableType, value any) gms.SystemVariable {
	return &gms.MysqlSystemVariable{
		Name: name, Scope: gms.GetMysqlScope(gms.SystemVariableScope_Global), Type: typ, Default: value,
	}
}

// The counts of what the statement before left, and what the session answers them with.
const (
	warningsVariable = "warning_count"
	errorsVariable   = "error_count"
)

func countedVariable(name string) gms.SystemVariable {
	return &gms.MysqlSystemVariable{
		Name: name, Scope: gms.GetMysqlScope(gms.SystemVariableScope_Session),
		Type: types.NewSystemIntType(name, 0, 1<<16, false), Default: int64(0),
	}
}

// bounding makes the variables say what the door holds statements to.
func bounding(c Config) {
	say := func(name string, value int64) gms.SystemVariable {
		return fixed(name, types.NewSystemIntType(name, value, value, false), value)
	}
	encrypts := "DISABLED"
	if c.TLS.On() {
		encrypts = "YES"
	}
	gms.SystemVariables.AddSystemVariables([]gms.SystemVariable{
		say("max_allowed_packet", c.MaxPacketBytes),
		// a connection may be content with less, as those of mysql --safe-updates are
		&gms.MysqlSystemVariable{
			Name: joinVariable, Scope: gms.GetMysqlScope(gms.SystemVariableScope_Both), Dynamic: true,
			Type: types.NewSystemIntType(joinVariable, 1, math.MaxInt64, false), Default: c.MaxJoinSize,
		},
		has("have_ssl", encrypts), has("have_openssl", encrypts),
		say("max_prepared_stmt_count", maxPrepared),
	})
}

// noFolder is the folder that files may be read from and written to by statements: none can be in it.
const noFolder = "/dev/null/none"
