//go:build linux

package databasetest_test

import (
	"context"
	"net"
	"os"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/internal/databasetest"
)

func reachable(t *testing.T, s *databasetest.Server) bool {
	t.Helper()
	c, err := net.Dial("tcp", s.Address())
	if err != nil {
		return false
	}
	return c.Close() == nil
}

func TestServersStopAreKilledFreezeAndComeBack(t *testing.T) {
	for name, start := range map[string]func(context.Context, ...string) (*databasetest.Server, error){
		"PostgreSQL": databasetest.StartPostgres, "MariaDB": databasetest.StartMariaDB,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, err := start(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			for _, end := range []func() error{s.Stop, s.Kill} {
				must(end())
				if s.PID() != 0 || reachable(t, s) {
					t.Error("it is still there")
				}
				must(s.Start(t.Context()))
			}
			must(s.Freeze())
			if !reachable(t, s) {
				t.Error("a frozen server takes no connections")
			}
			c, err := net.Dial("tcp", s.Address())
			must(err)
			must(c.SetDeadline(time.Now().Add(20 * time.Millisecond)))
			if n, err := c.Read(make([]byte, 1)); n > 0 || err == nil {
				t.Error("a frozen server speaks")
			}
			must(c.Close())
			must(s.Thaw())
			must(s.Stop())
			must(s.Start(t.Context()))
			must(s.Close())
			if _, err := os.Stat(s.Dir()); !os.IsNotExist(err) {
				t.Errorf("its folder is left: %v", err)
			}
		})
	}
}
