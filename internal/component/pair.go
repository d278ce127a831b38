package component

// Pair is one entry of a setting whose order matters.
//
// A field of a Config whose pointer has the method
//
//	SetPairs(pairs []component.Pair) error
//
// takes a mapping in the order in which it is written: package config calls SetPairs with its entries, each Value being
// what a field of type any would get. An error that is a SettingError names the place below the field ("errors" for
// routes.errors, "" for the mapping itself), and config puts the field's own name before it.
type Pair struct {
	Key   string
	Value any
}
