package mysql

import "testing"

// TestARemainderOfWholeNumbersIsOne: its column is a BIGINT, and unsigned where the first number is.
func TestARemainderOfWholeNumbersIsOne(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE shares (n int, u bigint unsigned, d decimal(5,1)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO shares VALUES (-7, 18446744073709551615, 7.5)")
	for expression, want := range map[string]string{
		"5 % 3": "BIGINT 2", "mod(n, 4)": "BIGINT -3", "n MOD 4 + 1": "BIGINT -2", "u % 10": "UNSIGNED BIGINT 5",
		"9223372036854775807 % 10": "BIGINT 7", "d % 2": "DECIMAL 1.5", "n % 1.5": "DECIMAL -1.0",
		"n % '4'":             "DOUBLE -3",
		"coalesce(5 % 0, -1)": "BIGINT -1", "sum(n % 4)": "DECIMAL -3",
	} {
		rows, err := c.QueryContext(t.Context(), "SELECT "+expression+" FROM shares")
		if err != nil {
			t.Errorf("%s: %v", expression, err)
			continue
		}
		var got string
		columns, err := rows.ColumnTypes()
		if rows.Next() && err == nil {
			err = rows.Scan(&got)
		}
		if got = columns[0].DatabaseTypeName() + " " + got; err != nil || got != want {
			t.Errorf("%s: %s, %v, want %s", expression, got, err, want)
		}
		rows.Close()
	}
	one(t, c, int64(1), "SELECT count(*) FROM shares WHERE n % 4 IN (-3, 2) GROUP BY n % 4")
}
