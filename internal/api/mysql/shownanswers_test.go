package mysql

import (
	"context"
	"database/sql"
	"strings"
	"testing"
)

// TestMainAnswersOfProgramsThatShowServers: what they put into their trees and grids is read by the columns' names,
// from the row of the database, the table or the column that it is about.
func TestMainAnswersOfProgramsThatShowServers(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE t (id int NOT NULL, e enum('a','b') DEFAULT 'b', payload text) ENGINE=QUEUE "+
		"COMMENT='jobs'")
	exec(t, c, "INSERT INTO t VALUES (7, 'a', '飛脚')")
	for _, q := range []struct {
		statement string
		about     string // "column=value" of the row
		want      string // "column=value" beside each other
	}{
		{"SHOW DATABASES", "Database=test", ""},
		{"SHOW DATABASES", "Database=information_schema", ""},
		{"SELECT `SCHEMA_NAME` FROM `INFORMATION_SCHEMA`.`SCHEMATA`", "SCHEMA_NAME=test", ""},
		{"SELECT * FROM information_schema.SCHEMATA ORDER BY SCHEMA_NAME", "SCHEMA_NAME=test", "CATALOG_NAME=def|" +
			"DEFAULT_CHARACTER_SET_NAME=utf8mb4|DEFAULT_COLLATION_NAME=utf8mb4_0900_bin"},
		{"SHOW FULL TABLES FROM `test`", "Tables_in_test=t", "Table_type=BASE TABLE"},
		{"SHOW FULL TABLES FROM `test` WHERE Table_type='BASE TABLE'", "Tables_in_test=t", "Table_type=BASE TABLE"},
		{"SHOW TABLE STATUS FROM `test`", "Name=t", "Engine=QUEUE|Rows=1|Comment=jobs|Auto_increment=NULL"},
		{"SHOW TABLE STATUS FROM `test` LIKE 't'", "Name=t", "Engine=QUEUE|Rows=1|Comment=jobs"},
		{"SELECT * FROM information_schema.TABLES WHERE TABLE_SCHEMA='test' ORDER BY TABLE_NAME", "TABLE_NAME=t",
			"TABLE_CATALOG=def|TABLE_TYPE=BASE TABLE|ENGINE=QUEUE|TABLE_ROWS=1|TABLE_COMMENT=jobs|AUTO_INCREMENT=NULL"},
		{"select table_name, table_type, table_comment, engine, table_collation, create_options from " +
			"information_schema.tables where table_schema = 'test'", "TABLE_NAME=t",
			"TABLE_TYPE=BASE TABLE|TABLE_COMMENT=jobs|ENGINE=QUEUE"},
		{"SHOW FULL COLUMNS FROM `test`.`t`", "Field=id", "Type=int|Null=NO|Key=|Default=NULL|Extra=|Comment="},
		{"SHOW FULL COLUMNS FROM `t` FROM `test`", "Field=e", "Type=enum('a','b')|Null=YES|Default=b"},
		{"SHOW FULL COLUMNS FROM `test`.`t` LIKE 'id'", "Field=id", "Type=int|Collation=NULL"},
		{"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='test' AND TABLE_NAME='t' ORDER BY " +
			"ORDINAL_POSITION", "COLUMN_NAME=e", "ORDINAL_POSITION=2|DATA_TYPE=enum|COLUMN_TYPE=enum('a','b')|" +
			"IS_NULLABLE=YES|COLUMN_DEFAULT=b|CHARACTER_SET_NAME=utf8mb4|CHARACTER_MAXIMUM_LENGTH=1"},
		{"SELECT * FROM information_schema.COLUMNS WHERE TABLE_SCHEMA='test' AND TABLE_NAME='t' ORDER BY " +
			"ORDINAL_POSITION", "COLUMN_NAME=id", "ORDINAL_POSITION=1|DATA_TYPE=int|NUMERIC_PRECISION=10|" +
			"NUMERIC_SCALE=0|IS_NULLABLE=NO|COLUMN_DEFAULT=NULL|CHARACTER_SET_NAME=NULL|COLUMN_KEY=|EXTRA="},
		{"SELECT table_name as table_name,column_name as column_name,column_type as column_type FROM " +
			"information_schema.columns WHERE table_schema='test'AND data_type='enum';", "column_name=e",
			"table_name=t|column_type=enum('a','b')"},
		{"SHOW ENGINES", "Engine=QUEUE", "Support=DEFAULT"},
		{"SHOW CHARSET", "Charset=utf8mb4", "Maxlen=4"},
		{"SHOW COLLATION", "Collation=utf8mb4_bin", "Charset=utf8mb4|Id=46|Compiled=Yes"},
		{"SHOW VARIABLES LIKE 'lower_case_%'", "Variable_name=lower_case_table_names", "Value=0"},
		{"SHOW SESSION VARIABLES LIKE 'sql_mode'", "Variable_name=sql_mode", ""},
		{"SHOW FULL PROCESSLIST", "User=root", "db=test|Command=Query|Info=SHOW FULL PROCESSLIST"},
		{"SHOW CREATE DATABASE `test`", "Database=test", ""},
		{"SHOW CREATE TABLE `test`.`t`", "Table=t", ""},
		{"SELECT  `id`, `e`, LEFT(`payload`, 256) FROM `test`.`t` LIMIT 1000;", "id=7",
			"e=a|LEFT(`payload`, 256)=飛脚"},
		{"SELECT *, COUNT(*) OVER () FROM `t` LIMIT 0, 25", "id=7", "payload=飛脚|COUNT(*) OVER ()=1"},
		{"SELECT DATABASE()", "DATABASE()=test", ""},
		{"SHOW SESSION STATUS LIKE 'Ssl_cipher'", "Variable_name=Ssl_cipher", "Value="},
	} {
		rows, err := rowsByName(t.Context(), c, q.statement)
		if err != nil {
			t.Errorf("%s: %v", q.statement, err)
			continue
		}
		column, value, _ := strings.Cut(q.about, "=")
		found := false
		for _, row := range rows {
			if got, ok := row[column]; !ok || got != value {
				continue
			}
			found = true
			for want := range strings.SplitSeq(q.want, "|") {
				name, value, ok := strings.Cut(want, "=")
				if got, there := row[name]; ok && (!there || got != value) {
					t.Errorf("%s: the row of %s has %q, want %s", q.statement, q.about, got, want)
				}
			}
		}
		if !found {
			t.Errorf("%s has no row of %s: %q", q.statement, q.about, rows[:min(len(rows), 3)])
		}
	}
}

// rowsByName are the rows of an answer by the names of its columns; what is NULL is so called.
func rowsByName(ctx context.Context, c *sql.Conn, statement string) (all []map[string]string, err error) {
	rows, err := c.QueryContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	values := make([]sql.NullString, len(names))
	places := make([]any, len(names))
	for i := range values {
		places[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(places...); err != nil {
			return nil, err
		}
		row := make(map[string]string, len(names))
		for i, name := range names {
			if row[name] = "NULL"; values[i].Valid {
				row[name] = values[i].String
			}
		}
		all = append(all, row)
	}
	return all, rows.Err()
}
