package condition

// Rename returns the condition with every name replaced by what spelled returns for it: a queue whose columns are found
// whatever their case gives each its declared spelling, so that Plans speak of one Field for each column. Errors of the
// result still show the text as it was written.
func (e *Expr) Rename(spelled func(name string) string) *Expr {
	slots := map[string]int{}
	var names []string
	root := rename(e.root, func(n *node) {
		n.name = spelled(n.name)
		slot, ok := slots[n.name]
		if !ok {
			slot = len(names)
			slots[n.name] = slot
			names = append(names, n.name)
		}
		n.slot = slot
	})
	return newExpr(e.text, root, names)
}

// rename copies a tree and lets change alter the copies of its names.
func rename(n *node, change func(*node)) *node {
	c := *n
	if n.op == opName {
		change(&c)
		return &c
	}
	c.args = make([]*node, len(n.args))
	for i, a := range n.args {
		c.args[i] = rename(a, change)
	}
	return &c
}
