package browser_test

import (
	"bufio"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/hikyaku/hikyaku/internal/sink/gamepad/device"
	"github.com/hikyaku/hikyaku/internal/sink/gamepad/trace"
)

// player is a running `hikyaku macro serve`.
type player struct {
	url   string
	trace string
}

// serve starts the real program with a trace for a pad.
func serve(t *testing.T) *player {
	t.Helper()
	dir := t.TempDir()
	s := &player{trace: filepath.Join(dir, "combo.trace")}
	cmd := exec.CommandContext(context.Background(), program.binary, "macro", "serve", "--device", "trace:combo.trace",
		"--listen", "127.0.0.1:0")
	cmd.Dir = dir
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	address := regexp.MustCompile(`http://[^/]+/`)
	sc := bufio.NewScanner(stderr)
	for s.url == "" && sc.Scan() {
		s.url = address.FindString(sc.Text())
	}
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		for sc.Scan() {
			t.Log(sc.Text())
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGINT)
		<-drained
		if err := cmd.Wait(); err != nil {
			t.Errorf("macro serve ended with %v", err)
		}
	})
	if s.url == "" {
		t.Fatal("macro serve ended at once")
	}
	return s
}

// pressed is what the trace says was pressed, run for run, as "0 lp, 2 -".
func (s *player) pressed(t *testing.T) (runs []string) {
	t.Helper()
	f, err := os.Open(s.trace)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	events, err := trace.Read(f)
	if err != nil {
		t.Fatal(err)
	}
	var run []string
	for _, e := range events {
		if e.Frame == device.Release {
			if e.State.String() != "5" {
				t.Errorf("what was let go of at the end: %s", e.State)
			}
			runs, run = append(runs, strings.Join(run, ", ")), nil
			continue
		}
		who := ""
		if e.Player != 1 {
			who = fmt.Sprintf("P%d ", e.Player)
		}
		run = append(run, fmt.Sprintf("%d %s%s", e.Frame, who, e.State))
	}
	return runs
}

const telephone = 390

const (
	box       = "document.getElementById('text')"
	lastRun   = "Number(document.body.dataset.done || 0)"
	isPlaying = "document.body.dataset.playing === 'true'"
)

// keysOf are the keys that write a text.
func (p *tab) keysOf(text string) {
	p.Helper()
	for _, r := range text {
		if r == '\n' {
			p.key("Enter", 0)
		} else {
			p.key(string(r), 0)
		}
	}
}

// tabTo presses Tab until something has the focus.
func (p *tab) tabTo(id string) {
	p.Helper()
	for range 80 {
		var at string
		p.ask("document.activeElement.id || document.activeElement.dataset.press || ''", &at)
		if at == id {
			return
		}
		p.key("Tab", 0)
	}
	p.Fatalf("%s is not reached by Tab", id)
}

// rewrite puts a text in place of what stands in the box, as one who types does.
func (p *tab) rewrite(text string) {
	p.Helper()
	p.ask(box+".focus(), "+box+".select()", nil)
	p.write(text)
}

func TestAMacroIsWrittenPlayedAndStopped(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")

	// Mistakes are told while one types, each with its place, and nothing is played.
	p.rewrite("hp 3\nlq 2\n2,mk\n")
	p.until("document.querySelectorAll('#mistakes li').length === 2")
	if got := p.text("#mistakes"); !strings.Contains(got, "line 2, column 1") ||
		!strings.Contains(got, "did you mean lp?") || !strings.Contains(got, "line 3, column 3") {
		t.Errorf("the mistakes: %s", got)
	}
	var marked []string
	p.ask("[...document.querySelectorAll('#marks mark, #numbers .wrong')].map((e) => e.textContent)", &marked)
	if !slices.Equal(slices.Sorted(slices.Values(marked)), []string{"2", "3", "lq", "mk"}) {
		t.Errorf("marked: %q", marked)
	}
	p.until("document.querySelector('#timeline.old') !== null") // it is another text's
	p.click("#run")
	p.until("document.getElementById('state').textContent.startsWith('nothing was sent')")
	p.click("#mistakes li:nth-child(2) button")
	var chosen string
	p.ask(box+".value.slice("+box+".selectionStart, "+box+".selectionEnd)", &chosen)
	if chosen != "mk" {
		t.Errorf("the mistake leads to %q", chosen)
	}

	// The macro of the report, with the keyboard alone.
	p.rewrite("9 34\nhp 20\n2,mk 8\n6 1\n2 1\n3,hp 1\n")
	p.until("document.getElementById('verdict').textContent.startsWith('65 frames')")
	p.until("document.querySelector('#timeline.old') === null")
	var bars []string
	p.ask("[...document.querySelectorAll('#timeline rect title')].map((e) => e.textContent)", &bars)
	want := []string{"frames 0 to 33: 34", "frames 54 to 61: 8", "frames 62 to 62: 1", "frames 63 to 63: 1",
		"frames 64 to 64: 1", "frames 34 to 53: 20", "frames 64 to 64: 1", "frames 54 to 61: 8"}
	if !slices.Equal(bars, want) {
		t.Errorf("the timeline has %q", bars)
	}
	p.key("Enter", control)
	p.until(lastRun + " === 1")
	if got := p.text("#summary"); !strings.Contains(got, "65 of 65 frames at 60000/1001/s") {
		t.Errorf("the summary: %s", got)
	}
	var late float64
	p.ask("[...document.querySelectorAll('#lateness text.tally')].reduce((sum, e) => sum + Number(e.textContent), 0)",
		&late)
	if late != 65 {
		t.Errorf("the histogram has %v frames", late)
	}
	if *update {
		p.ask("document.activeElement.blur(), scrollTo(0, 0)", nil)
		p.until("document.querySelectorAll('#lateness text.tally').length > 0")
		if err := os.WriteFile(filepath.Join(root, "docs", "pictures", "macro.png"), p.picture(), 0o644); err != nil {
			t.Error(err)
		}
	}

	// One that would take hours is stopped.
	p.rewrite("<loop 100000>\nlp 20\n5 10\n</loop>\n")
	p.until("document.getElementById('verdict').textContent.startsWith('3000000 frames')")
	p.click("#run")
	p.until(isPlaying + " && document.getElementById('progress').value >= 5")
	var status int
	p.ask("fetch('run', {method: 'POST', headers: {'Content-Type': 'application/json'}, body: JSON.stringify({text: "+
		"'lp 2'})}).then((r) => r.status)", &status)
	if status != http.StatusConflict {
		t.Errorf("a second run beside it: status %d", status)
	}
	p.key("Escape", 0)
	p.until(lastRun + " === 2 && document.getElementById('state').textContent.includes('everything was let go')")

	runs := s.pressed(t)
	if len(runs) != 2 || runs[0] != "0 9, 34 hp, 54 2,mk, 62 6, 63 2, 64 3,hp" || !strings.HasPrefix(runs[1], "0 lp") {
		t.Errorf("what was pressed: %q", runs)
	}
}

func TestAMacroIsPlayedAndStoppedWithTheKeyboardAlone(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")
	p.tabTo("text")
	p.key("a", control)
	p.keysOf("4,lp 3\nhk 1000000\n")
	p.until("document.getElementById('verdict').textContent.startsWith('1000003 frames')")
	p.tabTo("timeline")
	var bars []string
	p.ask("[...document.querySelectorAll('#timeline rect title')].map((e) => e.textContent)", &bars)
	if want := []string{"frames 0 to 2: 3", "frames 3 to 1000002: 1000000", "frames 0 to 2: 3"}; !slices.Equal(bars,
		want) {
		t.Errorf("the timeline has %q", bars)
	}
	p.tabTo("mirror")
	p.key(" ", 0)
	p.tabTo("run")
	p.key(" ", 0)
	p.until(isPlaying + " && document.getElementById('progress').value >= 5")
	p.tabTo("stop")
	p.key("Enter", 0)
	p.until(lastRun + " === 1 && !(" + isPlaying + ")")
	if runs := s.pressed(t); len(runs) != 1 || runs[0] != "0 6,lp, 3 hk" {
		t.Errorf("what was pressed: %q", runs)
	}
}

func TestThePadsButtonsPress(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, telephone, 844)
	p.until("document.body.dataset.ready")
	var wide float64
	p.ask("document.documentElement.scrollWidth", &wide)
	if wide > telephone {
		t.Fatalf("on a telephone that is %d wide the page is %v", telephone, wide)
	}
	done := 0
	press := func(do func()) {
		do()
		done++
		p.until(fmt.Sprintf("%s === %d", lastRun, done))
	}
	press(func() { p.click("fieldset[data-player='1'] [data-press='lp']") })
	press(func() { p.click("fieldset[data-player='1'] [data-press='9']") })
	p.choose("player", "2") // whose pad stands on a telephone then
	press(func() { p.click("fieldset[data-player='2'] [data-press='hk']") })
	p.choose("player", "1")
	press(func() { p.click("fieldset[data-player='1'] [data-press='pause']") })
	press(func() { p.click("fieldset[data-player='1'] [data-press='save']") })
	// Keys, with the focus on a pad.
	p.choose("player", "2")
	p.ask("document.querySelector(`fieldset[data-player='2'] [data-press='5']`).focus()", nil)
	press(func() { p.key("2", 0) })
	press(func() { p.key("o", 0) })
	press(func() { p.key(" ", 0) })
	want := []string{"0 lp", "0 9", "0 P2 hk", "0 options", "0 r3", "0 P2 2", "0 P2 hp", "0 P2 5"}
	if runs := s.pressed(t); !slices.Equal(runs, want) {
		t.Errorf("pressed %q", runs)
	}
	if got := p.text("#state"); got != "played P2 5" {
		t.Errorf("the page says %q", got)
	}

	var small []string
	p.ask("[...document.querySelectorAll('button')].filter((b) => b.offsetParent && b.getBoundingClientRect().height "+
		"< 40).map((b) => b.textContent)", &small)
	if len(small) > 0 {
		t.Errorf("too small for a thumb: %q", small)
	}
}

func TestEverythingIsReachedByKeyboardAndNamedForReadersOfScreens(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1280, 900)
	p.until("document.body.dataset.ready")
	reached := map[string]bool{}
	p.ask("document.body.focus()", nil)
	for range 60 {
		p.key("Tab", 0)
		var at string
		p.ask("document.activeElement.id || document.activeElement.dataset.press || ''", &at)
		reached[at] = true
	}
	for _, id := range []string{"text", "run", "stop", "player", "mirror", "timeline", "language", "kept", "name",
		"create", "5", "lp", "pause"} {
		if !reached[id] {
			t.Errorf("%s is not reached by Tab", id)
		}
	}
	// Each group of a pad is one stop; arrows go on in it, and Tab comes back to where one was.
	p.tabTo("5")
	for _, step := range []struct{ key, at string }{
		{"ArrowUp", "8"}, {"ArrowRight", "9"}, {"ArrowRight", "4"}, {"ArrowDown", "1"}, {"ArrowDown", "1"},
		{"Tab", "lp"}, {"ArrowDown", "lk"},
		{"Tab", "pause"}, {"ArrowRight", "select"},
	} {
		p.key(step.key, 0)
		var at string
		if p.ask("document.activeElement.dataset.press", &at); at != step.at {
			t.Errorf("%s leads to %s, not %s", step.key, at, step.at)
		}
	}
	if err := p.browser.do(p.session, "Accessibility.enable", struct{}{}, nil); err != nil {
		t.Fatal(err)
	}
	var tree struct {
		Nodes []struct {
			Role, Name struct{ Value any }
		}
	}
	if err := p.browser.do(p.session, "Accessibility.getFullAXTree", struct{}{}, &tree); err != nil {
		t.Fatal(err)
	}
	named := map[string]bool{}
	for _, n := range tree.Nodes {
		role, name := fmt.Sprint(n.Role.Value), fmt.Sprint(n.Name.Value)
		named[role+" "+name] = true
		if slices.Contains([]string{"button", "textbox", "combobox", "checkbox", "image", "progressbar"}, role) &&
			(n.Name.Value == nil || name == "") {
			t.Errorf("a %s has no name", role)
		}
	}
	for _, want := range []string{"textbox Macro", "button Run", "button Stop", "button light punch",
		"button up left, 7", "group Player 2", "progressbar Frames played"} {
		if !named[want] {
			t.Errorf("there is no %s", want)
		}
	}
}

func TestPagesFromElsewhereCannotPress(t *testing.T) {
	s := serve(t)
	evil := http.NewServeMux()
	evil.HandleFunc("/", func(w http.ResponseWriter,
		_ *http.Request) {
		fmt.Fprint(w, "<!doctype html><title>evil</title>")
	})
	other := &http.Server{Handler: evil}
	address := listen(t, other)
	p := open(t).visit(t, "http://"+address+"/", 800, 600)
	p.until("document.title === 'evil'")
	for _, way := range []string{
		`fetch(%q, {method: "POST", mode: "no-cors", body: '{"press":"lp","player":1}'})`,
		`fetch(%q, {method: "POST", headers: {"Content-Type": "application/json"}, body: '{"press":"lp","player":1}'})`,
		`fetch(%q, {method: "POST", mode: "no-cors", headers: {"Content-Type": "text/plain"}, body: '{"press":"lp"}'})`,
	} {
		p.ask(fmt.Sprintf("("+way+").then(() => true, () => false)", s.url+"press"), nil)
	}
	if runs := s.pressed(t); len(runs) > 0 {
		t.Errorf("another page pressed %q", runs)
	}
}
