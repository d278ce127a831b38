//go:build linux

package databases_test

import (
	"database/sql"
	"fmt"
	"testing"
	"unicode/utf8"

	_ "github.com/go-sql-driver/mysql" // the driver

	"github.com/hikyaku/hikyaku/internal/api/mysql/charset"
)

// letterSets are MySQL's sets of up to three bytes a letter, which a client of the MySQL door may speak.
var letterSets = []string{
	"latin1", "latin2", "latin5", "latin7", "greek", "hebrew", "cp1250", "cp1251", "cp1256", "cp1257", "cp850", "cp852",
	"cp866", "koi8r", "koi8u", "macroman",
	"tis620", "ascii", "sjis", "cp932", "ujis", "eucjpms", "gbk", "gb2312", "big5", "euckr",
}

// TestEveryLetterIsMariaDBs has MariaDB, whose tables are MySQL's, read every code of each set, and write every letter
// of Unicode's first plane in it. In sets of one byte a letter we may have more than it has.
func TestEveryLetterIsMariaDBs(t *testing.T) {
	db, err := sql.Open("mysql", "root@tcp("+mariaDB(t).Address()+")/mysql?charset=utf8mb4")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, name := range letterSets {
		t.Run(name, func(t *testing.T) {
			s, ok := charset.Named(name)
			if !ok {
				t.Fatalf("there is no set %s", name)
			}
			compareReading(t, db, s)
			compareWriting(t, db, s)
		})
	}
}

// compareReading compares what codes mean.
func compareReading(t *testing.T, db *sql.DB, s *charset.Set) {
	t.Helper()
	codes := []string{"SELECT seq, UNHEX(HEX(seq)) b FROM seq_128_to_255"}
	if s.MaxBytes > 1 {
		codes = append(codes, "SELECT seq, UNHEX(HEX(seq)) b FROM seq_32768_to_65535")
	}
	if s.MaxBytes > 2 {
		codes = append(codes, "SELECT seq, UNHEX(CONCAT('8F', HEX(seq))) b FROM seq_32768_to_65535")
	}
	read := 0
	for _, of := range codes {
		pairs(t, db, fmt.Sprintf("SELECT b, CONVERT(CONVERT(b USING %s) USING utf8mb4) FROM (%s) codes ORDER BY seq",
			s.Name, of), func(code, theirs []byte) {
			ours, err := s.Decode(code)
			switch {
			case !aLetter(theirs) && (err != nil || !aLetter(ours) || s.MaxBytes == 1):
			case err != nil || string(ours) != string(theirs):
				t.Errorf("%X is read as %q (%v), want %q", code, ours, err, theirs)
			default:
				read++
			}
		})
	}
	if read == 0 && s.Name != "ascii" {
		t.Error("MariaDB has read no letter")
	}
}

// compareWriting compares how letters are written.
func compareWriting(t *testing.T, db *sql.DB, s *charset.Set) {
	t.Helper()
	letters := "SELECT seq, CONVERT(UNHEX(LPAD(HEX(seq), 8, '0')) USING utf32) b FROM seq_128_to_65535 WHERE seq NOT " +
		"BETWEEN 55296 AND 57343 AND seq <> 65533"
	pairs(t, db, fmt.Sprintf("SELECT CONVERT(b USING utf8mb4), CAST(CONVERT(b USING %s) AS BINARY) FROM (%s) letters "+
		"ORDER BY seq", s.Name, letters), func(letter, theirs []byte) {
		ours := s.Encode(letter)
		if back, _ := s.Decode(theirs); string(back) != string(letter) && string(ours) == "?" {
			return // it has none, or another letter: cp932's table writes U+6661 as U+6659
		}
		if string(ours) != string(theirs) && !(s.MaxBytes == 1 && string(theirs) == "?") {
			t.Errorf("%s (%U) is written as %X, want %X", letter, []rune(string(letter))[0], ours, theirs)
		}
	})
}

// aLetter tells whether a text is one letter, and not what stands for none.
func aLetter(text []byte) bool {
	r, n := utf8.DecodeRune(text)
	return n == len(text) && n > 0 && r != utf8.RuneError && r != '?'
}

// pairs hands over each row of two texts.
func pairs(t *testing.T, db *sql.DB, query string, each func(a, b []byte)) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var a, b sql.RawBytes
		if err := rows.Scan(&a, &b); err != nil {
			t.Fatal(err)
		}
		each(a, b)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
