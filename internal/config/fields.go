package config

import (
	"encoding"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/component"
)

// field is one key of a struct. Its tags:
//
//	yaml:"name"         the key; fields without it cannot be set from a file
//	required:"true"     the key must be there
//	oneof:"a b c"       the texts that it takes
//	min:"1" max:"100"   the range of a number or a duration
//	unit:"bytes"        a whole number that may be written as 64KiB or 10MB, as that of any key ending in _bytes
//	default:"30s"       what holds when the key is not there
//	secret:"true"       its value is never shown
//	file:"read"         it names a file that has to be there at the start; MissingFiles looks
//	doc:"…"             what it does, for the reference
type field struct {
	name  string
	index []int // for reflect.Value.FieldByIndex
	typ   reflect.Type
	tag   reflect.StructTag
	owner reflect.Type // the struct
}

func (f *field) required() bool { return f.tag.Get("required") == "true" }
func (f *field) secret() bool   { return f.tag.Get("secret") == "true" }

func (f *field) bytes() bool {
	return f.tag.Get("unit") == "bytes" || f.name == "bytes" || strings.HasSuffix(f.name, "_bytes")
}

func (f *field) oneOf() []string { return strings.Fields(f.tag.Get("oneof")) }

// fieldsOf lists the keys of a struct type, those of embedded structs among them.
func fieldsOf(t reflect.Type) []field {
	var fs []field
	for i := range t.NumField() {
		sf := t.Field(i)
		name, options, _ := strings.Cut(sf.Tag.Get("yaml"), ",")
		inline := slices.Contains(strings.Split(options, ","), "inline")
		if sf.Type.Kind() == reflect.Struct && (inline || sf.Anonymous && name == "") {
			for _, inner := range fieldsOf(sf.Type) {
				inner.index = append([]int{i}, inner.index...)
				fs = append(fs, inner)
			}
			continue
		}
		if name == "" || name == "-" || !sf.IsExported() {
			continue
		}
		fs = append(fs, field{name, []int{i}, sf.Type, sf.Tag, t})
	}
	return fs
}

var (
	durationType = reflect.TypeFor[time.Duration]()
	textType     = reflect.TypeFor[encoding.TextUnmarshaler]()
	nodeType     = reflect.TypeFor[nodeDecoder]()
	anyType      = reflect.TypeFor[any]()
	secretType   = reflect.TypeFor[access.Secret]()
)

// pairSetter takes a mapping in the file's order.
type pairSetter interface {
	SetPairs(pairs []component.Pair) error
}

// nodeDecoder is a part of the schema that reads its node itself.
type nodeDecoder interface {
	decodeNode(d *decoder, n *node, path string)
}

// keyRefuser is a struct with keys that are known but not served, each with the reason.
type keyRefuser interface {
	refusedKeys() map[string]string
}

// settingsChecker is a struct with rules between its keys. The errors are SettingErrors below the struct.
type settingsChecker interface {
	checkSettings() []error
}

// typeDescriber names its type in the reference.
type typeDescriber interface {
	describeType() string
}

// setDefaults fills in what the default tags say. The tags are part of the code: a wrong one is a mistake that the
// tests of the reference find.
func setDefaults(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		value := v.FieldByIndex(f.index)
		text, ok := f.tag.Lookup("default")
		if !ok {
			if f.typ.Kind() == reflect.Struct && !reflect.PointerTo(f.typ).Implements(textType) &&
				!reflect.PointerTo(f.typ).Implements(nodeType) {
				setDefaults(value)
			}
			continue
		}
		if !value.IsZero() {
			continue
		}
		setDefault(value, text)
	}
}

func setDefault(value reflect.Value, text string) {
	if t, ok := value.Addr().Interface().(encoding.TextUnmarshaler); ok {
		if err := t.UnmarshalText([]byte(text)); err != nil {
			value.SetZero()
		}
		return
	}
	switch {
	case value.Type() == durationType:
		if d, err := parseDuration(text); err == nil {
			value.SetInt(int64(d))
		}
	case value.Kind() == reflect.String:
		value.SetString(text)
	case value.CanInt():
		if i, err := strconv.ParseInt(text, 10, 64); err == nil {
			value.SetInt(i)
		}
	case value.CanUint():
		if u, err := strconv.ParseUint(text, 10, 64); err == nil {
			value.SetUint(u)
		}
	case value.CanFloat():
		if f, err := strconv.ParseFloat(text, 64); err == nil {
			value.SetFloat(f)
		}
	case value.Kind() == reflect.Bool:
		value.SetBool(text == "true")
	case value.Kind() == reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		setDefault(value.Elem(), text)
	}
}
