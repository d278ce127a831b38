package serial

// For the tests outside.
var AppendState = appendState

// Decode hands every message of what came over a line to found.
func Decode(line []byte, found func([]byte)) {
	var d decoder
	for _, v := range line {
		if m, ok := d.add(v); ok {
			found(m)
		}
	}
}
