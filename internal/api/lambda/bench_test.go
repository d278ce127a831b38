package lambda

import (
	"bytes"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/hikyaku/hikyaku/internal/deployment"
)

// BenchmarkWarmInvoke is one client over one connection; with -cpu 16 there are sixteen.
func BenchmarkWarmInvoke(b *testing.B) {
	folder := b.TempDir()
	if out, err := exec.Command("go", "build", "-o", filepath.Join(folder, "bootstrap"), "../../function/testdata/bootstrap").CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	r := openRig(b, b.TempDir(), Config{}, nil)
	if _, err := r.functions.Create(b.Context(), "f", deployment.Settings{Runtime: "provided.al2023", MemoryMB: 2048}, deployment.Code{Folder: folder}, nil); err != nil {
		b.Fatal(err)
	}
	web := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	defer web.CloseIdleConnections()
	event := []byte(`{}`)
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			resp, err := web.Post(r.base+functions+"/f/invocations", "application/json", bytes.NewReader(event))
			if err != nil {
				b.Error(err)
				return
			}
			if _, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != http.StatusOK || resp.Body.Close() != nil {
				b.Errorf("%s, %v", resp.Status, err)
				return
			}
		}
	})
}
