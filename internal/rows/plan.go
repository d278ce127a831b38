package rows

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/hikyaku/hikyaku/internal/message"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

// source is where a column's value comes from.
type source uint8

const (
	fromField source = iota // of the body, or else an attribute
	fromID
	fromKey
	fromTime
	fromBody
	fromAttributes
)

var sources = map[string]source{"$id": fromID, "$key": fromKey, "$time": fromTime, "$body": fromBody,
	"$attributes": fromAttributes}

var sourceNames = []string{"$id", "$key", "$time", "$body", "$attributes"}

// plan is what a table and the settings make together: which column takes what. It does not change but for its layouts.
type plan struct {
	table *Table
	slots []slot
	names *names   // of the fields
	body  bool     // a column takes the whole body, or all attributes
	keys  []string // by which rows are found, where the mode does that
	sole  bool     // no two rows have the same values in the slots that are key

	mu      sync.Mutex
	full    *layout            // with every slot
	layouts map[string]*layout // with some left out; by which
}

// slot is a column that is written.
type slot struct {
	Column
	source source
	field  int    // its number in names
	name   string // of the field
	key    bool   // it is of Block.Key
	chosen bool   // a person has mapped it
}

// layout are the columns of rows that have the same ones.
type layout struct {
	columns, key []Column
	keyAt        []int // where the key is among the columns
}

// mostLayouts bounds what messages can make us remember.
const mostLayouts = 256

// newPlan finds the columns of a table that is there. Errors say what to do about the table or the settings.
func newPlan(t *Table, s *settings) (*plan, error) {
	p := &plan{table: t, names: newNames(), layouts: map[string]*layout{}}
	var err error
	switch {
	case s.mode.Finds():
		err = p.finding(s)
	case len(s.columns) > 0:
		err = p.chosen(s)
	default:
		err = p.every(s)
	}
	if err == nil {
		err = p.checkID(s)
	}
	if err == nil && !s.mode.Finds() {
		err = p.chooseKey(s)
	}
	if err != nil {
		return nil, err
	}
	p.full = p.layout(nil)
	return p, nil
}

// chosen makes slots of the columns that the settings name.
func (p *plan) chosen(s *settings) error {
	mapping := s.columns
	if s.id != "" {
		mapping = append(slices.Clone(mapping), Mapped{s.id, "$id"})
	}
	for _, m := range mapping {
		c, err := p.column(m.Column)
		if err != nil {
			return err
		}
		p.add(c, m.From, true)
	}
	for _, c := range p.table.Columns {
		if !c.Nullable && !c.Default && !c.Generated &&
			!slices.ContainsFunc(p.slots, func(s slot) bool { return s.Name == c.Name }) {
			return fmt.Errorf("the column %s of %s takes no null and has no default, and columns does not say what "+
				"it takes: add it there", c.Name, p.table.Name)
		}
	}
	return nil
}

// every makes slots of all columns.
func (p *plan) every(s *settings) error {
	if s.id != "" {
		if _, err := p.column(s.id); err != nil {
			return fmt.Errorf("id_column: %w", err)
		}
	}
	for _, c := range p.table.Columns {
		switch {
		case c.Name == s.id:
			p.add(c, "$id", true)
		case !c.Generated:
			p.add(c, c.Name, false)
		}
	}
	if len(p.slots) == 0 {
		return fmt.Errorf("the table %s has no column that can be written", p.table.Name)
	}
	return nil
}

func (p *plan) column(name string) (Column, error) {
	all := make([]string, len(p.table.Columns))
	for i, c := range p.table.Columns {
		if all[i] = c.Name; c.Name != name {
			continue
		}
		if c.Generated {
			return c, fmt.Errorf("the column %s of %s is computed by the database and cannot be written", name,
				p.table.Name)
		}
		return c, nil
	}
	if n := nearest.Name(name, all); n != "" {
		return Column{}, fmt.Errorf("the table %s has no column %s: did you mean %s?", p.table.Name, name, n)
	}
	return Column{}, fmt.Errorf("the table %s has no column %s; it has %s", p.table.Name, name,
		shorten(strings.Join(all, ", ")))
}

func (p *plan) add(c Column, from string, chosen bool) {
	s := slot{Column: c, name: from, chosen: chosen}
	if s.source = sources[from]; s.source == fromField || !chosen {
		s.source, s.field = fromField, p.names.add(from)
	}
	p.body = p.body || s.source == fromBody || s.source == fromAttributes
	p.slots = append(p.slots, s)
}

// checkID wants the column of the id to hold one.
func (p *plan) checkID(s *settings) error {
	if s.id == "" {
		return nil
	}
	c, err := p.column(s.id)
	if err != nil {
		return err
	}
	id := slot{Column: c, source: fromID}
	if _, err := id.ofID(message.NewID()); err != nil {
		return fmt.Errorf("id_column: the column %s of %s is %s, which does not hold an id of 36 characters: make it "+
			"varchar(36)", c.Name, p.table.Name, c.Native)
	}
	return nil
}

// chooseKey finds the columns by which upsert and once go: the message's id, if that is a key, or else the table's key.
func (p *plan) chooseKey(s *settings) error {
	if s.mode == Insert {
		return nil
	}
	parts := 0
	for _, c := range p.table.Columns {
		if c.Key {
			parts++
		}
	}
	if s.id != "" {
		id := &p.slots[slices.IndexFunc(p.slots, func(c slot) bool { return c.Name == s.id })]
		switch {
		case id.Unique || id.Key && parts == 1:
			id.key = true
			return nil
		case !id.Key: // with others it does: a message that comes again has the same in those, too
			return fmt.Errorf("the column %s of %s is no key, so that a message that comes again would make a second "+
				"row: make it the primary key, or set mode: insert", s.id, p.table.Name)
		}
	}
	written := 0
	for i := range p.slots {
		if p.slots[i].Key {
			p.slots[i].key = true
			written++
		}
	}
	switch {
	case parts == 0:
		return fmt.Errorf("the table %s has no primary key and no single unique key for mode: %v to go by: add one, "+
			"or set mode: insert", p.table.Name, s.mode)
	case written < parts:
		return fmt.Errorf("mode: %v goes by the key of %s, of which not every column is written: name them in "+
			"columns, or set mode: insert", s.mode, p.table.Name)
	}
	return nil
}

// layout gives the columns of rows that leave out the slots whose bit is set in without; nil leaves out none.
func (p *plan) layout(without []byte) *layout {
	p.mu.Lock()
	defer p.mu.Unlock()
	if l := p.layouts[string(without)]; l != nil {
		return l
	}
	l := &layout{columns: make([]Column, 0, len(p.slots))}
	for i := range p.slots {
		if leftOut(without, i) {
			continue
		}
		l.columns = append(l.columns, p.slots[i].Column)
		if p.slots[i].key {
			l.key = append(l.key, p.slots[i].Column)
			l.keyAt = append(l.keyAt, len(l.columns)-1)
		}
	}
	if len(p.layouts) >= mostLayouts {
		clear(p.layouts)
	}
	p.layouts[string(without)] = l
	return l
}

func leftOut(without []byte, slot int) bool {
	return slot/8 < len(without) && without[slot/8]&(1<<(slot%8)) != 0
}
