package main

import (
	"regexp"
	"strconv"
	"testing"
)

// TestAStartTakesLittleMemory: what a package takes when the program starts it takes from every process, for good.
func TestAStartTakesLittleMemory(t *testing.T) {
	const most, mostOfAll = 4 << 20, 32 << 20
	r := hikyaku(t, "", []string{"GODEBUG=inittrace=1"}, "version")
	all := 0
	said := regexp.MustCompile(`(?m)^init (\S+) @.* clock, (\d+) bytes`).FindAllStringSubmatch(r.stderr, -1)
	if len(said) < 50 {
		t.Fatalf("the runtime tells of %d packages: %+v", len(said), r)
	}
	for _, m := range said {
		n, err := strconv.Atoi(m[2])
		if err != nil {
			t.Fatal(err)
		}
		if all += n; n > most {
			t.Errorf("%s takes %d bytes", m[1], n)
		}
	}
	if all > mostOfAll {
		t.Errorf("all packages take %d bytes", all)
	}
}
