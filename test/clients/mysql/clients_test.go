package clients_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

func TestEveryClientWorksWithoutUsers(t *testing.T) {
	everyClient(t, serve(t, false))
}

func TestEveryClientWorksWithUsersAndTLS(t *testing.T) {
	everyClient(t, serve(t, true))
}

// everyClient runs each client against a server, in a database of its own.
func everyClient(t *testing.T, s *server) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			program := conformance.Program{Name: c.name, Needs: c.needs, Command: c.command, Env: c.env}
			program.Check(t, c.expected(s.guarded), s.environment(c.database)...)
		})
	}
}
