package schema

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/reflect/protoreflect"
)

func checkProtobufRevision(last, next *protobufType) *RevisionError {
	c := &revisionCheck{last: last.message, next: next.message, seen: map[[2]protoreflect.FullName]bool{}}
	return c.messages(last.message, next.message, "")
}

// revisionCheck compares two messages with all that is nested in them.
type revisionCheck struct {
	last, next protoreflect.MessageDescriptor
	seen       map[[2]protoreflect.FullName]bool // messages that were compared, or are being
}

func (c *revisionCheck) messages(last, next protoreflect.MessageDescriptor, path string) *RevisionError {
	pair := [2]protoreflect.FullName{last.FullName(), next.FullName()}
	if c.seen[pair] {
		return nil
	}
	c.seen[pair] = true
	for i := range last.Fields().Len() {
		was := last.Fields().Get(i)
		is := next.Fields().ByNumber(was.Number())
		if is == nil {
			if was.Cardinality() != protoreflect.Optional {
				return changed(path, was, "it is removed, and is %s; only optional fields can be", was.Cardinality())
			}
			continue
		}
		if err := c.fields(was, is, path); err != nil {
			return err
		}
	}
	for i := range next.Fields().Len() {
		is := next.Fields().Get(i)
		if last.Fields().ByNumber(is.Number()) == nil && is.Cardinality() != protoreflect.Optional {
			return changed(path, is, "it is new, and is %s; only optional fields can be added", is.Cardinality())
		}
	}
	return nil
}

func (c *revisionCheck) fields(was, is protoreflect.FieldDescriptor, path string) *RevisionError {
	for _, p := range []struct {
		what     string
		was, now string
	}{
		{"name", string(was.Name()), string(is.Name())},
		{"label", was.Cardinality().String(), is.Cardinality().String()},
		{"type", was.Kind().String(), is.Kind().String()},
		{"type", within(c.last, was), within(c.next, is)},
		{"presence", presence(was), presence(is)},
		{"oneof", oneof(was), oneof(is)},
		{"JSON name", was.JSONName(), is.JSONName()},
		{"encoding", packing(was), packing(is)},
		{"default", was.Default().String(), is.Default().String()},
	} {
		if p.was != p.now {
			return changed(path, was, "its %s was %s and is %s; fields that exist cannot be changed", p.what,
				orNone(p.was), orNone(p.now))
		}
	}
	if was.Enum() != nil {
		return enums(was, is, path)
	}
	if was.Message() != nil {
		return c.messages(was.Message(), is.Message(), path+string(was.Name())+".")
	}
	return nil
}

// enums wants all values that there were. New ones may come.
func enums(was, is protoreflect.FieldDescriptor, path string) *RevisionError {
	values := was.Enum().Values()
	for i := range values.Len() {
		v := values.Get(i)
		if now := is.Enum().Values().ByName(v.Name()); now == nil || now.Number() != v.Number() {
			return changed(path, was, "the value %s = %d of its enum is removed or changed", v.Name(), v.Number())
		}
	}
	return nil
}

func changed(path string, f protoreflect.FieldDescriptor, format string, args ...any) *RevisionError {
	return &RevisionError{Path: fmt.Sprintf("%s%s (%d)", path, f.Name(), f.Number()),
		Message: fmt.Sprintf(format, args...)}
}

// within is the name of a field's message or enum, seen from the message at the top: that may be renamed.
func within(top protoreflect.MessageDescriptor, f protoreflect.FieldDescriptor) string {
	var name protoreflect.FullName
	switch {
	case f.Enum() != nil:
		name = f.Enum().FullName()
	case f.Message() != nil:
		name = f.Message().FullName()
	default:
		return ""
	}
	return strings.TrimPrefix(string(name), string(top.FullName()))
}

func presence(f protoreflect.FieldDescriptor) string {
	if f.HasPresence() {
		return "explicit"
	}
	return "implicit"
}

func oneof(f protoreflect.FieldDescriptor) string {
	if o := f.ContainingOneof(); o != nil && !o.IsSynthetic() {
		return string(o.Name())
	}
	return ""
}

func packing(f protoreflect.FieldDescriptor) string {
	if f.IsPacked() {
		return "packed"
	}
	return "not packed"
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
