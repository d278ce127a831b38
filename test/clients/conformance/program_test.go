package conformance_test

import (
	"testing"

	"github.com/hikyaku/hikyaku/test/clients/conformance"
)

func TestAProgramThatDoesNotRunItsChecksFails(t *testing.T) {
	want := []string{"one", "two"}
	for name, out := range map[string]string{
		"says nothing":       "",
		"leaves one out":     "ok one\n",
		"runs one twice":     "ok one\nok one\nok two\n",
		"runs another":       "ok one\nok two\nok three\n",
		"has a longer name":  "ok one\nok twofold\n",
		"fails one":          "ok one\nnot ok two: why\n",
		"fails one silently": "ok one\nnot ok two\n",
		"fails another":      "ok one\nok two\nnot ok three: why\n",
	} {
		if conformance.Problems(want, out) == nil {
			t.Errorf("a program that %s passes", name)
		}
	}
	if p := conformance.Problems(want, "# 3 ms\nok two\nok one"); p != nil {
		t.Errorf("a good program: %q", p)
	}
}

func TestAGoodProgramPasses(t *testing.T) {
	p := conformance.Program{Name: "shell", Needs: []string{"sh", "-c", "test $MORE = x"},
		Command: []string{"sh", "-c", "echo ok $GIVEN; echo ok $MORE >&2"}, Env: []string{"MORE=x"}}
	p.Check(t, []string{"y", "x"}, "GIVEN=y")
}
