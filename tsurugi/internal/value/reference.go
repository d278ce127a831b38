package value

import "encoding/binary"

// A Reference is where the server keeps a large object that a result set named instead of bringing it.
type Reference struct{ Provider, Object, Tag uint64 }

// OfReference makes a BLOB or CLOB, as t says, that is only a reference.
func OfReference(t Type, r Reference) Value { return refer(t, r, 1) }

// OfRelayed makes a BLOB or CLOB, as t says, of what the relay has received; the provider is the relay's storage.
func OfRelayed(t Type, r Reference) Value { return refer(t, r, 2) }

func refer(t Type, r Reference, kind int64) Value {
	var b [24]byte
	binary.BigEndian.PutUint64(b[:], r.Provider)
	binary.BigEndian.PutUint64(b[8:], r.Object)
	binary.BigEndian.PutUint64(b[16:], r.Tag)
	return Value{typ: t, num: kind, text: string(b[:])}
}

// Reference is where a BLOB or CLOB is that came with a result set; ok is false for one that the program made.
func (v Value) Reference() (r Reference, ok bool) { return v.referred(1) }

// Relayed is where the relay has a BLOB or CLOB that was uploaded; ok is false for all others.
func (v Value) Relayed() (r Reference, ok bool) { return v.referred(2) }

func (v Value) referred(kind int64) (r Reference, ok bool) {
	if v.typ != Blob && v.typ != Clob || v.num != kind {
		return Reference{}, false
	}
	b := []byte(v.text)
	return Reference{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])}, true
}
