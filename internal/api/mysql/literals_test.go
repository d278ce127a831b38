package mysql

import "testing"

// TestLiteralsOfDatesAndTimesAreDatesAndTimes, and not their texts.
func TestLiteralsOfDatesAndTimesAreDatesAndTimes(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE lit (d date, at datetime(3), ti time) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO lit VALUES (DATE '2024-02-29', TIMESTAMP '2024-02-29 10:00:00.5', TIME '-01:02:03'), "+
		"({d '2024-03-01'}, {ts '2024-03-01 00:00:00'}, {t '10:11:12'})")
	answers(t, c, "lit", map[string]string{
		"DATE '2024-02-29' + 0": "20240229", "TIMESTAMP '2024-02-29 10:00:00' + 0": "20240229100000",
		"TIME '10:00:00' + 0": "100000", "floor(DATE '2024-02-29')": "20240229", "TIME '10:11:12.50'": "10:11:12.50",
		"DATE '2024-02-29' = '2024-2-29'": "1", "DATE '2024-01-31' + INTERVAL 1 MONTH": "2024-02-29",
		"TIME '10:20:30' + INTERVAL 1 HOUR":                   "11:20:30",
		"TIMESTAMP '2024-01-31 10:00:00' - INTERVAL 1 SECOND": "2024-01-31 09:59:59",
		"concat(DATE '2024-02-29', TIME '10:00:00')":          "2024-02-2910:00:00", "count(*)": "2",
		"sum(d = DATE '2024-02-29')": "1", "sum(at >= TIMESTAMP '2024-03-01 00:00:00')": "1",
		"sum(ti < TIME '00:00:00')":                              "1",
		"sum(d BETWEEN DATE '2024-02-29' AND DATE '2024-03-01')": "2", "max(ti)": "10:11:12",
		"datediff(DATE '2024-03-01', {d '2024-02-28'})": "2",
		"json_object('d', DATE '2024-02-29')":           `{"d": "2024-02-29"}`,
	})
}
