package tsurugidb

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows"
)

func TestAWrongSettingIsNamed(t *testing.T) {
	t.Parallel()
	good := Config{Endpoint: "tcp://localhost", Config: rows.Config{Table: []string{"t"}}}
	for setting, spoil := range map[string][]func(*Config){
		"endpoint": {
			func(c *Config) { c.Endpoint = "" }, func(c *Config) { c.Endpoint = "localhost:12345" },
			func(c *Config) { c.Endpoint = "ipc:tsurugi" },
			func(c *Config) { c.Endpoint = "http://localhost" },
			func(c *Config) { c.Endpoint = "tcp://localhost/path" },
			func(c *Config) { c.Endpoint = "tcp://user@localhost" },
		},
		"table": {
			func(c *Config) { c.Table = nil }, func(c *Config) { c.Table = []string{"a..b"} },
			func(c *Config) { c.Table = []string{"other.t"} },
		},
		"credential.user": {
			func(c *Config) { c.Credential = Credential{Type: "user_password"} },
			func(c *Config) { c.Credential = Credential{Password: "x"} },
			func(c *Config) { c.Credential = Credential{Type: "auth_token", Token: "x", User: "y"} },
			func(c *Config) { c.Credential = Credential{User: strings.Repeat("x", 61)} },
		},
		"credential.token": {
			func(c *Config) { c.Credential = Credential{Type: "auth_token"} },
			func(c *Config) { c.Credential = Credential{Type: "user_password", User: "x", Token: "y"} },
		},
		"credential.file": {
			func(c *Config) { c.Credential = Credential{Type: "file"} },
			func(c *Config) { c.Credential = Credential{File: "x", User: "y"} },
			func(c *Config) { c.Credential = Credential{Type: "auth_token", Token: "x", File: "y"} },
		},
		"mode": {func(c *Config) { c.Mode = "overwrite" }},
	} {
		for i, s := range spoil {
			c := good
			s(&c)
			_, err := New(c, component.Env{})
			var wrong *component.SettingError
			if !errors.As(err, &wrong) || wrong.Setting != setting {
				t.Errorf("%s %d: %v", setting, i, err)
			}
		}
	}
	if _, err := New(good, component.Env{}); err != nil {
		t.Error(err)
	}
}

func TestATransactionTypeIsWrittenInAnyCase(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{"occ": "occ", "OCC": "occ", "ltx": "ltx", "LTX": "ltx", "rtx": "",
		"": ""} {
		var typ TransactionType
		err := typ.UnmarshalText([]byte(text))
		if want == "" && err == nil || want != "" && (err != nil || typ.String() != want) {
			t.Errorf("%q is %v, %v", text, typ, err)
		}
	}
}

func TestFewSizesOfStatementsMakeAnyNumberOfRows(t *testing.T) {
	t.Parallel()
	for columns := 1; columns <= 2000; columns++ {
		all := sizes(columns, mostParams)
		last := all[len(all)-1].rows
		if all[0].rows*columns > mostParams && all[0].rows > 1 || last != 1 || len(all) > 7 {
			t.Fatalf("%d columns: %v", columns, all)
		}
		for i := 1; i < len(all); i++ {
			if all[i].rows >= all[i-1].rows {
				t.Fatalf("%d columns: %v", columns, all)
			}
		}
	}
	if at := sizes(10, mostParams)[0].rows; at < 100 {
		t.Errorf("%d rows of ten columns in a statement", at)
	}
}
