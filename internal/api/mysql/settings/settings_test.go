package settings

import "testing"

// TestADoorIsWantedByWhoSaysWhereItListens: a program that was built without it refuses such settings.
func TestADoorIsWantedByWhoSaysWhereItListens(t *testing.T) {
	for _, c := range []struct {
		Config
		wanted bool
	}{
		{Config{}, false},
		{Config{MaxConnections: 7}, false},
		{Config{Socket: NoSocket}, false},
		{Config{Listen: "127.0.0.1:3307"}, true},
		{Config{Socket: "/run/x.sock"}, true},
		{Config{Listen: "127.0.0.1:3307", Socket: NoSocket}, true},
		{Config{Off: true, Listen: "127.0.0.1:3307", Socket: "/run/x.sock"}, false},
	} {
		if got := c.Wanted(); got != c.wanted {
			t.Errorf("%+v: %v", c.Config, got)
		}
	}
}
