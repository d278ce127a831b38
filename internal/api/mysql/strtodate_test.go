package mysql

import (
	"strings"
	"testing"
)

// TestDatesAreReadByTheirFormat: fractions, halves of a day and weeks as well, and what is no date is NULL.
func TestDatesAreReadByTheirFormat(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE one (f text) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO one VALUES ('%d/%m/%Y')")
	for call, want := range map[string]string{
		"'2024-01-01 10:11:12.123', '%Y-%m-%d %H:%i:%s.%f'": "2024-01-01 10:11:12.123000",
		"'10:11:12 PM', '%r'":                               "22:11:12", "'12:11:12 am', '%h:%i:%s %p'": "00:11:12",
		"'10:11', '%H:%i'": "10:11:00", "'10:11:12', '%T'": "10:11:12", "'00:00:00', '%H:%i:%s'": "00:00:00",
		"'200442 Monday', '%X%V %W'": "2004-10-18", "'200442 Mon', '%x%v %a'": "2004-10-11",
		"'2024 60', '%Y %j'":         "2024-02-29",
		"'Jan 5, 2024', '%b %e, %Y'": "2024-01-05", "'january 5th, 24', '%M %D, %y'": "2024-01-05",
		"'2024-01-01', '%Y-%m-%d %H:%i'": "2024-01-01 00:00:00", "'20240102', '%Y%m%d'": "2024-01-02",
		"'abc 12 ..2024-1-2', '%@ %# %.%Y-%m-%d'":      "2024-01-02",
		"'2024-01-02T03:04:05Z', '%Y-%m-%dT%H:%i:%sZ'": "2024-01-02 03:04:05",
		"' 70-1-1 ', '%Y-%c-%e'":                       "1970-01-01",
		"'01/02/2024', f":                              "2024-02-01 00:00:00.000000",
		"20240102, '%Y%m%d'":                           "2024-01-02", "NULL, '%Y'": "",
	} {
		answers(t, c, "one", map[string]string{"str_to_date(" + call + ")": want})
		exec(t, c, "SELECT str_to_date("+call+") FROM one")
		if got := warnings(t, c); got != "" {
			t.Errorf("%s: warnings %q", call, got)
		}
	}
	for _, call := range []string{
		"'9', '%m'", "'2024', '%Y'", "'2024-02-30', '%Y-%m-%d'", "'2024-13-01', '%Y-%m-%d'", "'13:00', '%h:%i'",
		"'2024-01-01 25:00', '%Y-%m-%d %H:%i'", "'x', '%Y'", "'', '%Y'", "'2024%', '%Y%%'", "'10 PM', '%H %p'",
		"'00/00/0000', '%m/%d/%Y'", "'2024 54 Mon', '%Y %u %a'", "'2024 10 Mon', '%Y %v %a'", "'2024-1', '%Y/%m'",
	} {
		answers(t, c, "one", map[string]string{"str_to_date(" + call + ")": ""})
		exec(t, c, "SELECT str_to_date("+call+")")
		if got := warnings(t, c); !strings.HasPrefix(got, "Warning 1411 Incorrect datetime value: ") {
			t.Errorf("%s: warnings %q", call, got)
		}
	}
	answers(t, c, "one", map[string]string{
		"str_to_date('2024-01-01x', '%Y-%m-%d')":      "2024-01-01",
		"str_to_date('10', '%H') + INTERVAL 1 HOUR":   "11:00:00",
		"str_to_date('01/02/2024', f) = '2024-02-01'": "1", "year(str_to_date('01/02/2024', '%d/%m/%Y'))": "2024",
		"str_to_date('01/02/2024', '%d/%m/%Y') + INTERVAL 1 DAY": "2024-02-02",
	})
}
