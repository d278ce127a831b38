package access_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestWithoutUsersOnlyLoopbackIsListenedOn(t *testing.T) {
	for addr, loopback := range map[string]bool{
		"127.0.0.1:7700":          true,
		"127.9.9.9:0":             true,
		"[::1]:7700":              true,
		"[::ffff:127.0.0.1]:7700": true,
		"localhost:7700":          true,
		"LOCALHOST:7700":          true,
		"unix:/run/h.sock":        true,
		"/run/mysqld/mysqld.sock": true,
		":7700":                   false,
		"0.0.0.0:7700":            false,
		"[::]:7700":               false,
		"192.168.1.4:7700":        false,
		"example.com:7700":        false,
		"localhost.example.com:1": false,
		"127.0.0.1.nip.io:7700":   false,
		"":                        false,
	} {
		for _, tls := range []bool{false, true} {
			err := access.CheckListen(addr, false, tls)
			if (err == nil) != loopback {
				t.Errorf("%q without users: %v", addr, err)
			}
			if err != nil && !errors.Is(err, access.ErrExposed) {
				t.Errorf("%q: %v is not ErrExposed", addr, err)
			}
			if err := access.CheckListen(addr, true, tls); err != nil {
				t.Errorf("%q with users: %v", addr, err)
			}
		}
	}
}

func TestTheRefusalSaysWhatToDo(t *testing.T) {
	err := access.CheckListen("0.0.0.0:7700", false, false)
	for _, part := range []string{"0.0.0.0:7700", "127.0.0.1", "users:", "tls:"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%v lacks %q", err, part)
		}
	}
	if err := access.CheckListen("0.0.0.0:7700", false, true); strings.Contains(err.Error(), "tls:") {
		t.Errorf("asks for what is there: %v", err)
	}
	if err := access.CheckListen(":7700", false, false); !strings.Contains(err.Error(), "every address, port 7700") {
		t.Error(err)
	}
}

func TestADoorSaysWhatIsWrongWithItsAddressOrCertificate(t *testing.T) {
	bad := errors.New("door: bad")
	for _, c := range []struct {
		listen, cert, key string
		users             bool
		is                error
		says              string
	}{
		{"127.0.0.1:1", "", "", false, nil, ""},
		{"0.0.0.0:1", "c", "k", true, nil, ""},
		{"127.0.0.1", "", "", false, bad, `"127.0.0.1" is not host:port (127.0.0.1:5 is the default)`},
		{"127.0.0.1:70000", "", "", false, bad, "no port from 0 to 65535"},
		{"127.0.0.1:1", "c", "", false, bad, "needs both cert: and key:"},
		{"127.0.0.1:1", "", "k", true, bad, "needs both cert: and key:"},
		{"0.0.0.0:1", "c", "k", false, access.ErrExposed, "can be reached"},
	} {
		err := access.CheckDoor(bad, c.listen, "127.0.0.1:5", access.TLS{Cert: c.cert, Key: c.key}, c.users)
		if !errors.Is(err, c.is) || c.is != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}
