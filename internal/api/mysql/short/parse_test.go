package short

import (
	"strings"
	"testing"
)

var ansi, plainBackslash = Mode{ANSIQuotes: true}, Mode{NoBackslashEscapes: true}

// recognized are texts, each with what it is written plainly.
var recognized = []struct {
	query, plain string
	mode         Mode
}{
	{query: "SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)",
		plain: "SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)"},
	{query: "select queue_wait('t')", plain: "SELECT queue_wait('t')"},
	{query: " \t\r\nsElEcT Queue_WAIT ( \"t\" , 'u:a=\"b\"' ,-1.50 )\n;\n",
		plain: `SELECT queue_wait('t', 'u:a="b"', -1.50)`},
	{query: "select queue_wait('t', 5) as x", plain: "SELECT queue_wait('t', 5)"},
	{query: "select queue_wait('t', 5)x;", plain: "SELECT queue_wait('t', 5)"},
	{query: "select queue_wait('t', 5) AS `a b`", plain: "SELECT queue_wait('t', 5)"},
	{query: "select\r\nqueue_end() status\r\n", plain: "SELECT queue_end()"},
	{query: "select queue_wait(?, ?)", plain: "SELECT queue_wait(?, ?)"},
	{query: "select queue_wait(5, 't', -3)", plain: "SELECT queue_wait(5, 't', -3)"},
	{query: `select queue_wait('t:a=''it\'s''')`, plain: `SELECT queue_wait('t:a=''it''s''')`},
	{query: `select queue_wait('t:a="b"', 1)`, plain: `SELECT queue_wait('t:a="b"', 1)`, mode: ansi},
	{query: "select queue_end()", plain: "SELECT queue_end()"},
	{query: "SELECT QUEUE_END( );", plain: "SELECT queue_end()"},
	{query: "select queue_abort()", plain: "SELECT queue_abort()"},
	{query: "select queue_rowid()", plain: "SELECT queue_rowid()"},
	{query: "select queue_end();\r\n", plain: "SELECT queue_end()"},
	{query: "select queue_set_srcid(0, 'a', 4611686018427387904)",
		plain: "SELECT queue_set_srcid(0, 'a', 4611686018427387904)"},

	{query: "select * from t", plain: "SELECT * FROM `t`"},
	{query: "SELECT*FROM`t`;", plain: "SELECT * FROM `t`"},
	{query: "select *\nfrom q4m.`t`", plain: "SELECT * FROM `q4m`.`t`"},
	{query: "select id,Body , `from` from t", plain: "SELECT `id`, `Body`, `from` FROM `t`"},
	{query: "select queue_end from t", plain: "SELECT `queue_end` FROM `t`"},
	{query: "select `飛脚` from `手紙.fifo`", plain: "SELECT `飛脚` FROM `手紙.fifo`"},
	{query: "select a, a from t", plain: "SELECT `a`, `a` FROM `t`"},
	{query: "select date, value, name, _id, count from comment",
		plain: "SELECT `date`, `value`, `name`, `_id`, `count` FROM `comment`"},

	{query: "INSERT INTO t VALUES (1)", plain: "INSERT INTO `t` VALUES (1)"},
	{query: "insert into d.t(a,`b c`)values(1,'x'),(-2,null);",
		plain: "INSERT INTO `d`.`t` (`a`, `b c`) VALUES (1, 'x'), (-2, NULL)"},
	{query: "INSERT INTO t (a, b) VALUE (?, ?)", plain: "INSERT INTO `t` (`a`, `b`) VALUES (?, ?)"},
	{query: "insert into t values (x'', X'4a4B', 0x4a, 0xfff, 1.50, -0.5, 007, 18446744073709551615)",
		plain: "INSERT INTO `t` VALUES (x'', x'4A4B', x'4A', x'0FFF', 1.50, -0.5, 007, 18446744073709551615)"},
	{query: `insert into t values ('', '''', '''''', 'a''b', "a""b", "a'b", 'a"b')`,
		plain: `INSERT INTO ` + "`t`" + ` VALUES ('', '''', '''''', 'a''b', 'a"b', 'a''b', 'a"b')`},
	{query: `insert into t values ('\0\b\n\r\t\Z\\\'\"\q\'')`,
		plain: "INSERT INTO `t` VALUES ('\x00\b\n\r\t\x1a\\\\''\"q''')"},
	{query: "insert into t values ('\xff\x00\xfe', '\\\xe9')",
		plain: "INSERT INTO `t` VALUES ('\xff\x00\xfe', '\xe9')"},
	{query: "insert into t values ('-- no comment /* nor this */ # ; ?')",
		plain: "INSERT INTO `t` VALUES ('-- no comment /* nor this */ # ; ?')"},
	{query: `insert into t values ('"')`, plain: "INSERT INTO `t` VALUES ('\"')", mode: ansi},
	{query: `insert into t values ('it''s', "it's")`, plain: "INSERT INTO `t` VALUES ('it''s', 'it''s')",
		mode: plainBackslash},
}

func TestHotStatementsAreRecognized(t *testing.T) {
	for _, c := range recognized {
		s, ok := recognizedRightly(t, c.query, c.mode)
		if !ok {
			t.Errorf("%q is not recognized", c.query)
			continue
		}
		if plain := canonical(s); plain != c.plain {
			t.Errorf("%q is\n\t%s, want\n\t%s", c.query, plain, c.plain)
		}
	}
}

// refused are texts that go the long way, be they right or wrong.
var refused = []struct {
	query string
	mode  Mode
}{
	{query: ""}, {query: " "}, {query: ";"}, {query: "select"}, {query: "select "}, {query: "insert"}, {query: "sel"},
	{query: "\x00"},
	{query: "select 1"}, {query: "select @@version"}, {query: "selectqueue_end()"}, {query: "show tables"},
	{query: "replace into t values (1)"},

	// Two statements, comments, and what is no blank for everybody.
	{query: "select queue_end(); select queue_end()"}, {query: "select queue_end();;"}, {query: "; select queue_end()"},
	{query: "/* a */ select queue_end()"}, {query: "select /*+ b */ queue_end()"}, {query: "select queue_end() -- c"},
	{query: "select queue_end() # d"},
	{query: "select queue_end(/* */)"}, {query: "select\vqueue_end()"}, {query: "select\fqueue_end()"},
	{query: "select\u00a0queue_end()"},
	{query: "select queue_end()\x00"}, {query: "insert into t values ('a'\x00)"},
	{query: "insert into t values (1--1)"},

	// Calls that are more, less or something else.
	{query: "select queue_end(1)"}, {query: "select queue_end"}, {query: "select queue_end("},
	{query: "select queue_end())"}, {query: "select (queue_end())"},
	{query: "select queue_end() + 1"}, {query: "select queue_end(), 1"}, {query: "select queue_end() from dual"},
	{query: "select queue_end() limit 1"},
	{query: "select queue_end() as"}, {query: "select queue_end() as 'x'"}, {query: "select queue_end() 'x'"},
	{query: "select queue_end() as a b"},
	{query: "select queue_end() as `x`.`y`"}, {query: "select queue_end() as select"},
	{query: "select queue_end() as ``"}, {query: "select queue_end() into @x"},
	{query: "select `queue_end`()"}, {query: "select d.queue_end()"}, {query: "select queue_ends()"},
	{query: "select queue_end() or 1"},
	{query: "select queue_end() where 1"}, {query: "select queue_end() for update"},
	{query: "select queue_end() collate x"},
	// the full parser puts the \r into the column's name
	{query: "select\rqueue_end()"}, {query: "select queue_end()\r;"},
	{query: "select queue_wait()"}, {query: "select queue_wait(,)"}, {query: "select queue_wait('t',)"},
	{query: "select queue_wait('t' 5)"},
	{query: "select queue_wait(null)"}, {query: "select queue_wait('t', null)"}, {query: "select queue_wait(0x74)"},
	{query: "select queue_wait(x'74')"},
	{query: "select queue_wait(t)"}, {query: "select queue_wait('t', 1+1)"}, {query: "select queue_wait('t', +1)"},
	{query: "select queue_wait('t', - 1)"},
	{query: "select queue_wait('t', --1)"}, {query: "select queue_wait('t', 1e3)"},
	{query: "select queue_wait('t', 1.)"}, {query: "select queue_wait('t', .5)"},
	{query: "select queue_wait('t', 1.5.5)"}, {query: "select queue_wait('t', 1a)"},
	{query: "select queue_wait('t', 1_a)"}, {query: "select queue_wait('t', true)"},
	{query: "select queue_wait(distinct 't')"}, {query: "select queue_wait('t'"}, {query: "select queue_wait('t)"},
	{query: `select queue_wait('t\')`},
	{query: "select queue_wait('t' 'u')"}, {query: "select queue_wait('t'\"u\")"}, {query: "select queue_wait(n't')"},
	{query: "select queue_wait(_utf8'x')"},
	{query: "select queue_wait('t' collate utf8mb4_bin)"}, {query: "select queue_wait(:v1)"},
	{query: "select queue_wait(@x)"}, {query: "select queue_wait('t'@'u')"},
	{query: "select queue_wait(concat('t'))"}, {query: "select queue_wait(('t'))"}, {query: "select queue_wait(*)"},
	{query: "select all queue_wait('t')"},
	{query: "select queue_set_srcid()"}, {query: "select queue_set_srcid(1, 'a')"},
	{query: "select queue_set_srcid(1, 'a', 1, 1)"},
	{query: `select queue_wait("t")`, mode: ansi}, {query: `select queue_end() as "x"`, mode: ansi},
	{query: `select queue_end() as "x"`},
	{query: `select queue_wait('a\'b')`, mode: plainBackslash},
	{query: `select queue_wait('a\')`, mode: plainBackslash},
	{query: "select queue_wait('" + `\%` + "')"}, {query: "select queue_wait('" + `\_` + "')"},
	{query: "select queue_wait('t'" + strings.Repeat(", 't'", maxArgs) + ")"},

	// A SELECT that is more than a table.
	{query: "select * from t where a = 1"}, {query: "select * from t limit 1"}, {query: "select * from t order by a"},
	{query: "select * from t, u"},
	{query: "select * from t u"}, {query: "select * from t as u"}, {query: "select * from t join u"},
	{query: "select * from (select 1) t"}, {query: "select * from"},
	{query: "select * from dual"}, {query: "select * from d.`dual`"}, {query: "select *, a from t"},
	{query: "select a.* from t"}, {query: "select t.a from t"},
	{query: "select a b from t"}, {query: "select a as b from t"}, {query: "select a, from t"},
	{query: "select from t"}, {query: "select 1 from t"}, {query: "select 'a' from t"},
	{query: "select distinct a from t"}, {query: "select distinct * from t"}, {query: "select now() from t"},
	{query: "select count(*) from t"}, {query: "select @a from t"},
	{query: "select current_user from t"}, {query: "select true from t"}, {query: "select null from t"},
	{query: "select * from a.b.c"}, {query: "select * from d . t"},
	{query: "select * from .t"}, {query: "select * from d."}, {query: "select * from 1t"}, {query: "select * from t$"},
	{query: "select * from tä"}, {query: "select ``from t"},
	{query: "select `a``b` from t"}, {query: "select `a from t"}, {query: "select ` a` from t"},
	{query: "select `a ` from t"}, {query: "select `a\xff` from t"},
	{query: "select `a\n` from t"}, {query: "select \"a\" from t", mode: ansi}, {query: "select \"a\" from t"},
	{query: "select * from t for update"},
	{query: "select * from t partition (p)"}, {query: "select * from t union select * from t"},
	{query: "select * from t into outfile 'x'"}, {query: "select * from json_table"},
	{query: "select * from t procedure analyse()"}, {query: "select * from `" + strings.Repeat("a", maxName+1) + "`"},
	{query: "select * from " + strings.Repeat("a", maxName+1)},
	{query: "select " + strings.Repeat("a, ", maxColumns) + "a from t"}, {query: "select * from t -- x"},
	{query: "select * from comment.t"},

	// An INSERT that is more than literals.
	{query: "insert ignore into t values (1)"}, {query: "insert t values (1)"},
	{query: "insert low_priority into t values (1)"}, {query: "insert into t set a = 1"},
	{query: "insert into t select * from u"}, {query: "insert into t (select 1)"},
	{query: "insert into t values (1) on duplicate key update a = 1"},
	{query: "insert into t values (1) as n"}, {query: "insert into t values (1) returning a"},
	{query: "insert into t values row(1)"}, {query: "insert into t partition (p) values (1)"},
	{query: "insert into t () values ()"}, {query: "insert into t values ()"}, {query: "insert into t"},
	{query: "insert into t values"}, {query: "insert into t values (1),"},
	{query: "insert into t values (1"}, {query: "insert into t values 1"}, {query: "insert into t values (1))"},
	{query: "insert into t values (1) (2)"}, {query: "insert into t values (1,)"},
	{query: "insert into t (a,) values (1)"}, {query: "insert into t (a values (1)"},
	{query: "insert into t (a b) values (1)"}, {query: "insert into t (t.a) values (1)"},
	{query: "insert into t (1) values (1)"},
	{query: "insert into t (a, A) values (1, 2)"}, {query: "insert into t (a) values (1, 2)"},
	{query: "insert into t (a, b) values (1)"}, {query: "insert into t values (1), (1, 2)"},
	{query: "insert into t values (1, 2), (1)"},
	{query: "insert into t values (now())"}, {query: "insert into t values (unix_timestamp())"},
	{query: "insert into t values (default)"}, {query: "insert into t values (true)"},
	{query: "insert into t values (a)"}, {query: "insert into t values (nul)"}, {query: "insert into t values (nulls)"},
	{query: "insert into t values (null())"}, {query: "insert into t values (1 + 1)"},
	{query: "insert into t values ('a' 'b')"}, {query: "insert into t values ('a' || 'b')"},
	{query: "insert into t values (_utf8mb4'x')"}, {query: "insert into t values (_binary 'x')"},
	{query: "insert into t values (N'x')"},
	{query: "insert into t values (date '2026-01-01')"}, {query: "insert into t values (b'1')"},
	{query: "insert into t values (0b1)"}, {query: "insert into t values (0X41)"},
	{query: "insert into t values (0x)"},
	{query: "insert into t values (0xfg)"}, {query: "insert into t values (x'4')"},
	{query: "insert into t values (x'4g')"}, {query: "insert into t values (x '41')"},
	{query: `insert into t values (x"41")`}, {query: "insert into t values (x'41)"},
	{query: "insert into t values (x'41''42')"}, {query: "insert into t values (-0x41)"},
	{query: "insert into t values (-null)"}, {query: "insert into t values (-'1')"},
	{query: "insert into t values (-?)"}, {query: "insert into t values (??)"},
	{query: "insert into t values (1e5)"}, {query: "insert into t values (1.5e5)"},
	{query: "insert into t values (1.2.3)"}, {query: "insert into t values (1 2)"},
	{query: "insert into t values (" + strings.Repeat("9", maxInteger+1) + ")"},
	{query: "insert into t values (1." + strings.Repeat("9", maxDecimal) + ")"}, {query: `insert into t values ('\%')`},
	{query: `insert into t values ('a\_b')`}, {query: `insert into t values ('\')`},
	{query: `insert into t values ('a\`},
	{query: `insert into t values ('\n')`, mode: plainBackslash}, {query: `insert into t values ("a")`, mode: ansi},
	{query: "insert into dual values (1)"},
	{query: "insert into t values (1" + strings.Repeat(", 1", maxColumns) + ")"},
}

func TestADoubtGoesTheLongWay(t *testing.T) {
	for _, c := range refused {
		if s, ok := Parse(c.query, c.mode); ok {
			t.Errorf("%q (%+v) is recognized as %s", c.query, c.mode, canonical(s))
		}
	}
}

func TestTheColumnOfACallIsNamedAsItWasWritten(t *testing.T) {
	for query, label := range map[string]string{
		"SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)": "queue_wait('q4m_test:enqueued_at>=1501686146', 5)",
		"select  Queue_Wait ( 't',\r\n 5 ) ;":                      "Queue_Wait ( 't',\r\n 5 )",
		"select queue_end()":                                       "queue_end()",
		"select queue_wait(?)\n":                                   "queue_wait(?)",
		"select queue_end() AS Done":                               "Done",
		"select queue_end() `it is done`;":                         "it is done",
		"select\rqueue_end() Status\r":                             "Status",
		"select queue_wait('\xff')":                                "queue_wait('\xff')",
	} {
		if s, ok := recognizedRightly(t, query, Mode{}); !ok || s.Label != label {
			t.Errorf("%q has the column %q (%v), want %q", query, s.Label, ok, label)
		}
	}
}

func TestPlaceholdersAreNumberedInTheOrderOfTheText(t *testing.T) {
	s, ok := recognizedRightly(t, "insert into t (a, b, c) values (?, 'x?', ?), (1, ?, NULL)", Mode{})
	if !ok || s.Placeholders != 3 || s.Len() != 2 || s.Width() != 3 {
		t.Fatalf("%+v, %v", s, ok)
	}
	bound := []string{"first", "second", "third"}
	var got []string
	for i := range s.Len() {
		for _, v := range s.Row(i) {
			if v.Kind == Placeholder {
				got = append(got, bound[v.Index()])
			} else {
				got = append(got, v.Kind.String()+" "+v.Text())
			}
		}
	}
	if want := "first, string x?, second, integer 1, third, NULL "; strings.Join(got, ", ") != want {
		t.Errorf("bound: %q, want %q", got, want)
	}
}

func TestMoreThanTheBoundsGoesTheLongWay(t *testing.T) {
	wide := func(n int) string { return "(?" + strings.Repeat(",?", n-1) + ")" }
	most := maxParams / maxColumns // rows of maxColumns placeholders that are within the protocol's 65,535
	rest := maxParams - most*maxColumns
	if rest == 0 {
		t.Fatal("the bound divides evenly: ask for one more row")
	}
	text := "insert into t values " + wide(maxColumns)
	for range most - 1 {
		text += ", " + wide(maxColumns)
	}
	if s, ok := Parse(text, Mode{}); !ok || s.Placeholders != most*maxColumns {
		t.Errorf("%d placeholders are not recognized", most*maxColumns)
	}
	if _, ok := Parse(text+", "+wide(maxColumns), Mode{}); ok {
		t.Error("more placeholders than a statement can have are recognized")
	}
	ones := func(n int) string { return "insert into t values (1)" + strings.Repeat(",(1)", n-1) }
	if s, ok := Parse(ones(maxValues/4), Mode{}); !ok || s.Len() != maxValues/4 {
		t.Errorf("%d rows are not recognized", maxValues/4)
	}
	if _, ok := Parse(ones(maxValues+1), Mode{}); ok {
		t.Errorf("%d values are recognized", maxValues+1)
	}
}

func TestNothingIsCopied(t *testing.T) {
	body := strings.Repeat("x", 1000)
	for query, most := range map[string]float64{
		"SELECT queue_wait('q4m_test:enqueued_at>=1501686146', 5)": 1,
		"select queue_end()":            0,
		"select * from q4m_test":        0,
		"select id, body from q4m_test": 1,
		"INSERT INTO t (id, lang, body) VALUES (1, 'ja', '" + body + "')": 2,
		`INSERT INTO t VALUES (1, 'it\'s', '` + body + `')`:               1,
		// the list of values grows
		"INSERT INTO t VALUES (1, '" + body + "')" + strings.Repeat(", (?, '"+body+"')", 99): 8,
		"SELECT * FROM t WHERE a = 1": 0,
	} {
		if n := testing.AllocsPerRun(100, func() { Parse(query, Mode{}) }); n > most {
			t.Errorf("%.60q takes %v allocations, want at most %v", query, n, most)
		}
	}
}
