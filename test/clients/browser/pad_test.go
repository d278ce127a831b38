package browser_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// pad is a button of player 1's pad.
func pad(press string) string { return "fieldset[data-player='1'] [data-press='" + press + "']" }

// state waits until the page says something.
func (p *tab) state(says string) {
	p.Helper()
	p.until("document.getElementById('state').textContent === '" + says + "'")
}

func TestAPadIsHeldAsLongAsItsButtonIs(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")

	// By the mouse, with a key beside it.
	p.mouse("mousePressed", pad("mk"))
	p.state("pressing mk")
	p.ask("document.querySelector(`"+pad("5")+"`).focus()", nil)
	down := map[string]any{"type": "keyDown", "key": "2", "text": "2", "windowsVirtualKeyCode": '2'}
	p.tell("Input.dispatchKeyEvent", down)
	p.state("pressing 2,mk")
	p.mouse("mouseReleased", pad("mk"))
	p.state("pressing 2")
	p.tell("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": "2", "windowsVirtualKeyCode": '2'})
	p.state("played 2")
	if runs := s.pressed(t); !slices.Equal(runs, []string{"0 mk", "0 2,mk", "0 2"}) {
		t.Errorf("pressed %q", runs)
	}

	// A pad that is left with the focus lets go of its keys.
	p.tell("Input.dispatchKeyEvent", down)
	p.state("pressing 2")
	p.ask(box+".focus()", nil)
	p.state("played 2")

	// A page that goes away lets go.
	p.mouse("mousePressed", pad("hp"))
	p.state("pressing hp")
	p.tell("Page.navigate", map[string]any{"url": "about:blank"})
	p.until("location.href === 'about:blank'")
	again := p.browser.visit(t, s.url, 1180, 900)
	again.until("document.body.dataset.ready && " + lastRun + " >= 5")
	again.state("played hp")
}

func TestRunAndStopTellWhatTheyCanDo(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")
	can := func(run, stop string) string {
		return "document.getElementById('run').ariaDisabled === '" + run + "' && " +
			"document.getElementById('stop').ariaDisabled === '" + stop + "'"
	}
	p.until(can("false", "true"))
	p.rewrite("lq 2\n")
	p.until(can("true", "true"))
	// A mistake has its line, with the place marked, and nothing of it is wrapped.
	var lines []string
	p.ask("[...document.querySelectorAll('#mistakes button')].map((b) => b.innerText)", &lines)
	if len(lines) != 1 || lines[0] != "line 1, column 1 there is no button \"lq\"\nlq 2\ndid you mean lp?" {
		t.Errorf("the mistake is told as %q", lines)
	}
	if got := p.text("#mistakes mark"); got != "lq" {
		t.Errorf("marked is %q", got)
	}
	p.rewrite("lp 100000\n")
	p.until(can("false", "true"))
	p.click("#run")
	p.until(can("true", "false"))
	p.until("Number(document.getElementById('playhead').getAttribute('x1')) > " +
		"Number(document.querySelector('#timeline svg').dataset.begin)")
	p.click("#stop")
	p.until(can("false", "true") + " && document.getElementById('playhead') === null")
}

func TestThePageSpeaksJapaneseAndEnglish(t *testing.T) {
	s := serve(t)
	b := open(t)
	p := b.visit(t, "about:blank", telephone, 844)
	p.tell("Network.setUserAgentOverride", map[string]any{"userAgent": "test", "acceptLanguage": "ja,en"})
	p.tell("Page.navigate", map[string]any{"url": s.url})
	p.until("document.body.dataset.ready")
	if run, name := p.text("#run"), p.text("legend"); run != "実行" || name != "プレイヤー1" {
		t.Errorf("in Japanese: %s, %s", run, name)
	}
	p.until("document.documentElement.lang === 'ja'")
	var wide float64
	if p.ask("document.documentElement.scrollWidth", &wide); wide > telephone {
		t.Errorf("on a telephone that is %d wide the page is %v", telephone, wide)
	}
	p.rewrite("↓↘→+中P 2\n小P+零 2\n")
	p.until("document.getElementById('verdict').textContent === '間違い1件'")
	if got := p.text("#marks mark"); got != "零" {
		t.Errorf("marked is %q", got)
	}
	if got := p.text("#mistakes .said"); got != `"零"というボタンはありません` {
		t.Errorf("what is wrong is told as %q", got)
	}
	p.choose("language", "en")
	p.until("document.documentElement.lang === 'en' && document.getElementById('run').textContent === 'Run'")
	p.until("document.getElementById('verdict').textContent === '1 mistake'")
	p.tell("Page.reload", nil)
	p.until("document.body.dataset.ready && document.getElementById('run').textContent === 'Run'") // it is kept
	var missing []string
	p.ask(`import("./words.js").then((m) => [...document.querySelectorAll("[data-word], [data-label]")].flatMap((e) =>
		[e.dataset.word, e.dataset.label]).filter((name) => name && !m.known(name)))`, &missing)
	if len(missing) > 0 {
		t.Errorf("without words: %q", missing)
	}
}

func TestMacrosAreKeptNamedImportedAndExported(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")
	names := func(want ...string) {
		t.Helper()
		var got []string
		p.ask("[...document.getElementById('kept').options].map((o) => (o.selected ? '*' : '') + o.value)", &got)
		if !slices.Equal(got, want) {
			t.Errorf("there are %q, not %q", got, want)
		}
	}
	holds := func(text string) { t.Helper(); p.until(box + ".value === " + text) }
	names("*macro 1")
	p.click("#create")
	p.rewrite("hp 3\n")
	p.ask("document.getElementById('name').select()", nil)
	p.write("投げ")
	p.key("Enter", 0)
	p.until("document.getElementById('kept').value === '投げ'")
	p.click("#copy")
	p.rewrite("hk 5\n")
	names("macro 1", "投げ", "*copy of 投げ")
	p.tell("Page.reload", nil)
	p.until("document.body.dataset.ready")
	holds("'hk 5\\n'")
	names("macro 1", "投げ", "*copy of 投げ")
	p.choose("kept", "投げ")
	holds("'hp 3\\n'")
	p.click("#remove")
	names("macro 1", "*copy of 投げ")
	p.click("#undo")
	names("macro 1", "copy of 投げ", "*投げ")

	dir := t.TempDir()
	allow := map[string]any{"behavior": "allow", "downloadPath": dir}
	if err := p.browser.do("", "Browser.setDownloadBehavior", allow, nil); err != nil {
		t.Fatal(err)
	}
	p.click("#save-all")
	file := filepath.Join(dir, "macros.txt")
	var all []byte
	for p.browser.ctx.Err() == nil && !strings.Contains(string(all), "# macro: 投げ\nhp 3\n") {
		all, _ = os.ReadFile(file) // it comes when the browser has written it
	}
	if !strings.Contains(string(all), "# macro: copy of 投げ\nhk 5\n") {
		t.Errorf("exported: %s", all)
	}
	more := filepath.Join(dir, "more.txt")
	if err := os.WriteFile(more, []byte("# macro: 昇龍\n623p 2\n\n# macro: 投げ\nlp 9\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	var input struct{ Result struct{ ObjectID string } }
	files := map[string]any{"expression": "document.getElementById('files')"}
	if err := p.browser.do(p.session, "Runtime.evaluate", files, &input); err != nil {
		t.Fatal(err)
	}
	p.tell("DOM.setFileInputFiles", map[string]any{"files": []string{more}, "objectId": input.Result.ObjectID})
	holds("'lp 9\\n'")
	names("macro 1", "copy of 投げ", "投げ", "昇龍", "*投げ 2")
}

func TestThePageCanBeInstalled(t *testing.T) {
	s := serve(t)
	p := open(t).visit(t, s.url, 1180, 900)
	p.until("document.body.dataset.ready")
	var manifest struct {
		Errors []struct{ Message string }
		Data   string
	}
	if err := p.browser.do(p.session, "Page.getAppManifest", struct{}{}, &manifest); err != nil {
		t.Fatal(err)
	}
	if len(manifest.Errors) > 0 || !strings.Contains(manifest.Data, `"hikyaku macro"`) {
		t.Errorf("the manifest: %+v", manifest)
	}
	var sizes []float64
	p.ask(`Promise.all(["icon.svg", "icon-maskable.svg"].map(async (src) => {
		const image = new Image();
		image.src = src;
		await image.decode();
		return image.width;
	}))`, &sizes)
	if len(sizes) != 2 || sizes[0] == 0 || sizes[1] == 0 {
		t.Errorf("the icons are %v wide", sizes)
	}
}
