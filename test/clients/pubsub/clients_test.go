package clients_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// settings are those of a server whose data is below a folder.
func settings(dir string) string {
	return fmt.Sprintf("data_dir: %s\nshards: 3\napi:\n  http: { listen: 127.0.0.1:0 }\n  mysql: { off: true }\n  pubsub: { "+
		"listen: 127.0.0.1:0 }\n", filepath.Join(dir, "data"))
}

func TestEveryClientWorks(t *testing.T) {
	t.Parallel()
	dir := conformance.Folder(t)
	server := conformance.Serve(t, built.Binary, dir, settings(dir), "pubsub")
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.check(t, server)
		})
	}
}

// TestAClientWorksAtANodeThatPassesItOn is a sample of what make test-cluster does with every client of every door.
func TestAClientWorksAtANodeThatPassesItOn(t *testing.T) {
	t.Parallel()
	dir := conformance.Folder(t)
	clients()[0].check(t, conformance.ServeCluster(t, built.Binary, dir, settings(dir), "pubsub"))
}

func (c *client) check(t *testing.T, server *conformance.Server) {
	t.Helper()
	c.Check(t, c.expected(), "PUBSUB_EMULATOR_HOST="+server.Address, "CLIENT_PROJECT="+c.project, "LC_ALL=C.UTF-8")
}
