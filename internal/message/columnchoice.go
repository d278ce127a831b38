package message

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"
)

// What MySQL allows of members.
const (
	maxEnumMembers = 65_535
	maxSetMembers  = 64
	maxMember      = 255    // characters
	maxChoices     = 65_535 // bytes of a column's members: ours
)

// unnamed is the collation that SQL gives columns for which none is named; MySQL's own, at that place, knows no case.
const unnamed = "utf8mb4_0900_bin"

// IsChoice tells whether values of the type are String: of an enum one of the column's members, of a set any of them
// in their order, joined by commas.
func (t ColumnType) IsChoice() bool { return t == TypeEnum || t == TypeSet }

// members reads ('a','b',…).
func (p *columnParser) members(c *Column) error {
	if !p.symbol('(') {
		return c.errorf("needs its members, as in %s('a','b')", c.Type)
	}
	for {
		l, err := p.literal()
		if err != nil {
			return err
		}
		if !l.quoted {
			return c.errorf("has members in quotes, as in %s('a','b')", c.Type)
		}
		c.Members = append(c.Members, strings.TrimRight(l.text, " "))
		if p.symbol(')') {
			return c.checkMembers()
		}
		if !p.symbol(',') {
			return c.errorf("has members between commas, and a closing parenthesis behind them")
		}
	}
}

func (c *Column) checkMembers() error {
	most := maxEnumMembers
	if c.Type == TypeSet {
		most = maxSetMembers
	}
	if len(c.Members) > most {
		return c.errorf("is %s with %d members: %d at most", c.Type, len(c.Members), most)
	}
	if total := len(strings.Join(c.Members, "")); total > maxChoices {
		return c.errorf("has members of %d bytes together: %d at most", total, maxChoices)
	}
	seen := make(map[string]bool, len(c.Members))
	for _, m := range c.Members {
		switch {
		case utf8.RuneCountInString(m) > maxMember:
			return c.errorf("has the member '%s' of more than %d characters", shorten(m), maxMember)
		case c.Type == TypeSet && strings.Contains(m, ","):
			return c.errorf("is a set and has the member '%s' with a comma, which stands between members", shorten(m))
		case seen[m]:
			return c.errorf("has the member '%s' twice", shorten(m))
		}
		seen[m] = true
	}
	return nil
}

// MemberList writes the members of an enum or set as they stand in a definition: ('a','b').
func MemberList(members []string) string {
	var b strings.Builder
	for i, m := range members {
		b.WriteByte("(,"[min(i, 1)])
		b.WriteString(String(m).SQL())
	}
	b.WriteByte(')')
	return b.String()
}

// toChoice takes members by their text, in whatever case where there is no other, and by number: of an enum the place
// from 1, of a set the sum of 1, 2, 4, …
func (c Column) toChoice(v Value) (Value, error) {
	switch v.Kind() {
	case KindString, KindBytes:
		if s, ok := c.chosen(v.AsString()); ok {
			return String(s), nil
		}
		if v.Kind() == KindBytes {
			return Value{}, c.noMember(v)
		}
	case KindTime:
		return Value{}, c.noMember(v)
	}
	r, ok := exact(v)
	if !ok {
		return Value{}, c.noMember(v)
	}
	i := roundRat(r)
	if !i.IsUint64() {
		return Value{}, c.noMember(v)
	}
	switch n := i.Uint64(); {
	case c.Type == TypeEnum && n >= 1 && n <= uint64(len(c.Members)):
		return String(c.Members[n-1]), nil
	case c.Type == TypeSet && bits.Len64(n) <= len(c.Members):
		return String(c.some(n)), nil
	}
	return Value{}, c.noMember(v)
}

func (c Column) noMember(v Value) error {
	reason := fmt.Sprintf("is %s and the value %s is none of its members", c.Type, showValue(v))
	return &ColumnError{Column: c.Name, Reason: reason, Member: true}
}

// chosen is a text as the column keeps it.
func (c Column) chosen(text string) (string, bool) {
	if c.Type == TypeEnum {
		n := c.member(strings.TrimRight(text, " "))
		if n < 0 {
			return "", false
		}
		return c.Members[n], true
	}
	if text == "" {
		return "", true
	}
	var n uint64
	for part := range strings.SplitSeq(text, ",") {
		at := c.member(strings.TrimRight(part, " "))
		if at < 0 {
			return "", false
		}
		n |= 1 << at
	}
	return c.some(n), true
}

// member finds a member by its text, -1 if there is none.
func (c Column) member(text string) int {
	n := slices.Index(c.Members, text)
	if exact := strings.HasSuffix(c.Collation, "_bin") && c.Collation != unnamed || c.Collation == "binary"; n >= 0 ||
		exact {
		return n
	}
	return slices.IndexFunc(c.Members, func(m string) bool { return strings.EqualFold(m, text) })
}

// some are a set's members whose bits are in n.
func (c Column) some(n uint64) string {
	var b strings.Builder
	for rest := n; rest != 0; rest &= rest - 1 {
		if rest != n {
			b.WriteByte(',')
		}
		b.WriteString(c.Members[bits.TrailingZeros64(rest)])
	}
	return b.String()
}
