package jsontext

import "bytes"

// Values is about how many values a text in JSON has, names among them, and how many of them are objects; never fewer
// than there are. It does not look whether it is JSON.
func Values[T string | []byte](data T) (all, objects int64) {
	all = 1
	text := false
	for i := 0; i < len(data); i++ {
		switch c := data[i]; {
		case c == '"':
			text = !text
		case text && c == '\\':
			i++
		case !text && (c == ',' || c == ':' || c == '[' || c == '{'):
			all++
			if c == '{' {
				objects++
			}
		}
	}
	return all, objects
}

// MostValues is a bound of what Values finds, also of what stands in strings. It takes a tenth of the time.
func MostValues(data []byte) (all, objects int64) {
	objects = int64(bytes.Count(data, []byte{'{'}))
	all = 1 + objects
	for _, c := range []byte(",:[") {
		all += int64(bytes.Count(data, []byte{c}))
	}
	return all, objects
}
