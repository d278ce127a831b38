package rows

import (
	"errors"
	"fmt"
	"strings"

	"github.com/hikyaku/hikyaku/internal/component"
	"github.com/hikyaku/hikyaku/internal/nearest"
)

// policy is what is done about a field without a column, or a column without a field.
type policy uint8

const (
	refuse policy = iota
	drop
	asNull
	asDefault
)

// settings are a Config that was checked.
type settings struct {
	table            Name
	mode             Mode
	id               string
	key              []string // of Update and Delete; nil: the table's
	strictRows       bool     // a row that is not there makes a dead letter
	columns          Mapping
	unknown, missing policy
	create           []Column // nil: the table is not made, or follows from the messages
	infer            bool
	pool             int
}

// check reads the settings. Errors are *component.SettingError.
func (c *Config) check() (s settings, err error) {
	if s.table, err = ParseName(c.Table); err != nil {
		return s, component.Setting("table", err)
	}
	if c.IDColumn != "" {
		if err := checkName(c.IDColumn); err != nil {
			return s, component.Setting("id_column", err)
		}
	}
	s.id, s.columns = c.IDColumn, c.Columns
	modes := map[string]Mode{"insert": Insert, "upsert": Upsert, "once": Once, "update": Update, "delete": Delete}
	var ok bool
	if s.mode, ok = modes[c.Mode]; !ok && c.Mode != "" {
		return s, component.Setting("mode", fmt.Errorf("%q is none of insert, upsert, once, update and delete", c.Mode))
	}
	if c.Mode == "" && s.id != "" {
		s.mode = Once
	}
	if s.unknown, ok = map[string]policy{"": refuse, "reject": refuse, "drop": drop}[c.Unknown]; !ok {
		return s, component.Setting("unknown", fmt.Errorf("%q is neither reject nor drop", c.Unknown))
	}
	if s.missing, ok = map[string]policy{"": asDefault, "default": asDefault, "reject": refuse,
		"null": asNull}[c.Missing]; !ok {
		return s, component.Setting("missing", fmt.Errorf("%q is none of reject, null and default", c.Missing))
	}
	switch s.pool = c.PoolSize; {
	case s.pool < 0:
		return s, component.Setting("pool_size", fmt.Errorf("%d is negative", s.pool))
	case s.pool == 0:
		s.pool = DefaultPoolSize
	}
	if err := s.checkColumns(); err != nil {
		return s, err
	}
	if err := s.checkKey(c); err != nil {
		return s, err
	}
	if s.create, s.infer, err = definitions(c.Create); err != nil {
		return s, component.Setting("create", err)
	}
	s.create = s.withID(s.create)
	if err := s.checkCreated(); err != nil {
		return s, component.Setting("create", err)
	}
	return s, nil
}

func (s *settings) checkColumns() error {
	seen := map[string]bool{s.id: s.id != ""}
	for _, m := range s.columns {
		at := "columns." + m.Column
		if err := checkName(m.Column); err != nil {
			return component.Setting(at, err)
		}
		if seen[m.Column] {
			return component.Setting(at, errors.New("stands twice, or is id_column as well"))
		}
		seen[m.Column] = true
		if _, ok := sources[m.From]; strings.HasPrefix(m.From, "$") && !ok {
			hint := "a field of the body or an attribute by its name, or $id, $key, $time, $body, $attributes"
			if n := nearest.Name(m.From, sourceNames); n != "" {
				hint = "did you mean " + n + "?"
			}
			return &component.SettingError{Setting: at, Offset: -1, Err: fmt.Errorf("there is no %s", m.From),
				Hint: hint}
		}
	}
	return nil
}

// withID adds the column of the message's id to definitions that lack it.
func (s *settings) withID(columns []Column) []Column {
	if columns == nil || s.id == "" {
		return columns
	}
	for _, c := range columns {
		if c.Name == s.id {
			return columns
		}
	}
	return append([]Column{idColumn(s.id)}, columns...)
}

// idColumn takes the message's id and is the key.
func idColumn(name string) Column {
	return Column{Name: name, Kind: Text, Length: 36, Runes: true, Key: true, Unique: true}
}
