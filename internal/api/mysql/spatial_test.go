package mysql

import (
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// TestThereAreNoSpatialValues asks for every spatial function that the library has: with them a few statements made a
// value that took gigabytes to write, and one statement kept a processor for days after its client had gone.
func TestThereAreNoSpatialValues(t *testing.T) {
	r := newRig(t, Config{}, nil)
	c := r.connect("")
	n := 0
	for _, f := range function.BuiltIns {
		name := f.FunctionName()
		made := reflect.ValueOf(f).FieldByName("Fn")
		if made.IsValid() && strings.Contains(runtime.FuncForPC(made.Pointer()).Name(), "/spatial.") {
			if n++; !isAbsent(name) {
				t.Errorf("%s is there", name)
			}
		}
	}
	if n < 50 {
		t.Errorf("the library has %d spatial functions: they are not found any more", n)
	}
	for _, statement := range []string{"SET @g = POINT(1, 1)", "SELECT ST_GEOMFROMTEXT('POINT(1 1)')",
		"SET @g = GEOMETRYCOLLECTION(@g, @g)", "SELECT ST_ASTEXT(x'000000000101000000000000000000F03F000000000000F03F')"} {
		if number, _ := ask(t, c, statement); number != 1305 {
			t.Errorf("%s: error %d, want 1305", statement, number)
		}
	}
}
