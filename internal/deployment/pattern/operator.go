package pattern

import "encoding/json"

// operator is the parser of an operator's operand; nil: there is no operator of that name.
func operator(name string) func(at string, operand any) (test, error) {
	switch name {
	case "prefix":
		return func(at string, operand any) (test, error) { return parseEdge(at, operand, atFront) }
	case "suffix":
		return func(at string, operand any) (test, error) { return parseEdge(at, operand, atEnd) }
	case "equals-ignore-case":
		return parseIgnoringCase
	case "anything-but":
		return parseBut
	case "exists":
		return parseExists
	case "numeric":
		return parseNumeric
	}
	return nil
}

// parseEdge reads a text, or one in which case does not matter.
func parseEdge(at string, operand any, where place) (test, error) {
	l := like{where: where}
	if object, ok := operand.(map[string]any); ok && len(object) == 1 {
		if operand, l.ignoreCase = object["equals-ignore-case"]; !l.ignoreCase {
			return nil, refuse(at, "prefix and suffix know one operator, equals-ignore-case")
		}
	}
	text, ok := operand.(string)
	if !ok {
		return nil, refuse(at, "prefix and suffix want a text")
	}
	l.text = text
	return l, nil
}

func parseIgnoringCase(at string, operand any) (test, error) {
	text, ok := operand.(string)
	if !ok {
		return nil, refuse(at, "equals-ignore-case wants a text")
	}
	return like{text: text, ignoreCase: true}, nil
}

func parseExists(at string, operand any) (test, error) {
	there, ok := operand.(bool)
	if !ok {
		return nil, refuse(at, "exists is true or false")
	}
	return existence(there), nil
}

// parseBut reads texts, numbers, or an operator with a text or several.
func parseBut(at string, operand any) (test, error) {
	var none []test
	if object, ok := operand.(map[string]any); ok {
		name, operand, err := lone(at, object)
		if err != nil {
			return nil, err
		}
		if name != "prefix" && name != "suffix" && name != "equals-ignore-case" {
			return nil, refuse(at, "anything-but does not know %s", name)
		}
		for _, v := range listed(operand) {
			text, ok := v.(string)
			if !ok || text == "" && name != "equals-ignore-case" {
				return nil, refuse(at, "%s in anything-but wants a text that is not empty", name)
			}
			t, err := operator(name)(at, text)
			if err != nil {
				return nil, err
			}
			none = append(none, t)
		}
	} else {
		for _, v := range listed(operand) {
			switch v.(type) {
			case string, json.Number:
				none = append(none, same{v})
			default:
				return nil, refuse(at, "anything-but wants texts or numbers")
			}
		}
	}
	if len(none) == 0 {
		return nil, refuse(at, "anything-but has a value at least")
	}
	return but{none}, nil
}

func listed(operand any) []any {
	if list, ok := operand.([]any); ok {
		return list
	}
	return []any{operand}
}

// maxNumber is how large numbers may be, above and below zero.
const maxNumber = 5e9

// parseNumeric reads one bound, or the lower one and the upper one.
func parseNumeric(at string, operand any) (test, error) {
	list, ok := operand.([]any)
	if !ok || len(list) != 2 && len(list) != 4 {
		return nil, refuse(at, `numeric wants ["=", NUMBER], one bound, or the lower one and the upper one`)
	}
	var b between
	for i := 0; i < len(list); i += 2 {
		operator, _ := list[i].(string)
		number, _ := list[i+1].(json.Number)
		x, err := number.Float64()
		if err != nil || x < -maxNumber || x > maxNumber {
			return nil, refuse(at, "numeric wants numbers from -5.0e9 to 5.0e9, not %v", list[i+1])
		}
		switch {
		case operator == "=" && len(list) == 2:
			b = between{above: x, below: x, andAbove: true, andBelow: true, hasAbove: true, hasBelow: true}
		case (operator == ">" || operator == ">=") && i == 0:
			b.above, b.hasAbove, b.andAbove = x, true, operator == ">="
		case (operator == "<" || operator == "<=") && i == len(list)-2:
			b.below, b.hasBelow, b.andBelow = x, true, operator == "<="
		default:
			return nil, refuse(at, "numeric does not take %v here", list[i])
		}
	}
	if len(list) == 4 && b.above >= b.below {
		return nil, refuse(at, "the lower bound of numeric has to be less than the upper one")
	}
	return b, nil
}
