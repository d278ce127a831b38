package limit

import (
	"os"
	"strings"
)

func words(file string) map[string]bool {
	all := map[string]bool{}
	text, _ := os.ReadFile(file) // a file that is not there has no words
	for _, w := range strings.Fields(string(text)) {
		all[w] = true
	}
	return all
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
