package browser_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"
)

// tab is a page in the browser.
type tab struct {
	*testing.T
	browser *chromium
	session string
	width   int
}

// visit opens an address in a new tab of the given size.
func (c *chromium) visit(t *testing.T, url string, width, height int) *tab {
	t.Helper()
	p := &tab{T: t, browser: c, width: width}
	var target struct{ TargetID string }
	if err := c.do("", "Target.createTarget", map[string]any{"url": "about:blank"}, &target); err != nil {
		t.Fatal(err)
	}
	var attached struct{ SessionID string }
	if err := c.do("", "Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true},
		&attached); err != nil {
		t.Fatal(err)
	}
	p.session = attached.SessionID
	p.tell("Page.enable", nil)
	p.tell("Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600})
	p.tell("Page.navigate", map[string]any{"url": url})
	return p
}

func (p *tab) tell(method string, params any) {
	p.Helper()
	if params == nil {
		params = struct{}{}
	}
	if err := p.browser.do(p.session, method, params, nil); err != nil {
		p.Fatal(err)
	}
}

// ask is the value of an expression in the page; of a promise, what it becomes.
func (p *tab) ask(expression string, value any) {
	p.Helper()
	var got struct {
		Result struct {
			Value json.RawMessage
		}
		ExceptionDetails *struct {
			Text      string
			Exception struct{ Description string }
		}
	}
	err := p.browser.do(p.session, "Runtime.evaluate", map[string]any{"expression": expression, "awaitPromise": true,
		"returnByValue": true}, &got)
	if err != nil {
		p.Fatalf("%s: %v", expression, err)
	}
	if e := got.ExceptionDetails; e != nil {
		p.Fatalf("%s: %s %s", expression, e.Text, e.Exception.Description)
	}
	if value == nil {
		return
	}
	if err := json.Unmarshal(got.Result.Value, value); err != nil {
		p.Fatalf("%s: %s: %v", expression, got.Result.Value, err)
	}
}

// until waits until an expression is true in the page.
func (p *tab) until(expression string) {
	p.Helper()
	for {
		var yes bool
		// A promise is lost when the page is left for another one, so it gives up now and then.
		p.ask(fmt.Sprintf(`new Promise((done) => {
			let left = 200;
			const look = () => {
				let yes = false;
				try { yes = Boolean(%s); } catch {}
				if (yes || --left < 0) return done(yes);
				setTimeout(look, 10);
			};
			look();
		})`, expression), &yes)
		if yes {
			return
		}
		if p.browser.ctx.Err() != nil {
			var body string
			p.ask("document.body.innerText", &body)
			p.Fatalf("this never became true: %s\n%s", expression, body)
		}
	}
}

// text is what people read in an element.
func (p *tab) text(selector string) (text string) {
	p.Helper()
	p.ask(fmt.Sprintf("document.querySelector(%q).innerText", selector), &text)
	return text
}

// click presses the mouse on the middle of an element.
func (p *tab) click(selector string) {
	p.Helper()
	p.mouse("mousePressed", selector)
	p.mouse("mouseReleased", selector)
}

// mouse does something with the mouse on the middle of an element.
func (p *tab) mouse(kind, selector string) {
	p.Helper()
	var at struct{ X, Y float64 }
	p.ask(fmt.Sprintf(`(() => {
		const e = document.querySelector(%q);
		e.scrollIntoView({block: "center"});
		const r = e.getClientRects()[0]; // a link may go on in another line
		return {x: r.x + r.width / 2, y: r.y + r.height / 2};
	})()`, selector), &at)
	p.tell("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left",
		"clickCount": 1})
}

// write types text into what has the focus.
func (p *tab) write(text string) {
	p.Helper()
	p.tell("Input.insertText", map[string]any{"text": text})
}

// keyCodes are the keys that have a name and write nothing.
var keyCodes = map[string]int{"ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}

// choose takes an option of a list.
func (p *tab) choose(id, value string) {
	p.Helper()
	p.ask(fmt.Sprintf("(() => { const e = document.getElementById(%q); e.value = %q; e.dispatchEvent(new "+
		"Event('change')); })()", id, value), nil)
}

const control = 2 // of the modifiers of a key

// key presses a key.
func (p *tab) key(name string, modifiers int) {
	p.Helper()
	params := map[string]any{"type": "rawKeyDown", "key": name, "modifiers": modifiers}
	switch {
	case name == "Enter": // a browser hears a return where it is to write a line's end or press a button
		params["windowsVirtualKeyCode"], params["code"] = 13, "Enter"
		if modifiers == 0 {
			params["text"], params["type"] = "\r", "keyDown"
		}
	case name == "Tab":
		params["windowsVirtualKeyCode"], params["code"] = 9, "Tab"
	case keyCodes[name] != 0:
		params["windowsVirtualKeyCode"], params["code"] = keyCodes[name], name
	case name == "Escape":
		params["windowsVirtualKeyCode"], params["code"] = 27, "Escape"
	case name == " ":
		params["windowsVirtualKeyCode"], params["code"], params["text"], params["type"] = 32, "Space", " ", "keyDown"
	case len(name) == 1:
		params["windowsVirtualKeyCode"] = int(name[0] &^ 0x20)
		switch {
		case name[0] >= '0' && name[0] <= '9':
			params["windowsVirtualKeyCode"] = int(name[0])
		case name == ",":
			params["windowsVirtualKeyCode"] = 188
		}
		if modifiers == 0 {
			params["text"], params["type"] = name, "keyDown"
		} else if name == "a" {
			// what a window's shortcuts would do: without a window there are none
			params["commands"] = []string{"selectAll"}
		}
	}
	p.tell("Input.dispatchKeyEvent", params)
	params["type"] = "keyUp"
	delete(params, "text")
	p.tell("Input.dispatchKeyEvent", params)
}

// picture is the whole page as PNG, also what one would have to scroll to.
func (p *tab) picture() []byte {
	p.Helper()
	var size struct{ Width, Height float64 }
	p.ask("({width: document.documentElement.scrollWidth, height: document.documentElement.scrollHeight})", &size)
	var shot struct{ Data string }
	if err := p.browser.do(p.session, "Page.captureScreenshot", map[string]any{
		"format": "png", "captureBeyondViewport": true, "clip": map[string]any{"x": 0, "y": 0, "width": size.Width,
			"height": size.Height, "scale": 1},
	}, &shot); err != nil {
		p.Fatal(err)
	}
	b, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		p.Fatal(err)
	}
	return b
}
