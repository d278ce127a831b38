package mysql

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
	"testing"

	driver "github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/api/mysql/charset"
)

// TestClientsSpeakTheirCharacterSets puts texts in by statements and parameters, and gets them out in that set and in
// UTF-8. Tables, columns and errors are named in it as well.
func TestClientsSpeakTheirCharacterSets(t *testing.T) {
	texts := map[string]string{
		"sjis": "ソ表十能ｱ", "cp932": "ソ表①髙～", "ujis": "日本語ｱ丂", "eucjpms": "日本語①～", "gbk": "你好乗", "gb2312": "你好",
		"big5": "你好功", "euckr": "안녕", "gb18030": "你好💩",
		"cp1251": "Привет", "koi8r": "Привет", "latin1": "café€", "latin2": "Łódź", "greek": "Ελλάς", "utf8mb4": "飛脚",
		"utf8mb3": "飛脚",
	}
	for _, noShort := range []bool{false, true} {
		r := newRig(t, Config{}, nil)
		r.door.noShort = noShort
		for set, text := range texts {
			t.Run(fmt.Sprintf("%s, long %t", set, noShort), func(t *testing.T) { r.speaks(t, set, text) })
		}
	}
}

func (r *rig) speaks(t *testing.T, set, text string) {
	encode := func(s string) string { return s }
	if s, ok := charset.Named(set); ok {
		encode = func(text string) string { return string(s.Encode([]byte(text))) }
	}
	raw, utf := r.connect("interpolateParams=false"), r.connect("")
	exec(t, raw, "SET NAMES "+set)
	own := encode(text)
	exec(t, raw, "CREATE TABLE IF NOT EXISTS `"+own+"` (`"+own+"` varchar(50), b blob, n int) ENGINE=QUEUE")
	exec(t, raw, "INSERT INTO `"+own+"` VALUES ('"+own+"', '"+own+"', 1)")
	exec(t, raw, "INSERT INTO `"+own+"` VALUES ('"+own+"', '"+own+"', 1+0)")
	exec(t, raw, "INSERT INTO `"+own+"` (b, `"+own+"`) VALUES (?, ?)", own, own)
	exec(t, raw, "INSERT INTO `"+own+"` (b, `"+own+"`, n) VALUES (?, ?, abs(-3))", own, own)
	for _, statement := range []string{"SELECT `" + own + "` FROM `" + own + "`",
		"SELECT concat(`" + own + "`, '') AS `" + own + "` FROM `" + own + "` WHERE `" + own + "` = '" + own + "'"} {
		for _, args := range [][]any{nil, {1}} {
			query := statement
			if args != nil {
				query = "SELECT * FROM (" + statement + ") AS s WHERE 1 = ?"
			}
			rows, err := raw.QueryContext(t.Context(), query, args...)
			if err != nil {
				t.Fatal(err)
			}
			if names, _ := rows.Columns(); names[0] != own {
				t.Errorf("%s: the column is called %q, want %q", query, names[0], own)
			}
			n := 0
			for ; rows.Next(); n++ {
				var got string
				if err := rows.Scan(&got); err != nil || got != own {
					t.Errorf("%s: %q, %v, want %q", query, got, err, own)
				}
			}
			if rows.Close(); n != 4 {
				t.Errorf("%s: %d rows", query, n)
			}
		}
	}
	one(t, utf, int64(4), "SELECT COUNT(*) FROM `"+text+"` WHERE `"+text+"` = '"+text+"'")
	for i := range 4 { // bytes are what was sent, whatever it is as a text
		var got []byte
		if err := utf.QueryRowContext(t.Context(), fmt.Sprintf("SELECT b FROM `%s` LIMIT 1 OFFSET %d", text,
			i)).Scan(&got); err != nil || string(got) != own {
			t.Errorf("bytes %d: %q, %v, want %q", i, got, err, own)
		}
	}
	if _, err := raw.ExecContext(t.Context(), "SELECT * FROM `no"+own+"`"); err == nil ||
		!strings.Contains(err.Error(), "Table 'test.no"+own+"'") {
		t.Errorf("an error names %v", err)
	}
	exec(t, raw, "DROP TABLE `"+own+"`")
}

// TestCharacterSetsThatNobodySpeaksAreRefused, in each way to ask for one; the connection goes on.
func TestCharacterSetsThatNobodySpeaksAreRefused(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	for statement, want := range map[string]int{
		"SET NAMES hp8": 1115, "SET NAMES macce": 1115, "SET NAMES nothing": 1115, "SET NAMES keybcs2": 1115,
		"SET CHARACTER SET hp8": 1115,
		"SET NAMES ucs2":        1231, "SET NAMES utf16": 1231, "SET character_set_client = utf32": 1231,
		"SET character_set_results = 'hp8'": 1115,
		"SET NAMES binary":                  0, "SET NAMES 'sjis'": 0, "SET NAMES sjis COLLATE sjis_bin": 0,
		"SET NAMES latin1 COLLATE latin1_german2_ci": 0, "SET CHARACTER SET cp932": 0,
		"SET character_set_results = NULL": 0, "SET NAMES utf8mb4": 0, "SET NAMES DEFAULT": 0,
	} {
		if _, err := c.ExecContext(t.Context(), statement); errorNumber(err) != want {
			t.Errorf("%s: %v, want error %d", statement, err, want)
		}
		one(t, c, "it goes on", "SELECT 'it goes on'")
		one(t, c, int64(1), "SELECT lower('A') = 'a' AND upper(concat('a', 'b')) = 'AB' AND 'ab' LIKE 'a%'")
	}
	exec(t, c, "SET NAMES sjis")
	if _, err := c.ExecContext(t.Context(), "SELECT '\x81'"); errorNumber(err) != 1300 {
		t.Errorf("what is no text: %v", err)
	}
	one(t, c, "sjis", "SELECT @@character_set_client")
}

// TestALoginSpeaksTheSetThatItNames: the number of a collation.
func TestALoginSpeaksTheSetThatItNames(t *testing.T) {
	r := newRig(t, Config{}, nil)
	for collation, want := range map[byte]string{13: "\x94\xf2\x8b\x72", 95: "\x94\xf2\x8b\x72", 12: "\xc8\xf4\xb5\xd3",
		8: "??", 45: "飛脚", 0: "飛脚", 255: "飛脚", 63: "飛脚"} {
		c, err := logInAs(t, r.addr, collation)
		if err != nil {
			t.Errorf("collation %d: %v", collation, err)
			continue
		}
		c.want("SELECT _utf8mb4 x'e9a39be8849a'", want)
	}
	if _, err := logInAs(t, r.addr, 6); err == nil || !strings.Contains(err.Error(), "error 1115") {
		t.Errorf("a set that nobody speaks: %v", err)
	}
}

// logInAs logs in with a collation's number.
func logInAs(t *testing.T, addr string, collation byte) (*rawClient, error) {
	t.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	c := &rawClient{t: t, conn: conn}
	c.must()
	login := binary.LittleEndian.AppendUint32(nil, 0x200|0x8|0x8000|0x80000)
	login = append(binary.LittleEndian.AppendUint32(login, 1<<24), collation)
	login = append(append(login, make([]byte, 23)...), "root\x00\x00test\x00mysql_native_password\x00"...)
	c.write(1, login)
	if p := c.must(); p[0] == 0xff {
		return nil, fmt.Errorf("error %d: %s", binary.LittleEndian.Uint16(p[1:]), p[9:])
	}
	return c, nil
}

// TestAllBytesOfATextInLatin1 is what older clients do that speak of nothing else: whatever they put in, also as a text
// for bytes, comes back.
func TestAllBytesOfATextInLatin1(t *testing.T) {
	all := make([]byte, 256)
	for i := range all {
		all[i] = byte(i)
	}
	for _, noShort := range []bool{false, true} {
		r := newRig(t, Config{}, nil)
		r.door.noShort = noShort
		config, err := driver.ParseDSN(
			fmt.Sprintf("root@tcp(%s)/test?interpolateParams=true&charset=latin1&collation=latin1_swedish_ci", r.addr))
		if err != nil {
			t.Fatal(err)
		}
		c := r.connectTo(config)
		exec(t, c, "CREATE TABLE v (s text, b blob) ENGINE=QUEUE")
		exec(t, c, "INSERT INTO v VALUES (?, ?)", string(all), string(all))
		var s, b []byte
		if err := c.QueryRowContext(t.Context(), "SELECT s, b FROM v").Scan(&s, &b); err != nil ||
			!bytes.Equal(s, all) || !bytes.Equal(b, all) {
			t.Errorf("long %t: %q and %q, %v", noShort, s, b, err)
		}
	}
}
