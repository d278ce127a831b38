package config

import (
	"reflect"
	"slices"
	"testing"
)

func TestKindsHaveNoKeysThatThePipelineTakes(t *testing.T) {
	taken := map[room][]field{
		roomSource:    fieldsOf(reflect.TypeFor[sourceCommon]()),
		roomTransform: fieldsOf(reflect.TypeFor[transformCommon]()),
		roomSink:      fieldsOf(reflect.TypeFor[sinkCommon]()),
	}
	for _, k := range allKinds() {
		for _, own := range fieldsOf(reflect.TypeOf(k.newConfig()).Elem()) {
			if slices.ContainsFunc(taken[k.room], func(f field) bool { return f.name == own.name }) {
				t.Errorf("%s %s: the key %s is the pipeline's", k.room, k.name, own.name)
			}
		}
	}
}

func TestKindsAreNamedOnceInTheirRoom(t *testing.T) {
	for r := roomSource; r <= roomSink; r++ {
		names := typeNames(kindsOf(r))
		if len(names) == 0 {
			t.Errorf("there is no %s", r)
		}
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%ss: %v", r, names)
		}
	}
}

func TestEveryKeyHasATypeThatAFileCanSet(t *testing.T) {
	var visit func(path string, t reflect.Type)
	visit = func(path string, typ reflect.Type) {
		for _, f := range fieldsOf(typ) {
			inner := f.typ
			for inner.Kind() == reflect.Pointer || inner.Kind() == reflect.Slice || inner.Kind() == reflect.Map {
				if special(inner) {
					break
				}
				inner = inner.Elem()
			}
			switch inner.Kind() {
			case reflect.Struct:
				if !special(inner) {
					visit(path+"."+f.name, inner)
				}
			case reflect.Func, reflect.Chan, reflect.Array, reflect.Complex64, reflect.Complex128:
				t.Errorf("%s.%s: a %s cannot be set in a file", path, f.name, f.typ)
			}
		}
	}
	visit("", reflect.TypeFor[schema]())
	for _, k := range allKinds() {
		visit(k.name, reflect.TypeOf(k.newConfig()).Elem())
	}
}
