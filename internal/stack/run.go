package stack

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/stack/template"
)

// Config says what is deployed, and where.
type Config struct {
	Doors
	Name            string // of the stack
	Template        *template.Template
	Parameters      map[string]string
	Folder          string // the template's; paths in it are beside it
	Assets          string // the folder in which archives lie that the template has in S3
	Region, Account string
	Pack            func(path string) ([]byte, error) // makes an archive; of the same files the same bytes
}

// What becomes of a resource.
const (
	Made       = "made"
	Changed    = "changed"
	Unchanged  = "unchanged"
	Deleted    = "deleted"
	Kept       = "kept"        // by its DeletionPolicy: the stack does not know it any more
	PassedOver = "passed over" // it means nothing here
)

// Step is what became of a resource, or would.
type Step struct{ Kind, Resource, Name, What string }

// Outcome is what was done, in order.
type Outcome struct {
	Steps   []Step
	Outputs []template.Output
}

// Changes tells whether anything is, or was, to be done.
func (o *Outcome) Changes() bool {
	return slices.ContainsFunc(o.Steps, func(s Step) bool { return s.What != Unchanged && s.What != PassedOver })
}

// item is a resource as the template has it, with its functions worked out. Few resources are several.
type item struct {
	kind, resource, name, owner string
	retain                      bool
	of                          any // what the sum is of
	sum                         string
	guess                       map[string]any // attributes before it is made
	// put makes it, or changes the one that there is, and returns its attributes.
	put func(ctx context.Context, found *thing) (map[string]any, error)
}

// run is one way through a template.
type run struct {
	c        *Config
	act      bool // else only look
	scope    *template.Scope
	found    []*thing
	made     map[string]map[string]any // attributes of resources
	buckets  map[string]bool           // made-up names
	assets   map[string]string         // paths by keys of S3; nil: not looked for yet
	archives map[string]*code          // by path
	out      Outcome
}

var nameForm = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

// CheckName refuses what is no name of a stack.
func CheckName(name string) error {
	if !nameForm.MatchString(name) || len(name) > 100 {
		return fmt.Errorf("%q is no name of a stack: it has letters, digits and hyphens, begins with a letter, and has "+
			"at most 100 of them", name)
	}
	return nil
}

// Plan tells what Deploy would do.
func Plan(ctx context.Context, c Config) (*Outcome, error) {
	x, err := begin(ctx, &c)
	if err != nil {
		return nil, err
	}
	return &x.out, x.through(ctx)
}

// Deploy makes, changes and deletes. With an error the outcome has what was done before it.
func Deploy(ctx context.Context, c Config) (*Outcome, error) {
	x, err := begin(ctx, &c)
	if err != nil {
		return &Outcome{}, err
	}
	if err := x.through(ctx); err != nil {
		return &Outcome{}, err
	}
	if !x.out.Changes() {
		return &x.out, nil
	}
	x.act, x.out, x.made = true, Outcome{}, map[string]map[string]any{}
	for _, t := range x.found {
		t.seen = false
	}
	return &x.out, x.through(ctx)
}

func begin(ctx context.Context, c *Config) (*run, error) {
	if err := CheckName(c.Name); err != nil {
		return nil, err
	}
	for _, name := range slices.Sorted(maps.Keys(c.Template.Resources)) {
		kind := c.Template.Resources[name].Kind
		if strings.HasPrefix(kind, "AWS::Serverless::") || len(c.Template.Transforms) > 0 {
			return nil, ErrTransform
		}
		if kinds[kind] == nil && !passedOver(kind) {
			return nil, fmt.Errorf("%s is of the kind %s, which cannot be made here", name, kind)
		}
	}
	x := &run{c: c, made: map[string]map[string]any{}, buckets: map[string]bool{}, archives: map[string]*code{}}
	var err error
	x.scope, err = c.Template.Open(template.Known{Stack: c.Name, Region: c.Region, Account: c.Account,
		Attribute: x.attribute}, c.Parameters)
	if err != nil {
		return nil, err
	}
	x.found, err = c.things(ctx, c.Name)
	return x, err
}

// ErrTransform is what a template is refused with that is to be translated first.
var ErrTransform = errors.New("the template has a Transform, and so is not CloudFormation yet")

func (x *run) attribute(resource, attribute string) (any, error) {
	v, ok := x.made[resource][attribute]
	if !ok {
		return nil, fmt.Errorf("%s, of the kind %s, has no attribute %s here", resource,
			x.c.Template.Resources[resource].Kind, attribute)
	}
	return v, nil
}

// through goes through the template, and then deletes what it has no more.
func (x *run) through(ctx context.Context) error {
	order, err := x.scope.Order()
	if err != nil {
		return err
	}
	for _, name := range order {
		if err := x.resource(ctx, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if x.out.Outputs, err = x.scope.Outputs(); err != nil {
		return err
	}
	return x.leave(ctx)
}

func (x *run) resource(ctx context.Context, name string) error {
	r := x.c.Template.Resources[name]
	if passedOver(r.Kind) {
		x.made[name] = x.madeUp(name, r.Kind)
		x.out.Steps = append(x.out.Steps, Step{r.Kind, name, "", PassedOver})
		return nil
	}
	properties, err := x.scope.Properties(name)
	if err != nil {
		return err
	}
	if properties == nil {
		properties = map[string]any{}
	}
	items, err := kinds[r.Kind](x, name, properties)
	if err != nil {
		return err
	}
	for _, i := range items {
		i.kind, i.resource, i.retain = r.Kind, name, strings.HasPrefix(r.Deletion, retain)
		if err := x.item(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

func (x *run) item(ctx context.Context, i *item) error {
	text, err := json.Marshal([]any{i.of, i.retain})
	if err != nil {
		return err
	}
	sum := sha256.Sum256(text)
	i.sum = hex.EncodeToString(sum[:12])
	found := x.find(i)
	what := Made
	switch {
	case found != nil && found.sum == i.sum:
		what = Unchanged
	case found != nil:
		what = Changed
	}
	attributes := i.guess
	if found != nil {
		found.seen = true
		i.name = found.name
		attributes = found.attributes
	}
	step := Step{i.kind, i.resource, i.shown(), what}
	if x.act && what != Unchanged {
		if attributes, err = i.put(ctx, found); err != nil {
			return err
		}
		step.Name = i.shown()
	}
	if x.made[i.resource] == nil {
		x.made[i.resource] = map[string]any{}
	}
	maps.Copy(x.made[i.resource], i.guess)
	maps.Copy(x.made[i.resource], attributes)
	x.out.Steps = append(x.out.Steps, step)
	return nil
}

// shown is what a person calls it.
func (i *item) shown() string {
	if i.owner != "" {
		return i.owner + " " + i.name
	}
	return i.name
}

// find is the one that is there already. One of another name is another one: this one is made, and that one goes at the
// end. So does a version of a layer, which cannot be changed.
func (x *run) find(i *item) *thing {
	for _, t := range x.found {
		if t.seen || t.kind != i.kind || t.owner != i.owner {
			continue
		}
		switch i.kind {
		case kindLayer:
			if t.resource == shortened(i.resource, layerLabel) && strings.HasPrefix(t.name, i.name+":") &&
				t.sum == i.sum {
				return t
			}
		case kindVersion: // its number is not in the template
			if t.resource == label(i.resource) {
				return t
			}
		default:
			if t.resource == label(i.resource) && t.name == i.name {
				return t
			}
		}
	}
	return nil
}

// shortened is a name of at most so many characters: one that is longer ends with a sum of the whole.
func shortened(name string, most int) string {
	if len(name) <= most {
		return name
	}
	sum := sha256.Sum256([]byte(name))
	return name[:most-9] + "-" + hex.EncodeToString(sum[:4])
}

// named is the name that a resource has when the template gives none.
func (x *run) named(given any, resource string, most int) string {
	if name, ok := given.(string); ok && name != "" {
		return name
	}
	return shortened(x.c.Name+"-"+resource, most)
}
