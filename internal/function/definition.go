package function

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	"github.com/hikyaku/hikyaku/internal/function/place"
)

// Latest is the version of a function that has none.
const Latest = "$LATEST"

// Definition says what a function is. Zero values are the provider's defaults where it has one.
type Definition struct {
	Name    string // letters, digits, - and _, at most 64
	Version string // "" means Latest
	// Runtime is the provider's name of it (provided.al2023, nodejs20.x, python3.11, java17, go1.x) or its family
	// alone; command starts Command.
	Runtime string
	Handler string   // what the runtime is asked to run; provided does without
	Command []string // for runtime command: a program that speaks the Runtime API, and its arguments
	Code    code.Source
	// Layers are folders that a function finds together as /opt where that can be, and by variables like PATH and
	// PYTHONPATH everywhere: with bin, lib, python, nodejs, java/lib, extensions below. Later ones come first. A zip in
	// the place of a folder is unpacked.
	Layers      []string
	Environment map[string]string
	MemoryMB    int           // 0: 128; 128 to 10,240
	StorageMB   int           // of temporary files; 0: 512; at most 10,240
	Timeout     time.Duration // 0: 3 s; at most 15 minutes
	// "", x86_64 or arm64: what the code was built for; it has to be this machine's, or be translated by it
	Architecture string

	// Reserved is how many invocations may be in it at once, taken from the pool's; nil: as many as the pool has left.
	Reserved    *int
	Provisioned int        // instances that are started before anybody asks
	Policy      place.Kind // "": place.Warm
	Machines    int        // for place.Spread; 0: 2

	InitTimeout time.Duration // 0: 10 s, as the provider has it
	Idle        time.Duration // 0: 10 minutes without work before an instance is stopped
	Freeze      time.Duration // 0: idle instances run on; else the time after which they are frozen
}

// DefinitionError is a definition that cannot be.
type DefinitionError struct {
	Function string
	Field    string
	Problem  string
}

func (e *DefinitionError) Error() string {
	return fmt.Sprintf("function %s: %s: %s", e.Function, e.Field, e.Problem)
}

var namePattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
var versionPattern = regexp.MustCompile(`^(\$LATEST|[a-zA-Z0-9_-]{1,128})$`)
var variablePattern = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*$`)

// The provider's limits.
const (
	minMemory      = 128
	maxMemory      = 10240
	usualStorage   = 512
	maxStorage     = 10240
	maxTimeout     = 15 * time.Minute
	maxEnvironment = 4096 // bytes of names and values
	maxLayers      = 5
)

// reserved are variables that are ours to set.
var reserved = []string{"_HANDLER", "AWS_LAMBDA_FUNCTION_NAME", "AWS_LAMBDA_FUNCTION_MEMORY_SIZE",
	"AWS_LAMBDA_FUNCTION_VERSION",
	"AWS_LAMBDA_INITIALIZATION_TYPE", "AWS_LAMBDA_LOG_GROUP_NAME", "AWS_LAMBDA_LOG_STREAM_NAME",
	"AWS_LAMBDA_RUNTIME_API", "LAMBDA_TASK_ROOT",
	"LAMBDA_RUNTIME_DIR"}

// complete fills in what was left out, and checks the rest. An error is a *DefinitionError.
func (d *Definition) complete() error {
	wrong := func(field, format string, args ...any) error {
		return &DefinitionError{d.Name, field, fmt.Sprintf(format, args...)}
	}
	if d.Version == "" {
		d.Version = Latest
	}
	if d.MemoryMB == 0 {
		d.MemoryMB = minMemory
	}
	if d.StorageMB == 0 {
		d.StorageMB = usualStorage
	}
	if d.Timeout == 0 {
		d.Timeout = 3 * time.Second
	}
	if d.InitTimeout == 0 {
		d.InitTimeout = 10 * time.Second
	}
	if d.Policy == "" {
		d.Policy = place.Warm
	}
	family := loader.Family(d.Runtime)
	switch {
	case !namePattern.MatchString(d.Name):
		return wrong("name", "%q is no name: up to 64 letters, digits, - and _", d.Name)
	case !versionPattern.MatchString(d.Version):
		return wrong("version", "%q is no version: letters, digits, - and _, or $LATEST", d.Version)
	case d.Runtime == "":
		return wrong("runtime", "it is missing: name one of %s, with or without a version",
			strings.Join(loader.Families(), ", "))
	case family == "":
		return wrong("runtime", "there is no runtime %q; there are %s, with or without a version", d.Runtime,
			strings.Join(loader.Families(), ", "))
	case d.Handler == "" && slices.Contains([]string{"java", "nodejs", "python"}, family):
		return wrong("handler", "runtime %s needs one: %s", d.Runtime, example(family))
	case family == "command" && len(d.Command) == 0:
		return wrong("command", "runtime command needs a program")
	case family != "command" && len(d.Command) > 0:
		return wrong("command", "only runtime command has one, not %s", d.Runtime)
	case d.MemoryMB < minMemory || d.MemoryMB > maxMemory:
		return wrong("memory", "%d MB is not between %d and %d", d.MemoryMB, minMemory, maxMemory)
	case d.StorageMB < 1 || d.StorageMB > maxStorage:
		return wrong("storage", "%d MB is not between 1 and %d", d.StorageMB, maxStorage)
	case d.Timeout < time.Millisecond || d.Timeout > maxTimeout:
		return wrong("timeout", "%v is not between 1ms and %v", d.Timeout, maxTimeout)
	case d.InitTimeout < 0 || d.Idle < 0 || d.Freeze < 0 || d.Machines < 0:
		return wrong("life cycle", "a time or a number is below 0")
	case !slices.Contains([]string{"", "x86_64", "arm64"}, d.Architecture):
		return wrong("architecture", "%q is neither x86_64 nor arm64", d.Architecture)
	case !slices.Contains([]place.Kind{place.Warm, place.Spread, place.Ahead}, d.Policy):
		return wrong("policy", "%q is none of warm, spread, ahead", d.Policy)
	case d.Reserved != nil && *d.Reserved < 0:
		return wrong("reserved concurrency", "%d is below 0", *d.Reserved)
	case d.Provisioned < 0:
		return wrong("provisioned concurrency", "%d is below 0", d.Provisioned)
	case d.Provisioned > 0 && d.Policy == place.Spread:
		return wrong("provisioned concurrency", "the policy spread starts instances as the machines need them; use "+
			"warm or ahead")
	case d.Reserved != nil && d.Provisioned > *d.Reserved:
		return wrong("provisioned concurrency", "%d is more than the reserved concurrency %d", d.Provisioned,
			*d.Reserved)
	case len(d.Layers) > maxLayers:
		return wrong("layers", "%d are more than %d", len(d.Layers), maxLayers)
	}
	for _, l := range d.Layers {
		if info, err := os.Stat(l); err != nil || !info.IsDir() && !info.Mode().IsRegular() {
			return wrong("layers", "%s is no folder and no archive", l)
		}
	}
	return d.checkEnvironment(wrong)
}

func (d *Definition) checkEnvironment(wrong func(string, string, ...any) error) error {
	size := 0
	for name, value := range d.Environment {
		size += len(name) + len(value)
		switch {
		case !variablePattern.MatchString(name):
			return wrong("environment", "%q is no name of a variable", name)
		case slices.Contains(reserved, name):
			return wrong("environment", "%s is set by the runtime and cannot be given", name)
		case strings.ContainsRune(value, 0):
			return wrong("environment", "the value of %s has a zero byte", name)
		}
	}
	if size > maxEnvironment {
		return wrong("environment", "names and values have %d bytes, the limit is %d", size, maxEnvironment)
	}
	return nil
}

func example(family string) string {
	return map[string]string{
		"nodejs": "index.handler is exports.handler of index.js",
		"python": "app.handler is the function handler of app.py",
		"java":   "com.example.Hello::handle is a method of a class",
	}[family]
}
