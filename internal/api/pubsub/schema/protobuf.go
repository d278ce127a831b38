package schema

import (
	"context"
	"errors"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/ast"
	"github.com/bufbuild/protocompile/parser"
	"github.com/bufbuild/protocompile/reporter"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/dynamicpb"
)

// protobufType is the message of a definition.
type protobufType struct {
	message protoreflect.MessageDescriptor
	types   *protoregistry.Types // none: a definition has no extensions, and knows no other messages
}

// fileName is what the definition's file is called for the compiler. Errors do not show it.
const fileName = "schema.proto"

func compileProtobuf(definition string) (*protobufType, *DefinitionError) {
	if err := checkNesting(definition); err != nil {
		return nil, err
	}
	handler := reporter.NewHandler(nil)
	file, err := parser.Parse(fileName, strings.NewReader(definition), handler)
	if err != nil {
		return nil, definitionError(err)
	}
	if err := checkFile(file); err != nil {
		return nil, err
	}
	compiler := protocompile.Compiler{
		MaxParallelism: 1,
		Resolver: protocompile.ResolverFunc(func(name string) (protocompile.SearchResult, error) {
			if name != fileName {
				return protocompile.SearchResult{}, protoregistry.NotFound
			}
			return protocompile.SearchResult{AST: file}, nil
		}),
	}
	files, err := compiler.Compile(context.Background(), fileName)
	if err != nil {
		return nil, definitionError(err)
	}
	// The compiler's descriptors look through all fields for one, and keep more of the text.
	made, err := protodesc.NewFile(protodesc.ToFileDescriptorProto(files[0]), nil)
	if err != nil {
		return nil, &DefinitionError{Message: withoutOrigin(err)}
	}
	return &protobufType{message: made.Messages().Get(0), types: new(protoregistry.Types)}, nil
}

// checkNesting refuses a definition with too many braces in one another before anything recurses into them. Braces in
// strings and comments are counted, too: nobody has so many that stay open.
func checkNesting(definition string) *DefinitionError {
	depth := 0
	for i := range len(definition) {
		switch definition[i] {
		case '{', '[', '<', '(':
			if depth++; depth > 2*MaxNesting {
				return placed(definition, i, "the definition is nested deeper than %d levels", 2*MaxNesting)
			}
		case '}', ']', '>', ')':
			depth = max(depth-1, 0)
		}
	}
	return nil
}

// checkFile refuses what a schema cannot have: it is one message in proto2 or proto3, and needs nothing else.
func checkFile(file *ast.FileNode) *DefinitionError {
	at := func(n ast.Node, message string) *DefinitionError {
		p := file.NodeInfo(n).Start()
		return &DefinitionError{Line: p.Line, Column: p.Col, Message: message}
	}
	if file.Edition != nil {
		return at(file.Edition, "editions are not supported; proto2 and proto3 are")
	}
	messages, outer := 0, 0
	d := declared{at: at, proto3: file.Syntax != nil && file.Syntax.Syntax.AsString() == "proto3"}
	for _, x := range file.Decls {
		if p, ok := x.(*ast.PackageNode); ok {
			outer = len(p.Name.AsIdentifier())
		}
	}
	for _, x := range file.Decls {
		switch x := x.(type) {
		case *ast.ImportNode:
			return at(x, "imports are not supported: a schema defines all that it uses")
		case *ast.MessageNode:
			if messages++; messages > 1 {
				return at(x, "there is a second message at the top; a schema has one, and the others are nested in it")
			}
			if err := d.element(x, outer); err != nil {
				return err
			}
		case *ast.EnumNode:
			return at(x, "an enum stands at the top; a schema has one message there, and its enums are nested in it")
		case *ast.ServiceNode:
			return at(x, "a service stands at the top; a schema has one message there, and nothing else")
		case *ast.ExtendNode:
			return at(x, "extensions are not supported")
		}
	}
	if messages == 0 {
		return at(file, "there is no message; a schema has one at the top")
	}
	return nil
}

func definitionError(err error) *DefinitionError {
	var placed reporter.ErrorWithPos
	if errors.As(err, &placed) {
		p := placed.GetPosition()
		return &DefinitionError{Line: p.Line, Column: p.Col, Message: placed.Unwrap().Error()}
	}
	return &DefinitionError{Message: err.Error()}
}

func (t *protobufType) validateJSON(data []byte) *MessageError {
	o := protojson.UnmarshalOptions{Resolver: t.types, RecursionLimit: MaxNesting}
	if err := o.Unmarshal(data, dynamicpb.NewMessage(t.message)); err != nil {
		return wrong("%s", withoutOrigin(err))
	}
	return nil
}

func (t *protobufType) validateBinary(data []byte) *MessageError {
	o := proto.UnmarshalOptions{Resolver: t.types, RecursionLimit: MaxNesting}
	if err := o.Unmarshal(data, dynamicpb.NewMessage(t.message)); err != nil {
		return wrong("%s", withoutOrigin(err))
	}
	return nil
}

// withoutOrigin is an error's text without the name of the library that it comes from.
func withoutOrigin(err error) string {
	rest, theirs := strings.CutPrefix(err.Error(), "proto:")
	if !theirs {
		return err.Error()
	}
	return strings.TrimLeft(rest, " \u00a0") // one or the other stands there, at random
}
