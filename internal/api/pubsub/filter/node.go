package filter

type operator uint8

const (
	opHas       operator = iota // attributes:key
	opEqual                     // attributes.key = "value"
	opNotEqual                  // attributes.key != "value"
	opHasPrefix                 // hasPrefix(attributes.key, "value")
	opNot                       // of args[0]
	opAnd                       // of two args or more
	opOr
)

// node is one expression of a filter. Nodes are never changed after parsing.
type node struct {
	op         operator
	key, value string
	args       []*node
}
