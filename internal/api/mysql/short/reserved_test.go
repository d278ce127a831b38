package short

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
)

// places are the statements with a name in each place where one may stand.
var places = []string{
	"select %s from t", "select a, %s from t", "select %s, a from t", "select * from %s", "select * from %s;",
	"select * from d.%s", "select * from %s.t", "select %[1]s, %[1]s from %[1]s",
	"select queue_end() %s", "select queue_end() as %s", "select queue_end()%s;",
	"insert into %s values (1)", "insert into %s(a) values (1)", "insert into %s (a) values (1)",
	"insert into %s value ('a')", "insert into d.%s values (1)", "insert into d.%s (a) values (1)",
	"insert into %s.t values (1)",
	"insert into t (%s) values (1)", "insert into t (a, %s) values (1, 2)", "insert into t (%s, a) values (1, 2)",
	"insert into %[1]s (%[1]s) values (1)",
}

// keywords are all of the full parser's, read from its source: it does not export them.
var keywords = sync.OnceValues(func() ([]string, error) {
	dir, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/dolthub/vitess/go/vt/sqlparser").Output()
	if err != nil {
		return nil, fmt.Errorf("where the full parser's source is: %w", err)
	}
	text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), "keywords.go"))
	if err != nil {
		return nil, err
	}
	var words []string
	for _, m := range regexp.MustCompile(`(?m)^\t"(\w+)":\s+\w+,`).FindAllStringSubmatch(string(text), -1) {
		words = append(words, m[1])
	}
	if len(words) < 500 {
		return nil, fmt.Errorf("only %d keywords were found in keywords.go: has its shape changed?", len(words))
	}
	return words, nil
})

func TestAKeywordIsANameOnlyWhereTheFullParserTakesItForOne(t *testing.T) {
	words, err := keywords()
	if err != nil {
		t.Fatal(err)
	}
	for _, word := range words {
		for _, place := range places {
			for _, spelled := range []string{word, strings.ToUpper(word), strings.ToUpper(word[:1]) + word[1:],
				"`" + word + "`"} {
				recognizedRightly(t, fmt.Sprintf(place, spelled), Mode{})
			}
		}
		if _, ok := Parse("select `"+word+"` from t", Mode{}); !ok {
			t.Errorf("`%s` is not recognized in backquotes", word)
		}
	}
}

func TestWordsThatAreOftenNamesAreNames(t *testing.T) {
	for _, word := range strings.Fields("id body name value data status state type date time timestamp text user " +
		"level priority lang x b n json year month hour bit enum queue_wait") {
		for _, place := range places {
			if _, ok := recognizedRightly(t, fmt.Sprintf(place, word), Mode{}); !ok &&
				place != "insert into %s(a) values (1)" {
				t.Errorf("%q is not recognized", fmt.Sprintf(place, word))
			}
		}
	}
}
