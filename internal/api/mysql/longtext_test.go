package mysql

import (
	"errors"
	"strings"
	"testing"
	"time"

	driver "github.com/go-sql-driver/mysql"
)

// TestStatementsStayWithinTheirBoundsWithLongTexts sends texts of megabytes to all that looks for forms in them. With
// 8 MB and no bound they took three to seven seconds of a processor, and nothing ended them.
func TestStatementsStayWithinTheirBoundsWithLongTexts(t *testing.T) {
	r := newRig(t, Config{}, nil)
	conn := r.connect("maxAllowedPacket=0")
	size, times := 1<<20, 1
	if *statements > 0 { // of two: what else the machine does is no fault of a statement
		size, times = 8<<20, 2
	}
	long := strings.Repeat("x", size)
	spaces := strings.Repeat(" ", len(long))
	for _, statement := range share(t, 4,
		"check table "+long, "analyze table "+long, "checksum table q"+spaces+"quick", "desc "+spaces+"q",
		"explain "+spaces+"select 1",
		"show"+spaces+"schemas", "flush"+spaces+"logs", spaces+"select 1", "/*"+long+"*/ select 1",
		"start transaction"+spaces+long,
		"show grants for "+long, "create table q (a year"+spaces+"(4))", "alter table q engine = "+long,
		"select cast('"+strings.Repeat("1", len(long))+"' as decimal(65))",
		"select cast('0."+strings.Repeat("1", len(long))+"' as decimal(65,30))",
		"with recursive r as (select (now() + interval 0 day) n union all select concat(n,n) from r where n < "+
			"1000000) select count(*) from r",
		"with recursive r as (select 1 n union all select concat(n,n) from r where coalesce(n) < now()) select "+
			"count(*) from r",
		"select 1 where json_array(cast(space(20000000) as binary))",
	) {
		least := time.Hour
		for range times {
			before := cpu()
			_, _ = conn.ExecContext(t.Context(), statement)
			least = min(least, time.Duration(cpu()-before))
			if conn.PingContext(t.Context()) != nil {
				t.Fatalf("%.40q ends the connection", statement)
			}
		}
		if *statements > 0 && least > time.Duration(mostProcessor) {
			t.Errorf("%.40q takes %v of a processor", statement, least)
		}
	}
	for text, want := range map[string]string{
		"0." + strings.Repeat("12", 5000):                 "0.121212121212121212121212121212",
		strings.Repeat("0", 5000) + "7." + long:           "7.000000000000000000000000000000",
		"-1" + strings.Repeat("0", 5000) + ".5e-5000":     "-1.000000000000000000000000000000",
		" 0.00" + strings.Repeat("5", 5000) + "e1 and on": "0.055555555555555555555555555556",
	} {
		var got string
		if err := conn.QueryRowContext(t.Context(),
			"select cast('"+text+"' as decimal(65,30))").Scan(&got); err != nil || got != want {
			t.Errorf("%.20q… is %q, not %q: %v", text, got, want, err)
		}
	}
}

// TestAStatementEndsWhileItReadsLongTextsAsNumbers holds what goes through all rows before it returns the first to the
// time of its statement. Some took 3 to 20 s of a processor beyond that.
func TestAStatementEndsWhileItReadsLongTextsAsNumbers(t *testing.T) {
	conn := newRig(t, Config{StatementTimeout: 200 * time.Millisecond}, nil).connect("maxAllowedPacket=0")
	exec(t, conn, "set @v = '"+strings.Repeat("y", 1<<20)+"'")
	for _, asked := range []string{
		"sum(@v)", "sum(@v) over ()", "sum(n) over (order by @v+n)", "sum(n) over (partition by @v+n)",
		"sum(@v+n) over (order by n rows 3 preceding)", "rank() over (order by @v+n)", "lag(@v+n) over (order by n)",
		"max(@v+n) over ()", "json_arrayagg(@v+n) over ()", "sum(cast(@v as decimal(9,2))+n) over ()",
		"group_concat(n order by @v+n)", "count(distinct @v+n)",
	} {
		before := cpu()
		_, err := conn.ExecContext(t.Context(), "with recursive r as (select 1 n union all select n+1 from r where n < "+
			"2400) select "+asked+" from r")
		var known *driver.MySQLError
		if !errors.As(err, &known) || known.Number != erQueryTimeout {
			t.Errorf("%s answers %v", asked, err)
		}
		if took := cpu() - before; *statements > 0 && took > mostProcessor {
			t.Errorf("%s takes %v of a processor", asked, time.Duration(took))
		}
	}
}
