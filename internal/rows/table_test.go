package rows

import "testing"

func TestATableIsDefinedWithItsKeyOnce(t *testing.T) {
	native := func(c Column) string { return c.Native }
	for _, c := range []struct {
		columns []Column
		want    string
	}{
		{[]Column{{Name: "a", Native: "int"}}, "(`a` int)"},
		{[]Column{{Name: "a`b", Native: "int", Key: true}, {Name: "c", Native: "text", Key: true}},
			"(`a``b` int, `c` text, PRIMARY KEY (`a``b`, `c`))"},
		{[]Column{{Name: "a", Native: "integer Primary Key", Key: true}}, "(`a` integer Primary Key)"},
	} {
		table := Table{Columns: c.columns}
		if got := table.Definition('`', native); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
}
