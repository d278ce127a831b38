package secure_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/rows/secure"
)

func TestEachSettingThatCannotBeIsNamed(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	for setting, c := range map[string]secure.TLS{
		"tls: ":          {CertFile: empty},
		"tls.ca_file: ":  {CAFile: empty},
		"tls.ca_file:":   {CAFile: empty + ".not"},
		"tls.cert_file:": {CertFile: empty, KeyFile: empty},
	} {
		err := c.Check()
		if err == nil {
			_, err = c.Load("host")
		}
		var bad *component.SettingError
		if !errors.As(err, &bad) || !strings.Contains(err.Error(), strings.TrimRight(setting, ": ")) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

func TestTheHostIsExpectedUnlessAnotherNameIsSaid(t *testing.T) {
	for want, c := range map[string]secure.TLS{"host": {}, "other": {ServerName: "other"}} {
		got, err := c.Load("host")
		if err != nil || got.ServerName != want || got.InsecureSkipVerify {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
		if c.IsSet() != (want == "other") {
			t.Errorf("%+v: %v", c, c.IsSet())
		}
	}
}
