package rows

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/component"
)

// Config are the settings that every sink into a database has. The Config of a kind embeds it:
//
//	type Config struct {
//		Endpoint    string `yaml:"endpoint"`
//		rows.Config `yaml:",inline"`
//	}
type Config struct {
	Table     []string `yaml:"table" required:"true" doc:"The table, as table or schema.table. A name with a dot in it stands in double quotes, or the parts in a list: [public, a.b]."`
	Mode      string   `yaml:"mode" oneof:"insert upsert once update delete" doc:"What is done about a row whose key is there already: insert refuses it, upsert puts the new row in its place, once leaves the old one, so that a message that comes again does no harm; update sets the columns that the message has, delete deletes the row, and neither of the two makes one. Not set: once with id_column, else insert."`
	Key       []string `yaml:"key" doc:"Of mode update and delete: the columns by which the row is found. Not set: the table's primary key, or its only unique key."`
	NoSuchRow string   `yaml:"no_such_row" oneof:"deliver reject" default:"deliver" doc:"Of mode update and delete, what becomes of a message for whose key there is no row: deliver counts it (no_such_row), reject makes a dead letter of it."`
	IDColumn  string   `yaml:"id_column" doc:"The column that takes the message's id. It should be the table's key: then nothing is written twice, whatever happens."`
	Columns   Mapping  `yaml:"columns" doc:"What each column takes: the field of the body of that name, or else the attribute; or $id, $key, $time, $body or $attributes. Not set: every column of the table takes the field or attribute of its own name."`
	Unknown   string   `yaml:"unknown" oneof:"reject drop" default:"reject" doc:"What is done about a field of the body for which there is no column: reject makes a dead letter of the message, drop leaves the field out."`
	Missing   string   `yaml:"missing" oneof:"reject null default" default:"default" doc:"What a column takes whose field is missing: default takes the column's default, or null where it has none, and with mode update leaves the column as it is; null takes null; reject makes a dead letter of the message."`
	Create    any      `yaml:"create" doc:"Makes the table if it is not there: definitions of its columns as in SQL, in a text or a list (id bigint primary key, name text), or true for columns that follow from the fields of the first messages."`
	PoolSize  int      `yaml:"pool_size" min:"0" max:"1000" doc:"The most sessions with the database at once. Not set: 4."`
}

// DefaultPoolSize is Config.PoolSize where it is not set.
const DefaultPoolSize = 4

// Mapping says what columns take, in the order in which they are written.
type Mapping []Mapped

// Mapped is one column and what it takes: the name of a field or attribute, or one of the texts beginning with a $.
type Mapped struct{ Column, From string }

// SetPairs takes the mapping as the configuration has it.
func (m *Mapping) SetPairs(pairs []component.Pair) error {
	mapping := make(Mapping, 0, len(pairs))
	for _, p := range pairs {
		from, ok := p.Value.(string)
		if !ok || from == "" {
			return &component.SettingError{Setting: p.Key, Offset: -1,
				Err:  fmt.Errorf("the name of a field is wanted, not %v", p.Value),
				Hint: "or $id, $key, $time, $body, $attributes"}
		}
		mapping = append(mapping, Mapped{p.Key, from})
	}
	*m = mapping
	return nil
}
