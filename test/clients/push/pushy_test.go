package push_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sandbox/push/apns"
	"github.com/hikyaku/hikyaku/internal/sandbox/push/farend"
)

// TestPushySendsToTheSandboxUnchanged lets pushy push to the sandbox for APNs, with its default, which is HTTP/2 that
// the handshake does not name, and with ALPN. It signs its provider tokens in DER, as Java does.
func TestPushySendsToTheSandboxUnchanged(t *testing.T) {
	for _, alpn := range []bool{false, true} {
		t.Run("ALPN "+strconv.FormatBool(alpn), func(t *testing.T) {
			t.Parallel()
			gone := strings.Repeat("dead", 16)
			key, err := apns.NewKey(team, keyID)
			if err != nil {
				t.Fatal(err)
			}
			far, err := apns.Start(apns.Config{Keys: []*apns.Key{key}, Topics: []string{topic},
				Config: farend.Config{Behaviour: farend.Behaviour{Devices: []farend.Device{{Tokens: []string{gone},
					Faults: []farend.Fault{{Do: farend.Refuse, Reason: "Unregistered"}}}}}}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() {
				if err := far.Close(); err != nil {
					t.Error(err)
				}
			}()
			dir := t.TempDir()
			signer, ca := filepath.Join(dir, "signer.p8"), filepath.Join(dir, "ca.pem")
			for path, text := range map[string][]byte{signer: key.PEM, ca: far.Authority.PEM} {
				if err := os.WriteFile(path, text, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			path := filepath.Join(program.clients, "classes") + string(os.PathListSeparator) +
				filepath.Join(program.clients, "java", "*")
			checked(t, exec.CommandContext(t.Context(), "java", "-XX:TieredStopAtLevel=1", "-cp", path, "Client",
				"--alpn", strconv.FormatBool(alpn), "--gone", gone, "--endpoint", far.Addr().String(), "--ca", ca,
				"--key", signer, "--key-id", keyID, "--team-id", team, "--topic", topic), 8)
			if n := far.Counts(); n.Accepted != 1003 || n.Connections != 1 {
				t.Errorf("%+v", n)
			}
		})
	}
}
