package mysql

import "testing"

// TestTextsAreFoundByTheirCollation: by their bytes, and without their case where a COLLATE says so.
func TestTextsAreFoundByTheirCollation(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE found (s varchar(20), d date, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO found VALUES ('aBc', '2024-02-29', 7)")
	answers(t, c, "found", map[string]string{
		"locate('b', s)": "0", "locate('B', s)": "2", "instr(s, 'b')": "0", "position('b' IN s)": "0",
		"locate('b', s COLLATE utf8mb4_general_ci)": "2", "instr(s, 'b' COLLATE utf8mb4_0900_ai_ci)": "2",
		"locate('b', s COLLATE utf8mb4_bin)": "0", "locate('É', 'xé' COLLATE utf8mb4_general_ci)": "2",
		"field('A', 'a', 'A')": "2", "field('A' COLLATE utf8mb4_general_ci, 'a', 'A')": "1", "field(s, 'abc')": "0",
		"field(s, 'x', 'aBc')": "2", "field(NULL, 1)": "0", "field('a', NULL, 'a')": "2",
	})
}

// TestFieldComparesNumbersWhereOneIsANumber, and texts where all are texts.
func TestFieldComparesNumbersWhereOneIsANumber(t *testing.T) {
	c := newRig(t, Config{}, nil).connect("")
	exec(t, c, "CREATE TABLE found (s varchar(20), d date, n int) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO found VALUES ('7.0', '2024-02-29', 7)")
	answers(t, c, "found", map[string]string{
		"field(2, '1', '2.0')": "2", "field('2', 1, 2)": "2", "field(2.0, 2)": "1", "field(n, s)": "1",
		"field('2x', 2)": "1", "field(n, 1, 7e0)": "2", "field(9223372036854775807, 9223372036854775806)": "0",
		"field(d, '2024-02-29')": "1", "field(d, 20240229)": "1", "field('2', '2.0')": "0", "field(NULL, 'a', 1)": "0",
	})
}
