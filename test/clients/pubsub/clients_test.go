package clients_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

func TestEveryClientWorks(t *testing.T) {
	t.Parallel()
	dir := conformance.Folder(t)
	config := fmt.Sprintf("data_dir: %s\nshards: 3\napi:\n  http: { listen: 127.0.0.1:0 }\n  mysql: { off: true }\n  pubsub: { "+
		"listen: 127.0.0.1:0 }\n", filepath.Join(dir, "data"))
	server := conformance.Serve(t, built.Binary, dir, config, "pubsub")
	for _, c := range clients() {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			c.Check(t, c.expected(), "PUBSUB_EMULATOR_HOST="+server.Address, "CLIENT_PROJECT="+c.project,
				"LC_ALL=C.UTF-8")
		})
	}
}
