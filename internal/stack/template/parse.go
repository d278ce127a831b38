package template

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// Bounds of a template. The service takes 1 MB and 500 resources; what indents a template needs more bytes.
const (
	MaxBytes  = 4 << 20
	maxDepth  = 100
	maxValues = 200_000 // with each place where YAML names a value again counted anew
)

// Template is what a text says, with its functions as they were written.
type Template struct {
	Description string
	Transforms  []string
	Parameters  map[string]Parameter
	Resources   map[string]Resource
	mappings    map[string]any
	conditions  map[string]any
	outputs     map[string]output
}

// Parameter is what somebody who deploys may say.
type Parameter struct {
	Type    string
	Default any // nil: one has to be given
	Allowed []string
	Hidden  bool // NoEcho
}

// Resource is one to be made. Properties have functions in them.
type Resource struct {
	Kind       string
	Properties map[string]any
	Deletion   string // DeletionPolicy
	condition  string
	depends    []string
}

type output struct {
	value     any
	condition string
}

// Parse reads a template, JSON or YAML.
func Parse(text []byte) (*Template, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("the template has more than %d bytes", MaxBytes)
	}
	var tree any
	var err error
	if start := bytes.TrimLeft(text, " \t\r\n\ufeff"); len(start) > 0 && start[0] == '{' {
		tree, err = fromJSON(start)
		if err != nil { // YAML may begin with a brace, too
			if other, e := fromYAML(text); e == nil {
				tree, err = other, nil
			}
		}
	} else {
		tree, err = fromYAML(text)
	}
	if err != nil {
		return nil, err
	}
	n := 0
	if err := bounded(tree, 0, &n); err != nil {
		return nil, err
	}
	root, ok := tree.(map[string]any)
	if !ok {
		return nil, errors.New("the template is no map with Resources in it")
	}
	return read(root)
}

func fromJSON(text []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var tree any
	if err := d.Decode(&tree); err != nil {
		return nil, fmt.Errorf("the template is no JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more behind the template's last brace")
	}
	return tree, nil
}

// bounded refuses what is too deep or too large for the functions that walk it.
func bounded(v any, depth int, n *int) error {
	if depth > maxDepth {
		return fmt.Errorf("the template is deeper than %d levels", maxDepth)
	}
	if *n++; *n > maxValues {
		return fmt.Errorf("the template has more than %d values", maxValues)
	}
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			if err := bounded(inner, depth+1, n); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := bounded(inner, depth+1, n); err != nil {
				return err
			}
		}
	}
	return nil
}

func fromYAML(text []byte) (any, error) {
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc yaml.Node
	if err := d.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("the template is empty")
		}
		return nil, fmt.Errorf("the template is no YAML: %w", err)
	}
	if err := d.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		return nil, errors.New("the file has more than one document of YAML")
	}
	r := yamlReader{}
	return r.value(&doc, 0)
}

// yamlReader counts what it makes: an alias makes its value again.
type yamlReader struct{ values int }

func (r *yamlReader) value(n *yaml.Node, depth int) (any, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("line %d: the template is deeper than %d levels", n.Line, maxDepth)
	}
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("the template has more than %d values", maxValues)
	}
	var v any
	var err error
	switch n.Kind {
	case yaml.DocumentNode:
		return r.value(n.Content[0], depth)
	case yaml.AliasNode:
		return r.value(n.Alias, depth+1)
	case yaml.SequenceNode:
		list := make([]any, len(n.Content))
		for i, inner := range n.Content {
			if list[i], err = r.value(inner, depth+1); err != nil {
				return nil, err
			}
		}
		v = list
	case yaml.MappingNode:
		v, err = r.mapping(n, depth)
	default:
		v, err = scalar(n)
	}
	if err != nil {
		return nil, err
	}
	return short(n, v)
}

func (r *yamlReader) mapping(n *yaml.Node, depth int) (any, error) {
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		if key.Kind != yaml.ScalarNode {
			return nil, fmt.Errorf("line %d: a key is no text", key.Line)
		}
		if key.Tag == "!!merge" {
			return nil, fmt.Errorf("line %d: maps are not merged (<<) in templates", key.Line)
		}
		if _, twice := m[key.Value]; twice {
			return nil, fmt.Errorf("line %d: the key %q stands here twice", key.Line, key.Value)
		}
		v, err := r.value(n.Content[i+1], depth+1)
		if err != nil {
			return nil, err
		}
		m[key.Value] = v
	}
	return m, nil
}

// scalar keeps numbers as they are written where JSON can write them so. A date is a text, as in policies.
func scalar(n *yaml.Node) (any, error) {
	switch n.ShortTag() {
	case "!!null":
		return nil, nil
	case "!!bool":
		var b bool
		err := n.Decode(&b)
		return b, err
	case "!!int", "!!float":
		if json.Valid([]byte(n.Value)) {
			return json.Number(n.Value), nil
		}
		if i, err := strconv.ParseInt(n.Value, 0, 64); err == nil && !strings.HasPrefix(n.Value, "0") {
			return json.Number(strconv.FormatInt(i, 10)), nil
		}
	}
	return n.Value, nil // such as the number of an account that begins with 0
}

// short turns the short form of a function into its long one: !Sub x is {Fn::Sub: x}.
func short(n *yaml.Node, v any) (any, error) {
	if !strings.HasPrefix(n.Tag, "!") || strings.HasPrefix(n.Tag, "!!") {
		return v, nil
	}
	switch name := n.Tag[1:]; name {
	case "":
		return v, nil
	case "Ref", "Condition":
		return map[string]any{name: v}, nil
	case "GetAtt":
		if text, ok := v.(string); ok {
			of, attribute, dot := strings.Cut(text, ".")
			if !dot {
				return nil, fmt.Errorf("line %d: !GetAtt is !GetAtt RESOURCE.ATTRIBUTE", n.Line)
			}
			v = []any{of, attribute}
		}
		return map[string]any{"Fn::GetAtt": v}, nil
	default:
		return map[string]any{"Fn::" + name: v}, nil
	}
}
