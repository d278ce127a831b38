package push_test

import (
	"crypto/tls"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/push"
)

func TestOnlyTheFilesCertificatesAreTrusted(t *testing.T) {
	pair, roots := certificate(t)
	good, bad := filepath.Join(t.TempDir(), "ca.pem"), filepath.Join(t.TempDir(), "bad.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: pair.Certificate[0]})
	for name, content := range map[string][]byte{good: text, bad: []byte("rubbish")} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if c, err := push.Trust(good); err != nil || !c.RootCAs.Equal(roots) || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("%+v, %v", c, err)
	}
	if c, err := push.Trust(""); err != nil || c.RootCAs != nil || c.MinVersion != tls.VersionTLS12 {
		t.Errorf("of the system: %+v, %v", c, err)
	}
	for _, name := range []string{bad, good + ".none"} {
		if _, err := push.Trust(name); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
