package config

import (
	"errors"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/condition"
)

// foreign notes an error of somebody else's about one value.
func (d *decoder) foreign(err error, n *node, path string) {
	if n.fromEnv() {
		d.at(n.at, "", "%s does not take %s", path, n.describe()).cause = nil
		return
	}
	d.at(n.at, "", "%s: %v", path, err)
}

// setting notes an error that a constructor, or a rule between keys, returned about the mapping n.
func (d *decoder) setting(err error, n *node, path string) {
	s := (*component.SettingError)(nil)
	if !errors.As(err, &s) {
		d.at(n.at, "", "%s: %v", path, err).cause = err
		return
	}
	target, at := n.lookUp(s.Setting)
	text := s.Err.Error()
	hint := s.Hint
	offset := s.Offset
	if c := (*condition.Error)(nil); errors.As(s.Err, &c) {
		text, hint, offset = c.Message, c.Hint, c.Offset
		if target != nil && c.Text != target.text {
			offset = -1
			if i := strings.Index(target.text, c.Text); i >= 0 {
				offset = i + c.Offset
			}
		}
	}
	if target != nil && offset >= 0 && target.kind == kindString {
		at = d.file.within(target, offset)
	}
	where := path
	if s.Setting != "" {
		where = join(path, s.Setting)
	}
	colon := ":"
	if strings.HasPrefix(text, "is ") {
		colon = ""
	}
	d.at(at, hint, "%s%s %s", where, colon, text).cause = err
}

// lookUp follows a dotted path ("encoding.codec", "columns[2]") as far as the file has it. The node is nil when
// the file does not have the whole; the place is then that of what holds it.
func (n *node) lookUp(path string) (*node, place) {
	at := n.at
	for path != "" {
		if n.kind == kindList || strings.HasPrefix(path, "[0]") {
			end := strings.IndexByte(path, ']')
			if path[0] != '[' || end < 0 {
				return nil, at
			}
			i, err := strconv.Atoi(path[1:end])
			if err != nil || i < 0 {
				return nil, at
			}
			path = strings.TrimPrefix(path[end+1:], ".")
			if n.kind != kindList { // one value stands for a list of one
				continue
			}
			if i >= len(n.items) {
				return nil, at
			}
			n = n.items[i]
			at = n.at
			continue
		}
		// Keys may hold dots and brackets themselves: the longest key that fits wins.
		best := -1
		for i, p := range n.pairs {
			rest, ok := strings.CutPrefix(path, p.key)
			if ok && (rest == "" || rest[0] == '.' || rest[0] == '[') &&
				(best < 0 || len(p.key) > len(n.pairs[best].key)) {
				best = i
			}
		}
		if n.kind != kindMap || best < 0 {
			return nil, at
		}
		p := n.pairs[best]
		path = strings.TrimPrefix(path[len(p.key):], ".")
		n, at = p.value, p.value.at
	}
	return n, at
}
