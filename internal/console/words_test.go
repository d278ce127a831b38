package console

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/campaign"
	"github.com/hikyaku/hikyaku/internal/journey"
	"github.com/hikyaku/hikyaku/internal/queue"
)

var (
	saidInTemplates = regexp.MustCompile(`\.T "([^"]*)"`)
	saidInCode      = regexp.MustCompile(`\.T\("([^"]*)"`)
	verbs           = regexp.MustCompile(`%(\[\d\])?[sqd]`)
)

// TestTheCatalogueIsComplete finds every text that the pages say, and what has no use any more.
func TestTheCatalogueIsComplete(t *testing.T) {
	said := map[string]bool{}
	add := func(text string, in *regexp.Regexp) {
		for _, m := range in.FindAllStringSubmatch(text, -1) {
			said[m[1]] = true
		}
	}
	files, err := fs.Glob(web, "web/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		text, err := web.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		add(string(text), saidInTemplates)
	}
	code, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range code {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(name, "_test.go") {
			add(string(text), saidInCode)
		}
	}
	for _, p := range pages {
		said[p.title] = true
	}
	said[notFound.title], said["Refused"] = true, true
	for _, s := range httpdoor.TopSorts() {
		said[s] = true
	}
	for _, s := range []queue.MessageState{queue.Ready, queue.Delayed, queue.Claimed, queue.Waiting} {
		said[string(s)] = true
	}
	for k := journey.Kind(0); !strings.HasPrefix(k.String(), "kind "); k++ {
		said[k.String()] = true
	}
	for _, s := range []string{"source", "transform", "sink", "index", "condition"} {
		said[s] = true
	}
	for _, s := range []campaign.State{campaign.Scheduled, campaign.Running, campaign.Paused, campaign.Cancelled,
		campaign.Done} {
		said[string(s)] = true
	}
	for _, s := range []string{"refused", "dropped"} { // campaign.Reason.Outcome
		said[s] = true
	}
	// The states of an instance of a function.
	for _, s := range []string{"starting", "idle", "frozen", "busy", "finishing", "stopping"} {
		said[s] = true
	}
	for text := range said {
		translated, ok := japanese[text]
		if !ok {
			t.Errorf("%q has no Japanese", text)
		}
		if len(verbs.FindAllString(text, -1)) != len(verbs.FindAllString(translated, -1)) {
			t.Errorf("%q and %q show other values", text, translated)
		}
	}
	for text := range japanese {
		if !said[text] {
			t.Errorf("nothing says %q any more", text)
		}
	}
}
