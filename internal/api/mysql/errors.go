package mysql

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	vmysql "github.com/dolthub/vitess/go/mysql"

	"github.com/hikyaku/hikyaku/internal/condition"
	"github.com/hikyaku/hikyaku/internal/door"
	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// The errors of MySQL that the door answers with, where vitess has no name for them.
const (
	erTooManyConnections = 1040
	erTableDefChanged    = 1412
	erTableFull          = 1114
	erDiskFull           = 1021
	erTooBigRow          = 1118
	erWrongValue         = 1366
	erWrongTime          = 1292
	erInterrupted        = 1317
	erWrongParamCount    = 1582
	erTableAccess        = 1142
	erUnsupported        = 1235
	erTruncated          = 1292
	erDataTruncated      = 1265
	erUnknownEngine      = 1286
	erNotAllowedEngine   = 1178
	erOptionPrevents     = 1290
	erWrongArguments     = 1210
	erShutdown           = 1053
	erTableExists        = 1050
	erBadTable           = 1051
	erNoSuchTable        = 1146
	erBadDatabase        = 1049
	erDropDatabase       = 1008
	erLockWaitTimeout    = 1205
	erUnknown            = 1105
	erNotRolledBack      = 1196
	erWrongObjectName    = 1103
	erTooLongIdent       = 1059
	erOutOfResources     = 1041
	erPacketTooLarge     = 1153
	erTooBigSelect       = 1104
	erTooBigResult       = 1301
	erRegexpCapacity     = 3700
	erQueryTimeout       = 3024
	erCapacity           = 3170
	erWrongColumnCount   = 1222
	erSyntax             = 1064
	erRegexpIndex        = 3686
)

// sqlError makes an error with MySQL's number and SQLSTATE.
func sqlError(code int, state, format string, args ...any) error {
	return vmysql.NewSQLError(code, state, "%s", fmt.Sprintf(format, args...))
}

// fromStore makes the error that a MySQL client knows of one of the store's. about is the table that was worked on, as
// the client named it.
func fromStore(err error, about string) error {
	if err == nil {
		return nil // before there is memory for what errors.As finds
	}
	var known *vmysql.SQLError
	var full *queue.FullError
	var column *message.ColumnError
	var where *condition.Error
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &full):
		return sqlError(erTableFull, "HY000", "The table '%s' is full: %v", about, err)
	case errors.Is(err, door.ErrBusy):
		return sqlError(erOutOfResources, "HY000",
			"Out of memory: too much is being sent and answered at once (try again; limits: busy_bytes bounds it)")
	case errors.Is(err, queue.ErrNoRoom):
		return sqlError(erDiskFull, "HY000",
			"Disk full: the row was not put into '%s' (free some space; waiting rows can still be taken)", about)
	case errors.Is(err, queue.ErrRefused):
		return sqlError(erOutOfResources, "HY000", "The journal could not take it, and kept nothing (try again; the "+
			"log of the server says why)")
	case errors.As(err, &column) && column.Member:
		return sqlError(erDataTruncated, "01000", "Data truncated for column '%s': it %s", column.Column, column.Reason)
	case errors.As(err, &column):
		return sqlError(erWrongValue, "HY000",
			"Incorrect value for column '%s' of '%s': %s", column.Column, about, column.Reason)
	case errors.As(err, &where):
		return sqlError(erWrongArguments, "HY000", "condition on '%s': %v", about, err)
	case errors.Is(err, queue.ErrTooLarge):
		return sqlError(erTooBigRow, "42000", "Row size too large for '%s': %v", about, err)
	case errors.Is(err, queue.ErrChanged):
		return errReshaped
	case errors.Is(err, queue.ErrNotFound):
		return sqlError(erNoSuchTable, "42S02", "Table '%s' doesn't exist", about)
	case errors.Is(err, queue.ErrProtected):
		return sqlError(erOptionPrevents, "HY000", "The server's configuration prevents this statement on '%s': %v",
			about, err)
	case errors.Is(err, queue.ErrExists):
		return sqlError(erTableExists, "42S01", "Table '%s' already exists: %v", about, err)
	case errors.Is(err, queue.ErrBadName):
		return sqlError(erWrongObjectName, "42000", "Incorrect table name '%s': %v", about, err)
	case errors.Is(err, queue.ErrDefinition), errors.Is(err, queue.ErrMismatch), errors.Is(err, queue.ErrCondition):
		return sqlError(erWrongArguments, "HY000", "%v", err)
	case errors.Is(err, queue.ErrTooManyWaiters):
		return sqlError(erLockWaitTimeout, "HY000", "%v", err)
	case errors.Is(err, queue.ErrClosed), errors.Is(err, queue.ErrUnavailable):
		return sqlError(erShutdown, "08S01", "%v", err)
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return sqlError(erInterrupted, "70100", "Query execution was interrupted")
	}
	return sqlError(erUnknown, "HY000", "%v", err)
}

// fromStoreOf is fromStore for what was done with a table, named as the client does.
func fromStoreOf(err error, of queue.Name) error {
	if errors.Is(err, queue.ErrNotFound) {
		return sqlError(erNoSuchTable, "42S02", "Table '%s.%s' doesn't exist", of.Namespace, of.Name)
	}
	return fromStore(err, of.Name)
}

// sqlErrorOf is the error as MySQL's clients know it: go-mysql-server leaves many without a number, or without the
// SQLSTATE of their number.
func sqlErrorOf(err error) error {
	if err == nil {
		return nil
	}
	e := inMySQLsWords(numbered(err))
	var ours *vmysql.SQLError
	if text := shown(e.Message, errors.As(err, &ours) || namesOnly[e.Num]); text != e.Message {
		return vmysql.NewSQLError(e.Num, e.State, "%s", text)
	}
	return e
}

// namesOnly are errors of go-mysql-server in whose text is no value but in quotes.
var namesOnly = map[int]bool{
	1046: true, 1048: true, 1049: true, 1052: true, 1054: true, 1055: true, 1060: true, 1136: true, 1140: true,
	1146: true, 1235: true, 1305: true, 1364: true,
}

// numbered is the error with its number and SQLSTATE.
func numbered(err error) *vmysql.SQLError {
	e := gms.CastSQLError(err)
	if e.Num == erUnknown {
		if ours := new(vmysql.SQLError); errors.As(fromStore(err, ""), &ours) {
			e = ours
		}
	}
	if e.Num == erUnknown && strings.HasPrefix(e.Message, context.Canceled.Error()) {
		return vmysql.NewSQLError(erInterrupted, "70100", "Query execution was interrupted")
	}
	if e.Num == erUnknown {
		text := endsOf(e.Message)
		for _, u := range unnumbered {
			if u.message.is(text) {
				return vmysql.NewSQLError(u.code, u.state, "%s", e.Message)
			}
		}
	}
	if state := states[e.Num]; state != "" && e.State != state {
		return vmysql.NewSQLError(e.Num, state, "%s", e.Message)
	}
	return e
}

// endsOf is a text without its middle: an error may hold a value of megabytes, and regular expressions take a
// microsecond for some ten bytes.
func endsOf(text string) string {
	const end = 4 << 10
	if len(text) <= 2*end {
		return text
	}
	return text[:end] + text[len(text)-end:]
}

// unnumbered are errors of go-mysql-server that have a number in MySQL. They are found by the ends of their texts
// (endsOf).
var unnumbered = []struct {
	message form
	code    int
	state   string
}{
	{newForm(`^syntax error`), 1064, "42000"},
	{newForm(`^table ".*" does not have column`), 1054, "42S22"},
	{newForm(`^Column ".*" already exists`), 1060, "42S21"},
	{newForm(`^a range's order by must be one expression`), 3587, "HY000"},
	{newForm(`^Incorrect (date|time|datetime) value|is not a valid (Year|Time)`), 1292, "22007"},
	{newForm(`^unable to drop database`), 1044, "42000"},
	{newForm(`^column ".*" could not be found`), 1054, "42S22"},
	{newForm(`^table with name .* already exists`), 1050, "42S01"},
	{newForm(`^duplicate column name`), 1060, "42S21"},
	{newForm(`doesn't have a default value$`), 1364, "HY000"},
	{newForm(`^length is \d+ but max allowed is`), 1074, "42000"},
	{newForm(`beyond the maximum value that can be held`), 1406, "22001"},
	{newForm(`(?i)^unknown character set`), 1115, "42000"},
	{newForm(`(?i)^unknown collation`), 1273, "HY000"},
	{newForm(`^Variable '.*' can't be set to the value of`), 1231, "42000"},
	{newForm(`^File .* already exists|secure-file-priv`), erOptionPrevents, "HY000"},
	{newForm(`^(function|procedure): '.*' not found`), 1305, "42000"},
	{newForm(`^no database selected`), 1046, "3D000"},
	{newForm(`^unknown table`), 1051, "42S02"},
	{newForm(`^number of values does not match|^invalid insert: `), 1136, "21S01"},
	{newForm(`^ambiguous column name`), 1052, "23000"},
	{newForm(`too large for column|is too long for column|Data too long`), 1406, "22001"},
	{newForm(`BIGINT value is out of range`), 1690, "22003"},
	{newForm(`(?i)out of range`), 1264, "22003"},
	{newForm(`^Unknown system variable`), 1193, "HY000"},
	{newForm(`^Variable '.*' is a read only variable`), 1238, "HY000"},
	{newForm(`^Variable '.*' is a SESSION variable`), 1228, "HY000"},
	{newForm(`^Variable '.*' is a GLOBAL variable`), 1229, "HY000"},
	{newForm(`^unsupported (syntax|feature)`), 1235, "42000"},
	{newForm(`^Invalid default value|^incompatible type for default value`), 1067, "42000"},
	{newForm(`^Data truncated for column|is not valid for this (Enum|Set)`), erDataTruncated, "01000"},
	{newForm(`^duplicate entry: `), 1291, "HY000"},
	{newForm(`^values cannot contain a comma`), 1367, "22007"},
	{newForm(`^cannot union two queries whose schemas are different lengths`), erWrongColumnCount, "21000"},
	{newForm(`^function '.*' expected .* arguments`), erWrongParamCount, "42000"},
	{newForm(`^No tables used`), 1096, "HY000"},
	{newForm(`^Not unique table/alias`), 1066, "42000"},
	{newForm(`^Column count doesn't match value count`), 1136, "21S01"},
	{newForm(`^In definition of view, derived table or common table expression`), 1353, "HY000"},
	{newForm(`should contain a UNION$`), 3573, "HY000"},
	{newForm(`^Expression #\d+ of SELECT list is not in GROUP BY clause`), 1055, "42000"},
	{newForm(`^failed to resolve aggregate column argument`), 1111, "HY000"},
	{newForm(`^bind variable not provided|^invalid arguments\. expected`), erWrongArguments, "HY000"},
	{newForm(`^Unknown prepared statement handler`), 1243, "HY000"},
	{newForm(`^cannot use MATCH \.\.\. AGAINST \.\.\. on a table`), 1191, "HY000"},
	{newForm(`^invalid use of an interval`), erSyntax, "42000"},
	{newForm(`^WITH RECURSIVE iteration limit exceeded`), 3636, "HY000"},
	{newForm(`^Result consisted of more than one row`), 1172, "42000"},
	{newForm(`^value .* was not found in the set$`), 1231, "42000"},
	{newForm(`^Unknown or incorrect time zone`), 1298, "HY000"},
	{newForm(`^Every derived table must have its own alias`), 1248, "42000"},
	{newForm(`^unbound variable ".*" in query`), erSyntax, "42000"},
	{newForm(`^database ".*" doesn't support stored procedures`), 1305, "42000"},
	{newForm(`^database .* does not support collation operations|^Unimplemented `), erUnsupported, "42000"},
	{newForm(`(?i)^invalid data type for JSON data in argument`), 3146, "22032"},
	{newForm(`^Invalid JSON path expression|^failed to extract from expression`), 3143, "42000"},
	{newForm(`^the oneOrAll argument to `), 3154, "42000"},
	{newForm(`^JSON documents may not contain NULL member names`), 3158, "22032"},
	{newForm(`^Incorrect string value: |^incompatible conversion to SQL type`), erWrongValue, "HY000"},
	{newForm(`^Truncated incorrect .* value`), erTruncated, "22007"},
	{newForm(`^DATE_(ADD|SUB) expects an interval|^invalid (type for json_value|json_value coercion type)`), erSyntax, "42000"},
	{newForm(`^(time in )?function '(sysdate|now)' (received invalid|unexpectedly)`), erSyntax, "42000"},
	{newForm(`^function '.*' received invalid argument types`), erWrongArguments, "HY000"},
	{newForm(`^Invalid argument to `), erWrongArguments, "HY000"},
	{newForm(`^Invalid JSON text: `), 3140, "22032"},
	{newForm(`couldn't convert to json: |^invalid character |^unexpected end of |^json: cannot`), 3141, "22032"},
	{newForm(`^error: '.*' is not a valid value type for |^value .* is not a valid Decimal`), 3156, "22018"},
	{newForm(`^COLLATION '.*' is not valid for CHARACTER SET`), 1253, "42000"},
}

// states are the SQLSTATEs of numbers that go-mysql-server gives with another.
var states = map[int]string{
	1046: "3D000", 1048: "23000", 1049: "42000", 1050: "42S01", 1051: "42S02", 1052: "23000", 1054: "42S22",
	1055: "42000", 1060: "42S21", 1062: "23000", 1064: "42000", 1068: "42000", 1091: "42000", 1110: "42000",
	1136: "21S01", 1140: "42000", 1142: "42000", 1146: "42S02", 1193: "HY000", 1231: "42000", 1235: "42000",
	1241: "21000", 1242: "21000", 1264: "22003", 1292: "22007", 1305: "42000", 1317: "70100", 1364: "HY000",
	1366: "HY000", 1406: "22001", 1582: "42000", 3140: "22032", 3141: "22032",
}
