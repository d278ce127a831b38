package spelling

import (
	"slices"
	"strings"
	"testing"
)

func TestWhatTheParserDoesNotReadIsWrittenAnotherWay(t *testing.T) {
	for query, want := range map[string]string{
		"SELECT TRIM(BOTH FROM a), trim( leading/* x */from b)":  "SELECT TRIM(BOTH ' ' FROM a), trim( leading/* x */' ' from b)",
		"SELECT 1--n'5', 1--{fn abs(2)}, - -n'1'":                "SELECT 1- - '5', 1- -  abs(2) , - - '1'",
		"SELECT a IS UNKNOWN, a is not  unknown":                 "SELECT a IS NULL, a is not  NULL",
		"SELECT timestampadd(SQL_TSI_DAY, 1, a)":                 "SELECT timestampadd(DAY, 1, a)",
		"SELECT TIMESTAMPDIFF( sql_tsi_week , a, b)":             "SELECT TIMESTAMPDIFF( week , a, b)",
		"SELECT a + INTERVAL '1 02:03' DAY_MINUTE":               "SELECT a + INTERVAL 93780 SECOND",
		"SELECT a + INTERVAL '-1-2' year_month":                  "SELECT a + INTERVAL -14 MONTH",
		"SELECT a - interval '1:10' day_second":                  "SELECT a - interval 70 SECOND",
		"SELECT a - interval 5 hour_minute":                      "SELECT a - interval 300 SECOND",
		"SELECT a - interval '1.5' second_microsecond":           "SELECT a - interval 1500000 MICROSECOND",
		"SELECT a - interval -1.5 second_microsecond":            "SELECT a - interval -1500000 MICROSECOND",
		"SELECT a - interval '- 1x2' day_hour":                   "SELECT a - interval -93600 SECOND",
		"SELECT a - interval '1 2 3' day_hour":                   "SELECT a - interval NULL SECOND",
		"SELECT a - interval 'x' day_hour":                       "SELECT a - interval 0 SECOND",
		"SELECT a - interval '99999999999 1' day_hour":           "SELECT a - interval NULL SECOND",
		"SELECT a - interval null year_month":                    "SELECT a - interval NULL MONTH",
		"SELECT COUNT(DISTINCTROW a) UNION DISTINCTROW SELECT 1": "SELECT COUNT(DISTINCT a) UNION DISTINCT SELECT 1",
		"SELECT SQL_NO_CACHE HIGH_PRIORITY a":                    "SELECT SQL_NO_CACHE  a",
		"INSERT LOW_PRIORITY IGNORE INTO a VALUES (1)":           "INSERT  IGNORE INTO a VALUES (1)",
		"DELETE LOW_PRIORITY QUICK FROM a":                       "DELETE   FROM a",
		"DELETE FROM `a` AS `b` WHERE b.c = 1":                   "DELETE `b` FROM `a` AS `b` WHERE b.c = 1",
		"DELETE FROM q AS a WHERE a.v = 2 ORDER BY a.v LIMIT 1":  "DELETE FROM q  WHERE q.v = 2 ORDER BY q.v LIMIT 1",
		"DELETE FROM t.`q` `a` ORDER BY `a`.a LIMIT 1":           "DELETE FROM t.`q`  ORDER BY `q`.a LIMIT 1",
		"DELETE FROM q a WHERE a IN (SELECT a.b) LIMIT 1":        "DELETE FROM q a WHERE a IN (SELECT a.b) LIMIT 1",
		"DELETE FROM q a WHERE (a.b) LIMIT 1; SELECT a.b":        "DELETE FROM q  WHERE (q.b) LIMIT 1; SELECT a.b",
		"DELETE FROM q a WHERE (SELECT 1 LIMIT 1)":               "DELETE a FROM q a WHERE (SELECT 1 LIMIT 1)",
		"delete quick ignore from x.`a` b":                       "delete  ignore b from x.`a` b",
		"SELECT 1 = ANY (SELECT a), b=some(select c)":            "SELECT 1  IN (SELECT a), b IN(select c)",
		"SELECT 1 <> ALL (SELECT a), b!=all(select c)":           "SELECT 1  NOT IN (SELECT a), b NOT IN(select c)",
		"SELECT DISTINCTROW a":                                   "SELECT DISTINCT a",
		"SELECT HIGH_PRIORITY distinct SQL_BIG_RESULT a":         "SELECT  distinct  a",
		"SELECT a FROM b FORCE KEY FOR ORDER BY (c)":             "SELECT a FROM b FORCE KEY  (c)",
		"select a from b use index for join()":                   "select a from b use index ()",
		"SELECT `index` FOR UPDATE":                              "SELECT `index` FOR UPDATE",
		"SHOW KEYS IN a in b WHERE c IN (1); DO 1 IN (1)":        "SHOW KEYS FROM a FROM b WHERE c IN (1); DO 1 IN (1)",
		"SHOW TABLES IN a LIKE 'b'; SHOW KEYS IN x":              "SHOW TABLES FROM a LIKE 'b'; SHOW KEYS FROM x",
		"SHOW BINLOG EVENTS IN 'a' FROM 4":                       "SHOW BINLOG EVENTS IN 'a' FROM 4",
		"LOCK TABLE a READ":                                      "LOCK TABLES a READ",
		"SELECT ROW(1, 2) = ROW(a, b)":                           "SELECT  (1, 2) =  (a, b)",
		"SELECT a FROM b WHERE (a, b) IN (ROW(1,2), row (3,4))":  "SELECT a FROM b WHERE (a, b) IN ( (1,2),   (3,4))",
		"SELECT b'101', B'', 0b1000001, b'2', b '1', a.b, 0b2":   "SELECT  x'05',  x'',  x'41', b'2', b '1', a.b, 0b2",
		"CREATE TABLE a (n bit(3) DEFAULT b'101')":               "CREATE TABLE a (n bit(3) DEFAULT b'101')",
		"INSERT INTO a VALUES (N'x', n'y')":                      "INSERT INTO a VALUES ( 'x',  'y')",
		"SELECT a FROM b FOR SHARE; select a for share":          "SELECT a FROM b FOR UPDATE; select a for UPDATE",
		"select a for share of b nowait":                         "select a for UPDATE of b nowait",
		"SELECT SUBSTRING(a FROM 1 FOR share), `for` share":      "SELECT SUBSTRING(a FROM 1 FOR share), `for` share",
		"SET time_zone=SYSTEM, @@binlog_format := row":           "SET time_zone='SYSTEM', @@binlog_format := 'row'",
		"SET a=binary 'x', b = row + 1; SELECT a = system":       "SET a=binary 'x', b = row + 1; SELECT a = system",
		"ALTER SCHEMA a COLLATE b; alter table schema_":          "ALTER DATABASE a COLLATE b; alter table schema_",
		"SELECT {d '2026-01-02'}, {ts'2026-01-02 03:04:05' }":    "SELECT CAST('2026-01-02' AS DATE) , CAST('2026-01-02 03:04:05' AS DATETIME)  ",
		"SELECT date'2026-01-02', time '-03:04:05.50', a.date":   "SELECT CAST('2026-01-02' AS DATE), CAST('-03:04:05.50' AS TIME(2)), a.date",
		"SELECT timestamp '2026-01-02 03:04:05.1234567' > a":     "SELECT CAST('2026-01-02 03:04:05.1234567' AS DATETIME(6)) > a",
		"SELECT {d '2026-02-30'}, {t 'x'}":                       "SELECT DATE '2026-02-30' , TIME 'x' ",
		"SELECT {fn concat('}', {fn now()})}":                    "SELECT   concat('}',   now() ) ",
		"SELECT * FROM {oj a LEFT OUTER JOIN b ON a.x = b.x}":    "SELECT * FROM   a LEFT OUTER JOIN b ON a.x = b.x ",
	} {
		if got := Rewrite(query, true); got != want {
			t.Errorf("%s:\n got %s\nwant %s", query, got, want)
		}
	}
}

func TestWhatStandsInQuotesAndCommentsStays(t *testing.T) {
	for _, query := range []string{
		"SELECT 'TRIM(BOTH FROM a)', \"a IS UNKNOWN\", `{fn x}` /* {d '2026-01-02'} */ -- N'x'\n",
		`SELECT 'it\'s {fn x}', 'it''s = ANY (SELECT 1)'`,
		"VALUES ROW(1, 2), ROW(3, 4)",
		"SELECT a.trim FROM row WHERE b >= 1 AND c <=> d",
		"SELECT TRIM(BOTH 'x' FROM a), trim(a)",
		"SELECT 1 - 2 -- 3\n - 4 --", "SELECT {x 'a'}, {d now()}, }", "{t ''{fn}}", "{t n''}", "SELECT 1} IS UNKNOWN",
		"DELETE a FROM b AS a", "DELETE FROM a WHERE b = 1", "DELETE FROM a LIMIT 1",
		"DELETE FROM a USING b AS a", "DELETE FROM a.b", "DELETE FROM",
		"SELECT INTERVAL 1. DAY_HOUR + INTERVAL -x DAY_HOUR + INTERVAL 1a DAY_HOUR, a.distinctrow",
		"SELECT a + INTERVAL ? DAY_HOUR + INTERVAL 1 DAY",
		"SELECT EXTRACT(DAY_HOUR FROM a), @n'x', `n`'x'",
		"SELECT DATE '2026-02-30', DATE '2026-01-02.5', TIME 'x', date('2026-01-02'), TIMESTAMP '2026-01-02', DATE ?",
		"ALTER TABLE a ALTER b SET DEFAULT DATE '2026-01-02'", "SELECT GET_FORMAT(DATE, 'USA'), a.time '03:04:05'",
		"SELECT 'no end", `SELECT 'no end\`, "SELECT /* no end", "", "SELECT 1 --",
	} {
		if got := Rewrite(query, true); got != query {
			t.Errorf("%s: %s", query, got)
		}
	}
	if got, want := Rewrite(`SELECT 'a\', {fn now()}`, false), `SELECT 'a\',   now() `; got != want {
		t.Errorf("without escapes: %s, want %s", got, want)
	}
}

// FuzzRewrite: what is rewritten is rewritten once and for all, and no literal of the statement is lost.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{
		"SELECT TRIM(BOTH FROM 'a') IS UNKNOWN", "{ts '2'} {fn {d 'x'}}",
		"a = ANY (SELECT ROW(1,2)) <> ALL (SELECT N'x')",
		"INTERVAL '1 2:3:4.5' DAY_MICROSECOND", "TIMESTAMPADD(SQL_TSI_DAY, 1, /* { */ '\\'')",
	} {
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, query string, escapes bool) {
		once := Rewrite(query, escapes)
		if again := Rewrite(once, escapes); again != once {
			t.Errorf("%q is %q, and then %q", query, once, again)
		}
		if len(once) > 2*len(query)+64 {
			t.Errorf("%q grew to %q", query, once)
		}
		lower := strings.ToLower(query)
		if strings.Contains(lower, "trim") || strings.Contains(lower, "interval") || strings.Contains(lower, "0b") ||
			strings.Contains(lower, "b'") {
			return // they add a literal, or make a number or bytes of one
		}
		if got, want := literals(once, escapes), literals(query, escapes); !slices.Equal(got, want) {
			t.Errorf("%q became %q", query, once)
		}
	})
}

func literals(query string, escapes bool) (all []string) {
	s := scanner{text: query, escapes: escapes}
	for t := s.next(); t.kind != end; t = s.next() {
		if t.kind == quoted {
			all = append(all, query[t.at:t.end])
		}
	}
	return all
}
