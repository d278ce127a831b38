package config

import "bytes"

// bareVariables finds values of a TOML file that are a ${NAME} without quotes, as in
//
//	in_flight_limit = ${LIMIT}
//
// which is no TOML, but what is written where the environment is put into the text before it is read. It returns the
// file with each of them replaced by a text in quotes of the same length, so that all places stay, and what stood
// there, by offset. Without any it returns the file itself.
func bareVariables(text []byte) (patched []byte, found map[int]string) {
	patched = text
	value := false // a value may begin here
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == '#':
			i = lineEnd(text, i)
		case c == '"' || c == '\'':
			i = stringEnd(text, i)
			value = false
		case value && c == '$':
			end := variableEnd(text, i)
			if end < 0 {
				i, value = i+1, false
				continue
			}
			if found == nil {
				found, patched = map[int]string{}, bytes.Clone(text)
			}
			found[i] = string(text[i:end])
			for k := i; k < end; k++ {
				patched[k] = '_'
			}
			patched[i], patched[end-1] = '\'', '\''
			i, value = end, false
		default:
			switch c {
			case '=', '[', ',':
				value = true
			case ' ', '\t', '\r', '\n':
			default:
				value = false
			}
			i++
		}
	}
	return patched, found
}

// variableEnd is the offset behind the ${…} at i, which stands on one line; -1: there is none.
func variableEnd(text []byte, i int) int {
	if i+1 >= len(text) || text[i+1] != '{' {
		return -1
	}
	rest := text[i:lineEnd(text, i)]
	if end := bytes.IndexByte(rest, '}'); end >= 0 {
		return i + end + 1
	}
	return -1
}

func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// stringEnd is the offset behind the string that begins at i, of one line or, in three quotes, of several. One that
// does not end goes on to the end of its line, or of the file.
func stringEnd(text []byte, i int) int {
	quote := text[i : i+1]
	if long := bytes.Repeat(quote, 3); bytes.HasPrefix(text[i:], long) {
		for k := i + 3; k < len(text); k++ {
			if text[k] == '\\' && quote[0] == '"' {
				k++
				continue
			}
			if bytes.HasPrefix(text[k:], long) {
				for k += 3; k < len(text) && text[k] == quote[0]; k++ { // quotes may stand before the closing ones
				}
				return k
			}
		}
		return len(text)
	}
	for k := i + 1; k < len(text) && text[k] != '\n'; k++ {
		if text[k] == '\\' && quote[0] == '"' {
			k++
			continue
		}
		if text[k] == quote[0] {
			return k + 1
		}
	}
	return lineEnd(text, i)
}
