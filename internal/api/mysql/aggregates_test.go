package mysql

import "testing"

// TestAggregatesStandBesideWhatDependsOnNoRow, as in what programs ask of a queue to watch it.
func TestAggregatesStandBesideWhatDependsOnNoRow(t *testing.T) {
	r := newRig(t, Config{}, nil)
	r.makeJobs(3)
	c := r.connect("")
	for _, statement := range []string{
		"SELECT COUNT(*) = 3 AND UNIX_TIMESTAMP() - MIN(v) > 0 FROM jobs",
		"SELECT UNIX_TIMESTAMP() - MIN(v) > COUNT(*) FROM jobs WHERE v > 1",
		"SELECT now() > '2020-01-01' AND max(v) = 3 AND database() = 'test' AND @@autocommit = 1 FROM jobs",
		"SELECT sum(v) + 0 * rand() = 6 FROM jobs",
		"SELECT (SELECT count(*) + connection_id() * 0 FROM jobs) = 3",
		"SELECT max(v) = 3 AND unix_timestamp() > 0 FROM jobs GROUP BY v % 2 HAVING unix_timestamp() > max(v) ORDER " +
			"BY max(v) DESC LIMIT 1",
		"SELECT timestampdiff(second, from_unixtime(min(v)), now()) > 1000 AND coalesce(unix_timestamp() - min(v), " +
			"0) > 0 FROM jobs",
	} {
		one(t, c, int64(1), statement)
		one(t, c, int64(1), statement+" -- ?")
	}
	if _, err := c.ExecContext(t.Context(),
		"SELECT COUNT(*), UNIX_TIMESTAMP(), v FROM jobs"); errorNumber(err) != 1140 {
		t.Errorf("a column beside an aggregate: %v", err)
	}
}

// TestDatesAndTimesAreAddedUpAsTheirNumbers, as MySQL does it.
func TestDatesAndTimesAreAddedUpAsTheirNumbers(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE added (d date, at datetime(3), ti time) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO added VALUES ('2024-02-29', '2024-02-29 12:34:56.789', '-12:34:56'), "+
		"(NULL, NULL, '00:00:06')")
	answers(t, c, "added", map[string]string{
		"sum(d)": "20240229", "avg(d)": "20240229.0000", "sum(at)": "20240229123456.789", "sum(ti)": "-123450",
		"avg(ti)": "-61725", "sum(d) OVER ()": "20240229",
	})
}
