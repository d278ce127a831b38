//go:build guests

package wine

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"
)

// serve starts the program's page, and returns its address.
func serve(t *testing.T, r *record) string {
	t.Helper()
	cmd := pad(t, r, nil, "macro", "serve", "--device", "titanone", "--listen", "127.0.0.1:0")
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = write
	err = cmd.Start()
	write.Close()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		read.Close()
	})
	line, err := bufio.NewReader(read).ReadString('\n')
	return pageOf(t, line, err)
}

func pageOf(t *testing.T, said string, err error) string {
	t.Helper()
	url := regexp.MustCompile(`http://127\.0\.0\.1:\d+/`).FindString(said)
	if url == "" {
		t.Fatalf("it said %q: %v", said, err)
	}
	return url
}

// ask sends what a browser would.
func ask(t *testing.T, url, body string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if text, _ := io.ReadAll(response.Body); response.StatusCode >= 300 {
		t.Fatalf("%s: %s\n%s", url, response.Status, text)
	}
}

func TestAPressOnThePageReachesTheLibrary(t *testing.T) {
	r := newRecord(t)
	url := serve(t, r)
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if page, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK ||
		!strings.Contains(string(page), "<html") {
		t.Errorf("%s, %v\n%s", response.Status, err, page)
	}
	for n, button := range []string{"lp", "2", "options"} {
		ask(t, url+"press", fmt.Sprintf(`{"press":%q,"player":1}`, button))
		await(t, "the press of "+button+" is over", func() bool { return r.ended(t, n+1) })
		if !r.presses(t, button) {
			t.Errorf("%s was not pressed", button)
		}
		r.released(t)
	}
}

// ended tells whether so many runs have given the device back.
func (r *record) ended(t *testing.T, runs int) bool {
	n := 0
	for _, c := range r.calls(t) {
		if c.name == "gcdapi_Unload" {
			n++
		}
	}
	return n >= runs
}

func TestAStopOnThePageLetsGoOfEverything(t *testing.T) {
	r := newRecord(t)
	url := serve(t, r)
	ask(t, url+"run", fmt.Sprintf(`{"text":%q,"player":1}`, long))
	await(t, "the first button is pressed", func() bool { return r.presses(t, "lp") })
	ask(t, url+"stop", `{}`)
	await(t, "the run is over", func() bool { return r.ended(t, 1) })
	r.released(t)
}
