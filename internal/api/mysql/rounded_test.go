package mysql

import "testing"

// TestARoundedDecimalHasTheDigitsThatAreAskedFor, and its column, too.
func TestARoundedDecimalHasTheDigitsThatAreAskedFor(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE prices (n decimal(12,4), i int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO prices VALUES (12345.6, 1)")
	for expression, want := range map[string]string{
		"round(n, 1)": "12345.6", "round(n)": "12346", "truncate(n, 1)": "12345.6", "truncate(n, 0)": "12345",
		"round(n, -2)": "12300", "truncate(-n, 2)": "-12345.60", "round(n, i)": "12345.6000",
		"round(n, 6)":     "12345.600000",
		"round(99.99, 1)": "100.0", "round(-0.001, 1)": "0.0", "concat(round(n, 1), '')": "12345.6",
		"sum(round(n, 1))": "12345.6", "round(sum(n) / 3, 2)": "4115.20", "round(n, 1) + 1": "12346.6",
		"round(i, 2)": "1",
	} {
		var got string
		err := c.QueryRowContext(t.Context(), "SELECT "+expression+" FROM prices").Scan(&got)
		if err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", expression, got, err, want)
		}
	}
	one(t, c, int64(1), "SELECT count(*) FROM prices WHERE round(n, 1) = 12345.6 GROUP BY round(n)")
	rows, err := c.QueryContext(t.Context(), "SELECT round(n, 1) FROM prices")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	columns, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	if digits, scale, _ := columns[0].DecimalSize(); digits != 10 || scale != 1 {
		t.Errorf("the column is a DECIMAL(%d,%d)", digits, scale)
	}
}

// TestATextThatIsANumberIsRounded, of whatever type it is.
func TestATextThatIsANumberIsRounded(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE f (v varchar(20), x text, k char(9)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO f VALUES ('12.56', '12.56', '12.56')")
	for _, column := range []string{"v", "x", "k", "'12.56'"} {
		one(t, c, 12.6, "SELECT round("+column+", 1) FROM f WHERE ?", 1)
		one(t, c, 13.0, "SELECT round("+column+") FROM f WHERE ?", 1)
	}
}
