package message

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func column(t testing.TB, definition string) Column {
	t.Helper()
	c, err := ParseColumn(definition)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestColumnDefinitionsHaveACanonicalForm(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"enqueued_at int(10) unsigned not null default 5", "`enqueued_at` int(10) unsigned not null default 5"},
		{"ID VARCHAR(255) NOT NULL", "`ID` varchar(255) not null"},
		{"`a b``c` TEXT", "`a b``c` text"},
		{" 名前\tchar ", "`名前` char(1)"},
		{"a integer", "`a` int"},
		{"a bool", "`a` tinyint(1)"},
		{"a boolean default true", "`a` tinyint(1) default 1"},
		{"a tinyint", "`a` tinyint"},
		{"a smallint", "`a` smallint"},
		{"a mediumint", "`a` mediumint"},
		{"a bigint signed", "`a` bigint"},
		{"a decimal", "`a` decimal(10,0)"},
		{"a numeric(8)", "`a` decimal(8,0)"},
		{"a dec(8,2) default 1.005", "`a` decimal(8,2) default 1.01"},
		{"a float", "`a` float"},
		{"a double precision", "`a` double"},
		{"a real", "`a` double"},
		{"a float(7,3) unsigned default 1e-3", "`a` float(7,3) unsigned default 0.001"},
		{"a bit", "`a` bit(1)"},
		{"a bit(64)", "`a` bit(64)"},
		{"a date default '2026-01-02'", "`a` date default '2026-01-02 00:00:00'"},
		{"a datetime(6)", "`a` datetime(6)"},
		{"a timestamp null", "`a` timestamp"},
		{"a time default '1:02'", "`a` time default '01:02:00'"},
		{"a year default 70", "`a` year default 1970"},
		{"a char(3) character set utf8mb4 collate utf8mb4_bin not null",
			"`a` char(3) character set utf8mb4 collate utf8mb4_bin not null"},
		{"a character varying(3) charset = 'latin1'", "`a` varchar(3) character set latin1"},
		{"a national varchar(3)", "`a` varchar(3)"},
		{"a char(0)", "`a` char(0)"},
		{"a varchar(0)", "`a` varchar(0)"},
		{"a binary(2) default x'00'", "`a` binary(2) default x'0000'"},
		{"a varbinary(9) default 'ab'", "`a` varbinary(9) default x'6162'"},
		{"a tinytext", "`a` tinytext"},
		{"a mediumtext", "`a` mediumtext"},
		{"a longtext", "`a` longtext"},
		{"a tinyblob", "`a` tinyblob"},
		{"a blob", "`a` blob"},
		{"a mediumblob", "`a` mediumblob"},
		{"a longblob", "`a` longblob"},
		{"a json default '{}'", "`a` json default '{}'"},
		{"a varchar(9) default 'it''s \\n' comment 'why'", "`a` varchar(9) default 'it''s \\n'"},
		{"a enum('red', \"it's\", 'a,b ', '\\\\') default 2", "`a` enum('red','it''s','a,b','\\\\') default 'it''s'"},
		{"a set('a','b') charset latin1 not null default 3",
			"`a` set('a','b') character set latin1 not null default 'a,b'"},
		{"a varchar(9) default 5", "`a` varchar(9) default '5'"},
		{"a int default null", "`a` int"},
		{"a int default '5' not null", "`a` int not null default 5"},
		{"a int default -1", "`a` int default -1"},
		{"a bigint unsigned default 18446744073709551615", "`a` bigint unsigned default 18446744073709551615"},
	} {
		got, err := ParseColumn(c.text)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: %s, %v, want %s", c.text, got, err, c.want)
			continue
		}
		if again, err := ParseColumn(got.String()); err != nil || !reflect.DeepEqual(again, got) {
			t.Errorf("%s: %s reads as %+v, %v, not %+v", c.text, got, again, err, got)
		}
	}
}

func TestWrongDefinitionsAreRefusedWithAReason(t *testing.T) {
	for text, reason := range map[string]string{
		"":                     "name is wanted",
		"a":                    "a type is wanted",
		"a thing":              `no type "thing"`,
		"a varchar":            "needs a length",
		"a varchar(":           "number is wanted",
		"a varchar(5":          "parenthesis",
		"a varchar(70000)":     "out of range",
		"a text(5)":            "takes no length",
		"a date(3)":            "takes no length",
		"a enum":               "needs its members",
		"a enum()":             "not understood",
		"a enum(1)":            "in quotes",
		"a enum('a' 'b')":      "between commas",
		"a enum('a','a ')":     "'a' twice",
		"a set('a,b')":         "with a comma",
		"a set('a') default 2": "none of its members",
		"a set('" + strings.Repeat("x','", 64) + "')":  "65 members: 64 at most",
		"a enum('" + strings.Repeat("x", 70000) + "')": "70000 bytes together",
		"a enum('" + strings.Repeat("x", 256) + "')":   "more than 255 characters",
		"a datetime(7)":                    "out of range",
		"a bit(65)":                        "out of range",
		"a bit(0)":                         "out of range",
		"a decimal(66)":                    "out of range",
		"a decimal(5,6)":                   "after the point",
		"a decimal(65,31)":                 "after the point",
		"a int(5,2)":                       "one number",
		"a int primary key":                `"primary"`,
		"a int auto_increment":             `"auto_increment"`,
		"a int not":                        "null is wanted",
		"a int default":                    "a value is wanted",
		"a int default 1 default 2":        "twice",
		"a int default 'x'":                "does not fit",
		"a int not null default null":      "cannot have null",
		"a tinyint default 300":            "does not fit",
		"a varchar(2) default 'abc'":       "too long",
		"a int default now()":              "not understood",
		"a int default 'open":              "closing quote",
		"a varbinary(2) default x'0'":      "hexadecimal",
		"a varchar(2) unsigned":            "cannot be unsigned",
		"a int collate utf8_bin":           "no character set",
		"a char character utf8":            "set is wanted",
		"a char collate":                   "name of a character set",
		"a int,b int":                      "not understood",
		"`a int":                           "closing backquote",
		"`` int":                           "name is wanted",
		strings.Repeat("x", 65) + " int":   "longer than 64",
		"`a ` int":                         "without blanks",
		"a varchar(3) comment 5":           "in quotes",
		"\xff int":                         "UTF-8",
		"a varchar(3) default '\xff'":      "UTF-8",
		"a date default current_timestamp": "cannot have current_timestamp",
	} {
		c, err := ParseColumn(text)
		if err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%q: %+v, %v, want %q", text, c, err, reason)
		}
	}
}

func TestColumnsAreFoundWhateverTheirCase(t *testing.T) {
	cs, err := ParseColumns([]string{"id varchar(255) not null", "Payload text", "enqueued_at int unsigned"})
	if err != nil {
		t.Fatal(err)
	}
	if i, ok := cs.Lookup("ENQUEUED_AT"); !ok || i != 2 {
		t.Errorf("enqueued_at is %d, %v", i, ok)
	}
	if i, ok := cs.Lookup("payload"); !ok || i != 1 {
		t.Errorf("payload is %d, %v", i, ok)
	}
	if _, ok := cs.Lookup("other"); ok {
		t.Error("other is a column")
	}
	if want := []string{"id", "Payload", "enqueued_at"}; !slices.Equal(cs.Names(), want) {
		t.Errorf("names %q", cs.Names())
	}
}

func TestColumnsHaveDistinctNames(t *testing.T) {
	_, err := ParseColumns([]string{"id int", "ID text"})
	var wrong *ColumnError
	if !errors.As(err, &wrong) || wrong.Column != "ID" || !strings.Contains(wrong.Reason, "twice") {
		t.Errorf("twice: %v", err)
	}
	if _, err := ParseColumns([]string{"id int", "x"}); err == nil {
		t.Error("a wrong definition is accepted")
	}
}

func TestTypesTellWhatTheyHold(t *testing.T) {
	for typ := TypeTinyInt; typ <= TypeJSON; typ++ {
		c := Column{Name: "a", Type: typ, Length: max(typ.info().length, min(1, typ.info().longest))}
		again, err := ParseColumn(c.String())
		if err != nil || again.Type != typ {
			t.Errorf("%s: %v, %v", c, again, err)
		}
		n := 0
		for _, is := range []bool{typ.IsInteger(), typ.IsText(), typ.IsBytes(), typ.IsInstant()} {
			n += map[bool]int{true: 1}[is]
		}
		other := typ == TypeDecimal || typ == TypeFloat || typ == TypeDouble || typ == TypeTime || typ == TypeJSON
		if (n == 0) != other || n > 1 {
			t.Errorf("%s is of %d sorts", typ, n)
		}
	}
	if got := ColumnType(200).String(); got != "type 200" {
		t.Errorf("an unknown type is %q", got)
	}
	if _, err := (Column{Name: "a"}).Convert(Int(1)); err == nil {
		t.Error("a column without a type takes a value")
	}
}

func FuzzParseColumn(f *testing.F) {
	for _, seed := range []string{"enqueued_at int(10) unsigned not null default 5", "`a``b` varchar(3) character " +
		"set utf8 collate utf8_bin default 'x\\'y'", "a decimal(8,2) default -1.5e1",
		"a binary(3) default x'00'", "a timestamp(3) default '2026-01-02 03:04:05.6789'",
		"a time(2) default '-12:34:56.789'", "a json default '[1]'", "a bit(3) default 5", "a float default 1e-40",
		"a year default '0'"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		c, err := ParseColumn(text)
		if err != nil {
			return
		}
		again, err := ParseColumn(c.String())
		if err != nil || !reflect.DeepEqual(again, c) {
			t.Fatalf("%q became %q, which reads as %+v, %v, not %+v", text, c, again, err, c)
		}
		if c.Default != nil {
			if v, err := c.Convert(*c.Default); err != nil || v != *c.Default {
				t.Fatalf("%q: the default %#v converts to %#v, %v", text, *c.Default, v, err)
			}
		}
	})
}

func TestEveryTypeIsReadByItsOwnName(t *testing.T) {
	for c := ColumnType(1); int(c) < len(typeInfos); c++ {
		if typeNames[c.String()] != c {
			t.Errorf("%s is no type's name in a definition", c)
		}
	}
}
