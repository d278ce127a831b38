package docs

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// families are the rooms that the picture of the house shows as one, with the names of those that there are.
var families = []string{"source", "transform", "sink"}

func TestThePictureOfTheHouseShowsEveryRoom(t *testing.T) {
	svg, err := os.ReadFile(filepath.Join(root, "docs", "pictures", "house.svg"))
	if err != nil {
		t.Fatal(err)
	}
	picture := string(svg)
	found, err := filepath.Glob(filepath.Join(root, "internal", "*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range found {
		name := filepath.Base(dir)
		inner := children(t, dir)
		switch {
		case name == "house" || strings.HasSuffix(name, "test"): // for tests alone
		case slices.Contains(families, name):
			if !strings.Contains(picture, ">"+name+"/*<") {
				t.Errorf("the picture lacks %s/*", name)
			}
			for _, kind := range inner {
				if !strings.Contains(picture, kind) {
					t.Errorf("the picture lacks the %s %s", name, kind)
				}
			}
		case name == "api" || name == "sandbox":
			for _, one := range inner {
				if !strings.Contains(picture, ">internal/"+name+"/"+one+"<") {
					t.Errorf("the picture lacks internal/%s/%s", name, one)
				}
			}
		case !strings.Contains(picture, ">internal/"+name+"<"):
			t.Errorf("the picture lacks internal/%s", name)
		}
	}
}

// children are the folders in a folder, but for test data.
func children(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "testdata" {
			names = append(names, e.Name())
		}
	}
	return names
}
