package mysql

import (
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression/function"
)

// isAbsent tells of a function of go-mysql-server whether MySQL 8.4 has none of that name (those of vectors, and the
// library's own), or it is one of GTID sets or of spatial values, which this server has not. A program that asks for
// one is told what MySQL says.
//
// No column can have a spatial value. Without these functions there is none: one made of others holds each of them as
// often as it was named, so that a few dozen short statements make gigabytes; and the library reads texts of such
// values, and compares values, in a time that grows with the square of their bytes and that nothing interrupts.
func isAbsent(name string) bool {
	switch name {
	case "geomcollection", "geometrycollection", "linestring", "multilinestring", "multipoint", "multipolygon", "point",
		"polygon":
		return true
	case "distance", "from_vector", "gtid_subtract", "last_insert_uuid", "string_to_vector", "to_vector",
		"vector_to_string":
		return true
	}
	return strings.HasPrefix(name, "st_") || strings.HasPrefix(name, "vec_")
}

// absentFunctions answer that there are none.
func absentFunctions() (fs []gms.Function) {
	for _, f := range function.BuiltIns {
		if name := f.FunctionName(); isAbsent(name) {
			fs = append(fs, gms.FunctionN{Name: name,
				Fn: func(ctx *gms.Context, _ ...gms.Expression) (gms.Expression, error) {
					return nil, sqlError(1305, "42000", "FUNCTION %s.%s does not exist", ctx.GetCurrentDatabase(), name)
				}})
		}
	}
	return fs
}
