package bolt

import "errors"

var errFields = errors.New("it is no object")

// eachField calls fn with the fields of a JSON object, as it stands in a verified
// value. Where a few fields of thousands of values are wanted it takes a tenth of
// what reading them whole does. It does not look into strings and what is nested.
func eachField(object []byte, fn func(name, value []byte)) error {
	i := skipSpace(object, 0)
	if i == len(object) || object[i] != '{' {
		return errFields
	}
	for i = skipSpace(object, i+1); i < len(object) && object[i] == '"'; {
		end := skipString(object, i)
		colon := skipSpace(object, end)
		if colon >= len(object) || object[colon] != ':' {
			return errFields
		}
		from := skipSpace(object, colon+1)
		to := skipValue(object, from)
		if to <= from || to >= len(object) {
			return errFields
		}
		fn(object[i+1:end-1], object[from:to])
		if i = skipSpace(object, to); i < len(object) && object[i] == ',' {
			i = skipSpace(object, i+1)
		}
	}
	if i >= len(object) || object[i] != '}' || skipSpace(object, i+1) != len(object) {
		return errFields
	}
	return nil
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// skipString returns where the string ends that begins at i.
func skipString(text []byte, i int) int {
	for i++; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(text)
}

// skipValue returns where the value ends that begins at i.
func skipValue(text []byte, i int) int {
	depth := 0
	for i < len(text) {
		switch text[i] {
		case '"':
			i = skipString(text, i)
			if depth == 0 {
				return i
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			if depth == 0 {
				return i
			}
			if depth--; depth == 0 {
				return i + 1
			}
		case ',':
			if depth == 0 {
				return i
			}
		}
		i++
	}
	return i
}
