package docs

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "write down anew what the blocks print")

// binDir holds the program, built once for all tests.
var binDir string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "hikyaku-docs-")
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		defer os.RemoveAll(dir)
		binDir = dir
		build := exec.Command("go", "run", "-tags", "gms_pure_go", "-exec", "cp", "./cmd/hikyaku",
			filepath.Join(dir, "hikyaku"))
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			fmt.Fprintf(os.Stderr, "build: %v\n%s", err, out)
			return 1
		}
		return m.Run()
	}())
}

// patience is how long all blocks of a page may take together.
const patience = 5 * time.Minute

func TestEveryCommandDoesWhatThePageShows(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "make"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Fatalf("the documents use %s: install it", tool)
		}
	}
	for _, p := range ours(t) {
		t.Run(strings.ReplaceAll(p.path, "/", "-"), func(t *testing.T) {
			t.Parallel()
			runPage(t, p)
		})
	}
}

// run is one block to run and what it has to print.
type run struct {
	block
	shown *block // nil: the page does not show it
}

func runs(t *testing.T, p *page) (all []run) {
	for i := range p.blocks {
		b := p.blocks[i]
		program := isProgram(&b)
		if b.language != "sh" && !program {
			continue
		}
		if reason, left := strings.CutPrefix(b.note, "not run:"); left {
			if strings.TrimSpace(reason) == "" {
				t.Errorf("%s:%d: the block is not run, but nobody says why", p.path, b.line())
			}
			continue
		}
		if program {
			b.lines = goRun(&b)
		}
		r := run{block: b}
		if i+1 < len(p.blocks) && p.blocks[i+1].language == "text" {
			r.shown = &p.blocks[i+1]
		}
		all = append(all, r)
	}
	return all
}

// isProgram tells whether a block is a whole program in Go.
func isProgram(b *block) bool {
	return b.language == "go" && len(b.lines) > 0 && b.lines[0] == "package main"
}

// goRun are the lines of a shell that run a program with the packages of this checkout.
func goRun(b *block) []string {
	name := fmt.Sprintf("program-%d.go", b.line())
	lines := append([]string{"cat >" + name + " <<'END OF PROGRAM'"}, b.lines...)
	return append(lines, "END OF PROGRAM", `(program=$PWD/`+name+` && cd "$HIKYAKU_ROOT" && go run "$program")`)
}

func runPage(t *testing.T, p *page) {
	all := runs(t, p)
	if len(all) == 0 {
		return
	}
	dir, free := t.TempDir(), freePorts(t)
	layOut(t, p, dir, free)
	blocks := make([]block, len(all))
	for i := range all {
		blocks[i] = all[i].block
	}
	text, err := script(p.path, blocks, free)
	if err != nil {
		t.Fatal(err)
	}
	printed, err := shell(t, dir, text, free)
	outputs := strings.Split(free.out(printed), mark)[1:]
	if err != nil {
		what := "before its first block"
		if n := len(outputs) - 1; n >= 0 && n < len(all) {
			what = fmt.Sprintf("in the block at line %d", all[n].line())
		}
		t.Fatalf("%s fails %s (%v). It printed\n%s", p.path, what, err, indent(outputs))
	}
	changed := false
	for i := len(all) - 1; i >= 0; i-- { // from the end, so that lines keep their numbers
		_, got, _ := strings.Cut(outputs[i], "\n")
		r := all[i]
		if r.shown == nil || same(r.shown.text(), got, r.shown.note == "numbers differ") {
			continue
		}
		if !*update {
			t.Errorf("%s:%d: the page shows\n%s\nbut the block before it prints\n%s\n(go test ./test/docs -update "+
				"writes it down)", p.path, r.shown.line(), r.shown.text(), got)
			continue
		}
		lines := strings.Split(strings.Trim(got, "\n"), "\n")
		end := r.shown.first + len(r.shown.lines)
		p.lines = append(append(p.lines[:r.shown.first:r.shown.first], lines...), p.lines[end:]...)
		changed = true
	}
	if changed {
		if err := os.WriteFile(filepath.Join(root, p.path), []byte(strings.Join(p.lines, "\n")+"\n"),
			0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func indent(outputs []string) string {
	return "\t" + strings.ReplaceAll(strings.Join(outputs, "block "), "\n", "\n\t")
}

// layOut puts the files of a page into the folder in which its blocks run.
func layOut(t *testing.T, p *page, dir string, free ports) {
	t.Helper()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(free.in(text)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write(builtIn, "data_dir: ${HIKYAKU_DATA:-./hikyaku-data}\napi: { http: { listen: 127.0.0.1:"+doorPort+
		" }, pubsub: { listen: 127.0.0.1:"+pubsubPort+" }, sqs: { listen: 127.0.0.1:"+sqsPort+
		" }, lambda: { listen: 127.0.0.1:"+lambdaPort+" } }\n")
	for i := range p.blocks {
		if name := fileOf(&p.blocks[i]); name != "" {
			write(name, p.blocks[i].text())
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "examples"), 0o755); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(root, "examples", "*.[yt][ax]*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		write(filepath.Join("examples", filepath.Base(f)), string(text))
	}
}

// fileOf is the name of the file that a yaml block is, or "".
func fileOf(b *block) string {
	if b.language != "yaml" || len(b.lines) == 0 {
		return ""
	}
	name, ok := strings.CutPrefix(b.lines[0], "# ")
	if !ok || strings.ContainsAny(name, " /") || !strings.HasSuffix(name, ".yaml") {
		return ""
	}
	return name
}

// shell runs a script and returns what it printed.
func shell(t *testing.T, dir, text string, free ports) (string, error) {
	t.Helper()
	checkout, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	out, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-c", text)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, out, out
	cmd.Env = append(os.Environ(),
		"PATH="+binDir+string(os.PathListSeparator)+os.Getenv("PATH"),
		"HIKYAKU_ROOT="+checkout,
		"HIKYAKU_URL=http://127.0.0.1:"+free[doorPort],
		"HIKYAKU_LAMBDA_URL=http://127.0.0.1:"+free[lambdaPort],
		"HIKYAKU_SECRET=", "HIKYAKU_DATA=", "MAKEFLAGS=", "MAKELEVEL=", "LC_ALL=C.UTF-8",
	)
	ownGroup(cmd)
	failed := cmd.Run()
	endGroup(cmd)
	if ctx.Err() != nil {
		failed = errors.Join(ctx.Err(), failed)
	}
	if _, err := out.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	printed, err := io.ReadAll(out)
	if err != nil {
		t.Fatal(err)
	}
	return string(printed), failed
}
