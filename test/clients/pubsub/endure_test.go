package clients_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

// survival is how long the clients publish and receive before the server is killed. It is killed once: after a second
// time in a row the libraries wait for up to a minute before they try again.
const survival = 2 * time.Second

// endured are the checks of the programs under which the server is killed.
var endured = []string{"all-published", "nothing-lost", "nothing-doubled"}

// TestClientsSurviveThatTheServerIsKilled: clients reconnect by themselves, what was published is received, and what
// was acknowledged for good stays so.
func TestClientsSurviveThatTheServerIsKilled(t *testing.T) {
	t.Parallel() // it waits most of the time
	dir := conformance.Folder(t)
	config := func(address string) string {
		return fmt.Sprintf("data_dir: %s\napi:\n  http: { off: true }\n  mysql: { off: true }\n  pubsub: { listen: "+
			"%s }\n", filepath.Join(dir, "data"), address)
	}
	server := conformance.Serve(t, built.Binary, dir, config("127.0.0.1:0"), "pubsub")
	address := server.Address
	all := clients()
	running := map[string]*conformance.Running{}
	for _, c := range all {
		c.Command = append(c.Command, "endure")
		running[c.Name] = c.Start(t, "PUBSUB_EMULATOR_HOST="+address, "CLIENT_PROJECT="+c.project,
			"CLIENT_SIGNALS="+dir, "LC_ALL=C.UTF-8")
	}
	for _, c := range all {
		appears(t, filepath.Join(dir, c.project), running[c.Name])
	}
	<-time.After(survival)
	server.Restart(t, config(address))
	if err := os.WriteFile(filepath.Join(dir, "stop"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range all {
		t.Run(c.Name, func(t *testing.T) { running[c.Name].Finish(t, endured) })
	}
}

// appears waits until a program has made a file.
func appears(t *testing.T, path string, r *conformance.Running) {
	t.Helper()
	look := time.NewTicker(20 * time.Millisecond)
	defer look.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return
		}
		select {
		case <-look.C:
		case <-r.Ended():
			r.Finish(t, endured)
			t.Fatalf("the program of %s received nothing", filepath.Base(path))
		}
	}
}
