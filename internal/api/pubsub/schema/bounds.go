package schema

import (
	"github.com/bufbuild/protocompile/ast"
)

// Bounds of what a definition declares. What it becomes, and the time of the compiler, would grow with the square of
// them.
const (
	// maxName is the bytes of a name with the names of all that it is nested in: each has all of them.
	maxName = 512
	// maxPart is the bytes of a name in Avro, and of a namespace.
	maxPart = maxName / 2
	// maxOneofs are those of one message. In proto3 an optional field makes one.
	maxOneofs = 2000
	// maxReserved are the reserved names of a definition.
	maxReserved = 2000
)

// declared goes through what a definition declares, before anything is made of it.
type declared struct {
	at       func(ast.Node, string) *DefinitionError
	proto3   bool
	reserved int // names until now
}

// named refuses a name that is too long together with the outer ones, which have so many bytes.
func (d *declared) named(n ast.Node, name string, outer int) (length int, err *DefinitionError) {
	if length = outer + 1 + len(name); length > maxName {
		return 0, d.at(n, "the name is too long, with those of all that it is nested in")
	}
	return length, nil
}

// message goes through a message, whose name with those of all around it has so many bytes.
func (d *declared) message(m *ast.MessageBody, outer int) *DefinitionError {
	oneofs := 0
	for _, x := range m.Decls {
		if err := d.element(x, outer); err != nil {
			return err
		}
		switch x := x.(type) {
		case *ast.OneofNode:
			oneofs++
		case *ast.FieldNode:
			if d.proto3 && x.Label.KeywordNode != nil && x.Label.Val == "optional" {
				oneofs++
			}
		}
		if oneofs > maxOneofs {
			return d.at(x, "there are too many oneofs in the message, or fields that are optional")
		}
	}
	return nil
}

// element goes through what stands in a message or in a oneof.
func (d *declared) element(x ast.Node, outer int) *DefinitionError {
	var err *DefinitionError
	switch x := x.(type) {
	case *ast.FieldNode:
		_, err = d.named(x, x.Name.Val, outer)
	case *ast.MapFieldNode:
		_, err = d.named(x, x.Name.Val, outer)
	case *ast.GroupNode:
		if outer, err = d.named(x, x.Name.Val, outer); err == nil {
			err = d.message(&x.MessageBody, outer)
		}
	case *ast.MessageNode:
		if outer, err = d.named(x, x.Name.Val, outer); err == nil {
			err = d.message(&x.MessageBody, outer)
		}
	case *ast.OneofNode:
		if _, err = d.named(x, x.Name.Val, outer); err != nil {
			return err
		}
		for _, inner := range x.Decls {
			if err = d.element(inner, outer); err != nil {
				return err
			}
		}
	case *ast.EnumNode:
		if outer, err = d.named(x, x.Name.Val, outer); err != nil {
			return err
		}
		for _, inner := range x.Decls {
			if err = d.element(inner, outer); err != nil {
				return err
			}
		}
	case *ast.EnumValueNode:
		_, err = d.named(x, x.Name.Val, outer)
	case *ast.ReservedNode:
		if d.reserved += len(x.Names) + len(x.Identifiers); d.reserved > maxReserved {
			err = d.at(x, "there are too many reserved names")
		}
	}
	return err
}

// checkNames refuses names in Avro that are too long.
func checkNames(value any) *DefinitionError {
	switch v := value.(type) {
	case []any:
		for _, x := range v {
			if err := checkNames(x); err != nil {
				return err
			}
		}
	case map[string]any:
		for key, x := range v {
			var err *DefinitionError
			switch key {
			case "default": // it is no part of the type
			case "name", "namespace":
				err = checkName(x)
			case "aliases":
				aliases, _ := x.([]any)
				for _, alias := range aliases {
					if err == nil {
						err = checkName(alias)
					}
				}
			default:
				err = checkNames(x)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func checkName(x any) *DefinitionError {
	if name, ok := x.(string); ok && len(name) > maxPart {
		return &DefinitionError{Message: "the name " + shorten(name) + " is too long"}
	}
	return nil
}
