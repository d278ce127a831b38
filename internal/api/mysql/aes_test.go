package mysql

import (
	"database/sql"
	"testing"
)

// TestAESIsThatOfMySQL: the bytes of MariaDB, and of MySQL's manual for the modes.
func TestAESIsThatOfMySQL(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	exec(t, c, "CREATE TABLE secrets (name varchar(10), body varbinary(100)) ENGINE=QUEUE")
	exec(t, c, "INSERT INTO secrets VALUES ('a', AES_ENCRYPT('飛脚', 'key')), ('b', AES_ENCRYPT('two', 'key'))")
	check := func(want, statement string) {
		t.Helper()
		var got sql.NullString
		if err := c.QueryRowContext(t.Context(), statement).Scan(&got); err != nil || got.String != want {
			t.Errorf("%s: %q, %v, want %q", statement, got.String, err, want)
		}
	}
	check("F6BD0FA8DCB7F8CD4A2FAABC54668044", "SELECT HEX(AES_ENCRYPT('text', 'password'))")
	check("0DD4C22A2B7B8F7F0E7480CE1D13A486", "SELECT HEX(AES_ENCRYPT('', REPEAT('k', 40)))")
	check("DC7366FE05E4B4DFD8B1CFEEB4C13BEA932F1B1E9189536B938A6B67666D4031",
		"SELECT HEX(AES_ENCRYPT(REPEAT('x', 16), 'k'))")
	check("1", "SELECT AES_DECRYPT('junk', 'k') IS NULL AND AES_ENCRYPT(NULL, 'k') IS NULL AND "+
		"AES_DECRYPT(AES_ENCRYPT('a', 'k'), 'other') IS NULL")
	check("飛脚", "SELECT AES_DECRYPT(body, 'key') FROM secrets WHERE name = 'a'")
	check("two", "SELECT CAST(AES_DECRYPT(body, 'key') AS CHAR) FROM secrets ORDER BY AES_DECRYPT(body, 'key') LIMIT 1")
	exec(t, c, "SET block_encryption_mode = 'aes-256-cbc'")
	check("text", "SELECT AES_DECRYPT(AES_ENCRYPT('text', SHA2('my secret', 512), '0123456789abcdef'), "+
		"SHA2('my secret', 512), '0123456789abcdef')")
	_, err := c.ExecContext(t.Context(), "SELECT AES_ENCRYPT('text', 'k', 'short')")
	failsWith(t, err, 1882, "HY000", "a vector that is too short")
	_, err = c.ExecContext(t.Context(), "SELECT AES_ENCRYPT('text', 'k')")
	failsWith(t, err, 1582, "42000", "no vector")
	exec(t, c, "SET block_encryption_mode = 'aes-128-ofb'")
	_, err = c.ExecContext(t.Context(), "SELECT AES_ENCRYPT('text', 'k', '0123456789abcdef')")
	failsWith(t, err, 1235, "42000", "another mode")
}
