package javascript

import (
	_ "embed"
	"sync"

	"github.com/dop251/goja"
)

//go:embed prelude.js
var preludeCode string

// prelude is what each runtime runs first. It is compiled when the first one is made: most processes of this program
// run no functions.
var prelude = sync.OnceValue(func() *goja.Program { return goja.MustCompile("prelude", preludeCode, true) })

// newRuntime makes a runtime for the code of others.
func newRuntime() (*goja.Runtime, error) {
	vm := goja.New()
	_, err := vm.RunProgram(prelude())
	vm.SetMaxCallStackSize(maxCalls)
	return vm, err
}
