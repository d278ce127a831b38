package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function/loader"
	placement "github.com/hikyaku/hikyaku/internal/function/place"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// Function is a function that the file declares.
type Function struct {
	Name string
	code string // a folder or an archive
	spec deployment.Spec
	at   place
	node *node
	path string
}

// functionDefinition is what can be said of a function in a file.
type functionDefinition struct {
	Runtime      string            `yaml:"runtime" doc:"What runs it: provided, go, nodejs, python or java, with or without a version as AWS names it (python3.11), or command."`
	Handler      string            `yaml:"handler" doc:"What the runtime calls: app.handler, index.handler, com.example.Hello::handle. provided does without."`
	Command      []string          `yaml:"command" doc:"For runtime command: a program that speaks the Runtime API, and its arguments."`
	Code         string            `yaml:"code" doc:"A folder, used as it is, or an archive (zip, jar), of which a copy is kept. A relative path starts at the working directory."`
	Description  string            `yaml:"description" doc:"Anything, for people."`
	Environment  map[string]string `yaml:"environment" doc:"Variables of its environment."`
	Memory       int               `yaml:"memory" min:"128" max:"10240" default:"128" doc:"MiB. The share of the processors grows with it."`
	Storage      int               `yaml:"storage" min:"0" max:"10240" doc:"MiB of temporary files, which it finds as /tmp. 0: 512."`
	Timeout      time.Duration     `yaml:"timeout" default:"3s" max:"15m" doc:"How long an invocation may take."`
	Layers       []string          `yaml:"layers" doc:"Folders that it finds together as /opt, and by variables like PATH where that cannot be; later ones come first."`
	Architecture string            `yaml:"architecture" oneof:"x86_64 arm64" doc:"What the code was built for. Not set: this machine's."`
	Concurrency  *int              `yaml:"concurrency" min:"0" doc:"How many invocations may be in it at once. Not set: as many as api.lambda.concurrency leaves."`
	Provisioned  int               `yaml:"provisioned" min:"0" doc:"Instances that are started before anybody asks."`
	Placement    string            `yaml:"placement" oneof:"warm spread ahead" default:"warm" doc:"Which instance gets an invocation: warm: the one used last; spread: that of the next machine in turn; ahead: warm, with instances started before a burst needs them."`
	Machines     int               `yaml:"machines" min:"1" default:"2" doc:"For placement spread: how many machines there are."`
	InitTimeout  time.Duration     `yaml:"init_timeout" default:"10s" doc:"How long an instance may take to start, apart from the invocation."`
	Idle         time.Duration     `yaml:"idle" default:"10m" doc:"How long an instance stays without work."`
	Freeze       time.Duration     `yaml:"freeze" doc:"An idle instance is frozen after it. 0: not."`
	URL          string            `yaml:"url" oneof:"none iam" doc:"Answers HTTP at /lambda-url/NAME/ of the Lambda door: none lets anyone ask, iam wants a signature. Not set: it does not."`
	Streams      bool              `yaml:"streams" doc:"Its URL passes an answer on while it comes."`
	Retries      *int              `yaml:"retries" min:"0" max:"2" doc:"How often an event that nobody waits for is tried again. Not set: 2."`
	DeadLetter   string            `yaml:"dead_letter" doc:"The queue or topic for events that are given up, as they were."`
	OnSuccess    string            `yaml:"on_success" doc:"The queue or topic, or an ARN, that is told of events that went well."`
	OnFailure    string            `yaml:"on_failure" doc:"Likewise of those that were given up."`
}

type functionSettings []Function

func (fs *functionSettings) decodeNode(d *decoder, n *node, path string) {
	if n.kind != kindMap && n.kind != kindNull {
		d.wrong(n, path, "a mapping of names")
		return
	}
	for _, p := range n.pairs {
		path := join(path, p.key)
		if name, qualifier, err := deployment.ParseName(p.key); err != nil || name != p.key || qualifier != "" {
			d.at(p.at, "up to 64 letters, digits, - and _ make a name", "%q cannot be the name of a function",
				shorten(p.key))
			continue
		}
		before := d.mistakes()
		var c functionDefinition
		d.mapping(p.value, path, &c)
		if d.mistakes() > before {
			continue
		}
		d.function(p, path, &c)
		if d.mistakes() == before {
			*fs = append(*fs, c.function(p, path))
		}
	}
}

// function checks what can be checked without looking at code and machine.
func (d *decoder) function(p pair, path string, c *functionDefinition) {
	family := loader.Family(c.Runtime)
	wrong := func(key, hint, format string, args ...any) {
		_, at := p.value.lookUp(key)
		if p.value.get(key) == nil {
			at = p.at
		}
		d.at(at, hint, "%s: "+format, append([]any{join(path, key)}, args...)...)
	}
	switch {
	case c.Runtime == "":
		wrong("runtime", "runtimes: "+joinNames(loader.Families()), "is missing")
	case family == "":
		wrong("runtime", "runtimes: "+joinNames(loader.Families()), "there is no runtime %q", shorten(c.Runtime))
	case c.Handler == "" && slices.Contains([]string{"java", "nodejs", "python"}, family):
		wrong("handler", "app.handler is the function handler of app", "is missing: runtime %s needs one", c.Runtime)
	case family == "command" && len(c.Command) == 0:
		wrong("command", "", "is missing: name the program and its arguments")
	}
	if c.Code == "" {
		wrong("code", "a folder, a zip or a jar", "is missing")
	}
	if c.DeadLetter != "" {
		d.queueName(c.DeadLetter, queue.DefaultNamespace, p.value.get("dead_letter"), join(path, "dead_letter"))
	}
	for key, to := range map[string]string{"on_success": c.OnSuccess, "on_failure": c.OnFailure} {
		if to != "" && !strings.HasPrefix(to, "arn:") {
			d.queueName(to, queue.DefaultNamespace, p.value.get(key), join(path, key))
		}
	}
}

// function is the definition as a deployment takes it. What is the default is left out: it is the same whether it is
// written or not.
func (c *functionDefinition) function(p pair, path string) Function {
	s := deployment.Settings{
		Description: c.Description, Runtime: c.Runtime, Handler: c.Handler, Command: c.Command, Layers: c.Layers,
		Environment: c.Environment,
		MemoryMB:    c.Memory, StorageMB: c.Storage, Timeout: c.Timeout, Architecture: c.Architecture,
		DeadLetter: c.DeadLetter,
		Policy:     placement.Kind(c.Placement), InitTimeout: c.InitTimeout, Idle: c.Idle, Freeze: c.Freeze,
	}
	if s.Policy == placement.Spread {
		s.Machines = c.Machines
	}
	f := Function{Name: p.key, code: c.Code, at: p.at, node: p.value, path: path}
	f.spec = deployment.Spec{
		Name: p.key, Settings: s, Reserved: c.Concurrency, Provisioned: c.Provisioned, Retries: c.Retries,
		OnSuccess: c.OnSuccess, OnFailure: c.OnFailure,
	}
	if c.URL != "" {
		now := time.Now()
		f.spec.URL = &deployment.URL{Auth: map[string]string{"none": "NONE", "iam": "AWS_IAM"}[c.URL], Mode: "BUFFERED",
			Created: now, Changed: now}
		if c.Streams {
			f.spec.URL.Mode = "RESPONSE_STREAM"
		}
	}
	return f
}

// maxArchive bounds an archive that is read whole.
const maxArchive = 250 << 20

// source is where the code is.
func (f *Function) source() (deployment.Code, error) {
	info, err := os.Stat(f.code)
	if err != nil {
		return deployment.Code{}, fmt.Errorf("code: %w", err)
	}
	if info.IsDir() {
		return deployment.Code{Folder: f.code}, nil
	}
	file, err := os.Open(f.code)
	if err != nil {
		return deployment.Code{}, fmt.Errorf("code: %w", err)
	}
	defer file.Close()
	archive, err := io.ReadAll(io.LimitReader(file, maxArchive+1))
	if err == nil && len(archive) > maxArchive {
		err = fmt.Errorf("%s has more than %d bytes", f.code, maxArchive)
	}
	return deployment.Code{Zip: archive}, err
}

// DefineFunctions makes the file's functions that are missing, and starts what is provisioned. One that is there with
// other settings is a mistake that shows both, unless adopt says to take the file's. Mistakes are Errors; anything else
// is the store's own failure.
func (f *File) DefineFunctions(ctx context.Context, r *deployment.Registry, adopt bool) error {
	d := &decoder{&report{file: f.source, secrets: f.secrets}}
	for _, fn := range f.Functions {
		spec := fn.spec
		var err error
		if spec.Code, err = fn.source(); err == nil {
			err = r.Define(ctx, spec, adopt)
		}
		switch {
		case err == nil:
		case errors.Is(err, queue.ErrClosed), errors.Is(err, queue.ErrUnavailable), errors.Is(err, queue.ErrNoRoom),
			ctx.Err() != nil:
			return fmt.Errorf("define function %s: %w", fn.Name, err)
		default:
			hint := ""
			if different := (*deployment.DifferentError)(nil); errors.As(err, &different) {
				hint = "change the file, or start with --adopt to take what it says"
			}
			d.at(fn.at, hint, "%s: %v", fn.path, err).cause = err
		}
	}
	if errs := d.result(); errs != nil {
		return errs
	}
	return nil
}
