package rows

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

// checkKey reads the settings of modes that find rows by a key, and refuses those that have no meaning in the mode.
func (s *settings) checkKey(c *Config) error {
	switch c.NoSuchRow {
	case "", "deliver", "reject":
		s.strictRows = c.NoSuchRow == "reject"
	default:
		return component.Setting("no_such_row", fmt.Errorf("%q is neither deliver nor reject", c.NoSuchRow))
	}
	if !s.mode.Finds() {
		switch {
		case len(c.Key) > 0:
			return component.Setting("key",
				fmt.Errorf("is for mode: update and delete; mode: %v goes by the table's own key", s.mode))
		case s.strictRows:
			return component.Setting("no_such_row",
				fmt.Errorf("is for mode: update and delete; mode: %v makes the row", s.mode))
		}
		return nil
	}
	switch {
	case s.id != "":
		return component.Setting("id_column",
			fmt.Errorf("is for rows that are made; mode: %v finds rows: write columns: {%s: $id} and "+
				"key: %s if they have the ids of these messages", s.mode, s.id, s.id))
	case c.Create != nil && c.Create != false:
		return component.Setting("create",
			fmt.Errorf("is for rows that are made; mode: %v finds rows, and a new table has none", s.mode))
	}
	seen := map[string]bool{}
	for _, name := range c.Key {
		if err := checkName(name); err != nil {
			return component.Setting("key", err)
		}
		if seen[name] {
			return component.Setting("key", fmt.Errorf("names %s twice", name))
		}
		seen[name] = true
		if len(s.columns) > 0 && !s.columns.has(name) {
			return component.Setting("key",
				fmt.Errorf("names %s, and columns does not say what it takes: add it there", name))
		}
	}
	s.key = c.Key
	if s.mode == Update && len(s.columns) > 0 && len(s.columns) == len(s.key) {
		return component.Setting("columns", errors.New("has the key alone: name a column that mode: update sets"))
	}
	return nil
}

func (m Mapping) has(column string) bool {
	return slices.ContainsFunc(m, func(x Mapped) bool { return x.Column == column })
}

// finding makes the slots of a mode that finds rows: the key's columns, which may be such as the database computes,
// and with Update the others.
func (p *plan) finding(s *settings) error {
	if err := p.findBy(s); err != nil {
		return err
	}
	mapping := s.columns
	if len(mapping) == 0 {
		for _, c := range p.table.Columns {
			mapping = append(mapping, Mapped{c.Name, c.Name})
		}
	}
	for _, m := range mapping {
		key, chosen := slices.Contains(p.keys, m.Column), len(s.columns) > 0
		at := slices.IndexFunc(p.table.Columns, func(c Column) bool { return c.Name == m.Column })
		switch {
		case at >= 0 && key, at >= 0 && s.mode == Update && !p.table.Columns[at].Generated:
			p.add(p.table.Columns[at], m.From, chosen)
			p.slots[len(p.slots)-1].key = key
		case chosen && (at < 0 || s.mode == Update):
			_, err := p.column(m.Column) // it says why not
			return err
		case s.mode == Delete: // a message may have the whole row in it
			p.names.add(m.From)
		}
	}
	for _, name := range p.keys {
		if !slices.ContainsFunc(p.slots, func(s slot) bool { return s.Name == name }) {
			return fmt.Errorf("mode: %v finds rows of %s by %s, and columns does not say what it takes: add it "+
				"there, or set key",
				s.mode, p.table.Name, name)
		}
	}
	if s.mode == Update && len(p.slots) == len(p.keys) {
		return fmt.Errorf("the table %s has no column beside the key (%s) that mode: update could set", p.table.Name,
			strings.Join(p.keys, ", "))
	}
	return nil
}

// findBy chooses the key: the settings', or else the table's.
func (p *plan) findBy(s *settings) error {
	own, unique := 0, false // columns of the table's key that are ours; one of them alone is unique
	var all, table []string
	for _, c := range p.table.Columns {
		all = append(all, c.Name)
		if c.Key {
			table = append(table, c.Name)
		}
	}
	if p.keys = s.key; len(p.keys) == 0 {
		p.keys = table
	}
	if len(p.keys) == 0 {
		return fmt.Errorf("the table %s has no primary key and no single unique key for mode: %v to find rows by: "+
			"name the columns in key",
			p.table.Name, s.mode)
	}
	for _, name := range p.keys {
		at := slices.Index(all, name)
		if at < 0 {
			hint := "; it has " + shorten(strings.Join(all, ", "))
			if n := nearest.Name(name, all); n != "" {
				hint = ": did you mean " + n + "?"
			}
			return fmt.Errorf("key: the table %s has no column %s%s", p.table.Name, name, hint)
		}
		c := p.table.Columns[at]
		if c.Kind == JSON {
			return fmt.Errorf("key: the column %s of %s is %s, by which no row is found", name, p.table.Name, c.Native)
		}
		unique = unique || c.Unique
		if c.Key {
			own++
		}
	}
	p.sole = unique || len(table) > 0 && own == len(table)
	return nil
}
