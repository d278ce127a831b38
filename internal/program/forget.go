package program

// forgets tells whether stages begin with something that does not look at its input, as 1 and $key do. Behind a pipe
// gojq joins such a beginning with the end of what is before it, even where other ways lead to the same place ({a: (if
// . then 1 else 2 end | 3)} fails there), so that such pipes are left to it.
func forgets(stages []stage) bool {
	for _, s := range stages {
		if _, nothing := s.one.(identity); nothing {
			continue
		}
		return s.one != nil && ignores(s.one)
	}
	return false
}

// passes tells whether stages are nothing but ".".
func passes(stages []stage) bool {
	for _, s := range stages {
		if _, nothing := s.one.(identity); !nothing {
			return false
		}
	}
	return true
}

// ignores tells whether an expression may begin without a look at its input.
func ignores(e expression) bool {
	switch e := e.(type) {
	case constant, variable, variableField:
		return true
	case chain:
		return ignores(e[0])
	case text:
		return len(e) == 1 && (e[0].value == nil || ignores(e[0].value))
	case object:
		for _, f := range e {
			if !ignores(f.value) {
				return false
			}
		}
		return true
	case array:
		return allIgnore(e.stages)
	}
	return false
}

func allIgnore(stages []stage) bool {
	for _, s := range stages {
		for _, c := range s.comma {
			if !allIgnore(c) {
				return false
			}
		}
		if s.one != nil && !ignores(s.one) || s.each || s.keep != nil {
			return false
		}
	}
	return true
}
