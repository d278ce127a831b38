package q4m

import (
	"bufio"
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/hikyaku/hikyaku/internal/bench/harness"
)

// said is a connection on which a server has said all that it ever will. What is written is lost.
type said struct{ io.Reader }

func (said) Write(b []byte) (int, error)      { return len(b), nil }
func (said) Close() error                     { return nil }
func (said) LocalAddr() net.Addr              { return nil }
func (said) RemoteAddr() net.Addr             { return nil }
func (said) SetDeadline(time.Time) error      { return nil }
func (said) SetReadDeadline(time.Time) error  { return nil }
func (said) SetWriteDeadline(time.Time) error { return nil }

func hearing(answer []byte) *lightLine {
	c := said{bytes.NewReader(answer)}
	return &lightLine{conn: c, in: bufio.NewReader(c), stop: func() bool { return true }}
}

// packets writes packets as a server does.
func packets(bodies ...string) (all []byte) {
	for i, b := range bodies {
		all = append(all, byte(len(b)), byte(len(b)>>8), byte(len(b)>>16), byte(i+1))
		all = append(all, b...)
	}
	return all
}

const (
	end     = "\xfe\x00\x00\x02\x00"
	done    = "\x00\x00\x00\x02\x00\x00\x00"
	refused = "\xff\x15\x04#28000no"
)

func TestLightReadsTheFirstValueOfAnAnswer(t *testing.T) {
	long := strings.Repeat("x", 300)
	for name, c := range map[string]struct {
		said   []string
		answer string
		found  bool
	}{
		"nothing to show":   {[]string{done}, "", false},
		"no row":            {[]string{"\x01", "column", end, end}, "", false},
		"one":               {[]string{"\x01", "column", end, "\x011", end}, "1", true},
		"of two columns":    {[]string{"\x02", "a", "b", end, "\x02ab\x01c", end}, "ab", true},
		"of two rows":       {[]string{"\x01", "a", end, "\x01a", "\x01b", end}, "a", true},
		"null":              {[]string{"\x01", "a", end, "\xfb", end}, "", true},
		"of more than 250":  {[]string{"\x01", "a", end, "\xfc\x2c\x01" + long, end}, long, true},
		"with an empty one": {[]string{"\x01", "a", end, "\x00", end}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			answer, found, err := hearing(packets(c.said...)).ask("SELECT 1")
			if err != nil || answer != c.answer || found != c.found {
				t.Errorf("%q, %v, %v", answer, found, err)
			}
		})
	}
}

func TestLightTellsWhatTheServerRefused(t *testing.T) {
	_, _, err := hearing(packets(refused)).ask("SELECT 1")
	var e *mysql.MySQLError
	if !errors.As(err, &e) || e.Number != 1045 || string(e.SQLState[:]) != "28000" || e.Message != "no" {
		t.Errorf("%#v", err)
	}
	if err := hearing(packets(refused)).execute("a", "b", 1); !errors.As(err, &e) {
		t.Errorf("an insert: %v", err)
	}
}

func TestLightDoesNotBelieveWhatItCannotRead(t *testing.T) {
	for name, answer := range map[string][]byte{
		"nothing":                  nil,
		"half a head":              {1, 0},
		"an empty packet":          {0, 0, 0, 1},
		"a packet of 16 MB":        {0xff, 0xff, 0xff, 1},
		"half a packet":            {9, 0, 0, 1, 1},
		"a value beyond its row":   packets("\x01", "a", end, "\x09a", end),
		"a length that is cut":     packets("\x01", "a", end, "\xfc\x01", end),
		"no end of the columns":    packets("\x01", "a", "\x01a", end),
		"an error without a code":  packets("\xff"),
		"a file that it asks for":  packets("\xfbname"),
		"columns without a length": packets("\xfc"),
	} {
		t.Run(name, func(t *testing.T) {
			if answer, _, err := hearing(answer).ask("SELECT 1"); err == nil {
				t.Errorf("it read %q", answer)
			}
		})
	}
	if err := hearing(packets("\x00\x01\x00\x00\x00\x00\x00\x02\x00\x00\x00\x00")).prepare("?"); !errors.Is(err,
		harness.ErrProtocol) {
		t.Errorf("a statement with two placeholders: %v", err)
	}
}

func greeting(plugin string) string {
	salt := "12345678" + "\x00" + "\xff\xff" + "\x2d" + "\x02\x00" + "\xff\xff" + "\x15" + strings.Repeat("\x00", 10) +
		"abcdefghijkl" + "\x00"
	return "\x0a8.0\x00" + "\x01\x00\x00\x00" + salt + plugin + "\x00"
}

func TestLightSignsIn(t *testing.T) {
	native := "mysql_native_password"
	for name, c := range map[string]struct {
		said []string
		says string // of the error; "": none
	}{
		"at once": {[]string{greeting(native), done}, ""},
		"by another way": {[]string{greeting("caching_sha2_password"),
			"\xfe" + native + "\x00" + strings.Repeat("s", 20) + "\x00", done}, ""},
		"with what is known already": {[]string{greeting("caching_sha2_password"), "\x01\x03", done}, ""},
		"not without TLS":            {[]string{greeting("caching_sha2_password"), "\x01\x04"}, "over TLS"},
		"not in a way it has not":    {[]string{greeting("dialog")}, "dialog"},
		"not where it is refused":    {[]string{greeting(native), refused}, "no"},
		"not at a full server":       {[]string{refused}, "no"},
		"not after a short greeting": {[]string{"\x0a8.0\x00short"}, "cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			to := mysql.NewConfig()
			to.User, to.Passwd = "worker", "secret"
			err := hearing(packets(c.said...)).signIn(to)
			if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v, want %q", err, c.says)
			}
		})
	}
}

// A server that keeps the hash of the hash finds the hash in the token, and checks it.
func TestTokensShowThatThePasswordIsKnown(t *testing.T) {
	salt := []byte("abcdefghijklmnopqrst")
	token, err := secretToken("mysql_native_password", "secret", salt)
	if err != nil {
		t.Fatal(err)
	}
	inner := sha1.Sum([]byte("secret"))
	kept := sha1.Sum(inner[:])
	mixed := sha1.Sum(append(append([]byte{}, salt...), kept[:]...))
	if found := sha1.Sum(xor(token, mixed[:])); found != kept {
		t.Error("the native token is not of the password")
	}
	if token, err = secretToken("caching_sha2_password", "secret", salt); err != nil {
		t.Fatal(err)
	}
	inner2 := sha256.Sum256([]byte("secret"))
	kept2 := sha256.Sum256(inner2[:])
	mixed2 := sha256.Sum256(append(append([]byte{}, kept2[:]...), salt...))
	if found := sha256.Sum256(xor(token, mixed2[:])); found != kept2 {
		t.Error("the sha2 token is not of the password")
	}
	if token, err := secretToken("dialog", "", salt); token != nil || err != nil {
		t.Errorf("without a password there is nothing to show: %v, %v", token, err)
	}
}

func FuzzLight(f *testing.F) {
	f.Add(packets("\x01", "a", end, "\x011", end))
	f.Add(packets(done))
	f.Add(packets(refused))
	f.Add(packets(greeting("mysql_native_password"), "\xfemysql_native_password\x00salt", done))
	f.Add(packets("\x00\x01\x00\x00\x00\x00\x00\x03\x00\x00\x00\x00", "a", "b", "c", end))
	f.Fuzz(func(t *testing.T, answer []byte) {
		to := mysql.NewConfig()
		to.Passwd = "secret"
		_ = hearing(answer).signIn(to)
		if text, found, err := hearing(answer).ask("SELECT 1"); err == nil && !found && text != "" {
			t.Errorf("%q without a row", text)
		}
		_ = hearing(answer).prepare("?")
		_ = hearing(answer).ping()
	})
}
