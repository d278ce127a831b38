package conformance

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// Exports runs what a page of the documents tells programs to export, and then each command as it is: each has to print
// want. The exports are the block that begins with the variable; shown is the page's address of the door, address the
// server's. bin is a folder with the commands.
func Exports(t *testing.T, page, variable, shown, address, bin string, commands map[string]string, want string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	block := regexp.MustCompile("(?s)```sh\n(export " + variable + "=.*?)```").FindSubmatch(text)
	if block == nil {
		t.Fatalf("docs/%s exports no %s", page, variable)
	}
	exports := strings.ReplaceAll(string(block[1]), shown, address)
	for name, command := range commands {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			shell := exec.CommandContext(ctx, "sh", "-eu", "-c", exports+command)
			shell.Env = []string{"PATH=" + bin + string(os.PathListSeparator) + os.Getenv("PATH"),
				"HOME=" + t.TempDir(), "LC_ALL=C.UTF-8", "AWS_EC2_METADATA_DISABLED=true"}
			out, err := shell.CombinedOutput()
			if err != nil || strings.TrimSpace(string(out)) != want {
				t.Errorf("%v: it prints\n%s\nnot %s", err, out, want)
			}
		})
	}
}
