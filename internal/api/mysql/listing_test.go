package mysql

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/information_schema"
)

// TestTheInformationSchemaIsTheSameReadATableAtATime: the same rows in the same order as go-mysql-server's readers make
// of all tables at once.
func TestTheInformationSchemaIsTheSameReadATableAtATime(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE a (id int NOT NULL DEFAULT 7, e enum('a','b') DEFAULT 'b', at datetime(3) DEFAULT "+
		"CURRENT_TIMESTAMP(3), span time(2), d decimal(8,2) DEFAULT 1.50, payload text) ENGINE=QUEUE")
	exec(t, c, "CREATE TABLE b (id bigint unsigned) ENGINE=QUEUE COMMENT='jobs'")
	exec(t, c, "CREATE DATABASE nothing")
	exec(t, c, "CREATE DATABASE other")
	exec(t, c, "CREATE TABLE other.a (name varchar(20) NOT NULL DEFAULT '') ENGINE=QUEUE")
	ctx := gms.NewEmptyContext()
	catalog := r.door.engine.Analyzer.Catalog
	originals := information_schema.GetInformationSchemaTables()
	rows := func(read reader) []gms.Row {
		t.Helper()
		iter, err := read(ctx, catalog)
		if err != nil {
			t.Fatal(err)
		}
		if iter == nil { // go-mysql-server's way to say that there are none
			return nil
		}
		all, err := gms.RowIterToRows(ctx, iter)
		if err != nil {
			t.Fatal(err)
		}
		return slices.DeleteFunc(all, func(row gms.Row) bool { // those are in no order
			return slices.Contains(row, any(gms.InformationSchemaDatabaseName))
		})
	}
	readers := map[string][2]reader{
		information_schema.StatisticsTableName: {
			information_schema.NewDefaultStats().Reader, r.door.infoSchema(catalog.InfoSchema).statistics.Reader},
		information_schema.ColumnsTableName: {
			func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
				whole := information_schema.NewColumnsTable()
				whole.AssignCatalog(c)
				all, err := whole.AllColumns(ctx)
				if err != nil {
					return nil, err
				}
				return whole.RowIter(ctx, c, all)
			},
			func(ctx *gms.Context, c gms.Catalog) (gms.RowIter, error) {
				return (&columnsTable{door: r.door, catalog: c}).PartitionRows(ctx, nil)
			}},
	}
	for _, name := range perTable {
		read := originals[name].(*information_schema.InformationSchemaTable).Reader
		readers[name] = [2]reader{read, r.door.byTable(read, aboutColumns(name))}
	}
	for name, read := range readers {
		whole, parts := rows(read[0]), rows(read[1])
		if many := name == information_schema.ColumnsTableName; many && len(whole) != 8 {
			t.Errorf("%s: %d rows of 8 columns", name, len(whole))
		}
		if len(whole) != len(parts) {
			t.Errorf("%s: %d rows of all tables at once, %d of one at a time", name, len(whole), len(parts))
			continue
		}
		for i := range whole {
			if !reflect.DeepEqual(whole[i], parts[i]) {
				t.Errorf("%s: row %d:\n%v\n%v", name, i, whole[i], parts[i])
				break
			}
		}
	}
}

// TestWhatAStatementShowsOfManyTablesCounts as what it keeps: it is refused when it would be more than it may have.
func TestWhatAStatementShowsOfManyTablesCounts(t *testing.T) {
	r := newRig(t, Config{StatementBytes: 200 << 10}, nil)
	c := r.connect("")
	columns := "c0 int"
	for n := 1; n < 20; n++ {
		columns += fmt.Sprintf(", c%d int", n)
	}
	for n := range 300 {
		exec(t, c, fmt.Sprintf("CREATE TABLE t%d (%s) ENGINE=QUEUE", n, columns))
	}
	for _, statement := range []string{"SHOW TABLE STATUS",
		"SELECT * FROM information_schema.columns ORDER BY table_name"} {
		if _, err := answered(t, c, statement); errorNumber(err) != erCapacity {
			t.Errorf("%s: %v", statement, err)
		}
	}
	for statement, want := range map[string]int{
		"SHOW FULL TABLES": 300,
		"SELECT * FROM information_schema.columns WHERE table_schema = 'test'": 6000,
		"SELECT * FROM information_schema.tables WHERE table_schema = 'test'":  300,
		"SHOW COLUMNS FROM t7":     20,
		"SHOW CREATE TABLE t7":     1,
		"SELECT * FROM t1":         0,
		"SELECT * FROM t1, t2, t3": 0,
	} {
		if n, err := answered(t, c, statement); n != want || err != nil {
			t.Errorf("%s: %d rows, %v", statement, n, err)
		}
	}
}

// TestANameThatIsTooLongIsRefusedBeforeItIsComparedWithOthers, which takes time and memory as the length.
func TestANameThatIsTooLongIsRefusedBeforeItIsComparedWithOthers(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE t (id int) ENGINE=QUEUE")
	for _, statement := range []string{"SELECT * FROM `%s`", "INSERT INTO `%s` VALUES (1)", "DROP TABLE `%s`",
		"SHOW COLUMNS FROM `%s`"} {
		_, err := answered(t, c, fmt.Sprintf(statement, strings.Repeat("t", 100_000)))
		if n := errorNumber(err); n != erTooLongIdent && n != erWrongObjectName {
			t.Errorf("%s: %v", statement, err)
		}
	}
}
