package wire

import (
	"bytes"
	"encoding/json"
)

// object returns the input of a call as a JSON object that strict servers
// take, {} if it is none.
func object(raw json.RawMessage) json.RawMessage {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || raw[0] != '{' || !json.Valid(raw) {
		return json.RawMessage("{}")
	}
	return paired(bytes.ToValidUTF8(raw, nil))
}

// paired drops the escapes of surrogates that are not one half of a pair from
// valid JSON: they stand for no character and make strict servers refuse the
// whole request.
func paired(raw []byte) []byte {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' {
			out = append(out, raw[i])
			i++
			continue
		}
		unit, ok := escape(raw[i:])
		switch {
		case !ok:
			// Another escape: two bytes that belong together.
			out = append(out, raw[i:min(i+2, len(raw))]...)
			i += 2
		case unit < 0xd800 || unit > 0xdfff:
			out = append(out, raw[i:i+6]...)
			i += 6
		default:
			low, ok := escape(raw[i+6:])
			if unit <= 0xdbff && ok && low >= 0xdc00 && low <= 0xdfff {
				out = append(out, raw[i:i+12]...)
				i += 12
				continue
			}
			i += 6
		}
	}
	return out
}

// escape reads a \uXXXX escape at the start of b.
func escape(b []byte) (unit int, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		unit <<= 4
		switch {
		case c >= '0' && c <= '9':
			unit |= int(c - '0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			unit |= int(c|0x20-'a') + 10
		default:
			return 0, false
		}
	}
	return unit, true
}

// input turns the arguments of a call as they came into its input. Nothing and
// null are the empty object; what is no object is returned as malformed.
func input(text string) (in json.RawMessage, malformed string) {
	raw := bytes.TrimSpace([]byte(text))
	switch {
	case len(raw) == 0, string(raw) == "null":
		return json.RawMessage("{}"), ""
	case raw[0] != '{', !json.Valid(raw):
		return json.RawMessage("{}"), text
	}
	return paired(raw), ""
}
