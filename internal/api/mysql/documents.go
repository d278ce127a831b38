package mysql

import (
	"encoding/json"
	"math"
	"strings"

	gms "github.com/dolthub/go-mysql-server/sql"
	document "github.com/dolthub/go-mysql-server/sql/expression/function/json"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/sqltypes"
)

// documents are the functions that follow a path in a document and answer with what they find there. go-mysql-server's
// own look for a member of an array in its elements, and know neither ** nor ranges.
var documents = map[string]clockwork{
	"json_length":        {1, 2, ofBig, jsonLength},
	"json_contains":      {2, 3, ofTruth, jsonContains},
	"json_overlaps":      {2, 2, ofTruth, jsonOverlaps},
	"json_contains_path": {3, math.MaxInt, ofTruth, jsonContainsPath},
	"json_value":         {2, 2, ofScalar, jsonValue},
	"json_storage_size":  {1, 1, ofBig, jsonStorageSize},
	"json_storage_free":  {1, 1, ofBig, jsonStorageFree},
	"json_schema_valid":  {2, 2, ofTruth, jsonSchemaValid},

	"json_schema_validation_report": {2, 2, ofDocument, jsonSchemaReport},
}

func ofTruth(*gms.Context, []gms.Expression) gms.Type { return types.Boolean }

func ofScalar(*gms.Context, []gms.Expression) gms.Type { return scalarType }

// scalarType is that of JSON_VALUE without RETURNING.
var scalarType = types.MustCreateStringWithDefaults(sqltypes.VarChar, 512)

// documentOf is a function's argument as a document.
func documentOf(ctx *gms.Context, name string, v any) (any, error) {
	switch v := exactDocument(v).(type) {
	case gms.JSONWrapper:
		return v.ToInterface(ctx)
	case string:
		var read any
		if err := json.Unmarshal([]byte(v), &read); err != nil {
			return nil, gms.ErrInvalidJSONText.New(1, name, v[:min(len(v), 64)])
		}
		return read, nil
	}
	return nil, gms.ErrInvalidJSONArgument.New(1, name)
}

// wayOf is a function's argument as a path.
func wayOf(v any) ([]leg, error) {
	way, ok := pathOf(text64(v))
	if !ok {
		return nil, sqlError(3143, "42000", "Invalid JSON path expression '%.64s'", text64(v))
	}
	return way, nil
}

// onlyOne is a path that leads to one place.
type onlyOne struct{}

func (onlyOne) look(_ *gms.Context, v any) (any, error) {
	_, err := onlyWayOf(v)
	return v, err
}

func onlyWayOf(v any) ([]leg, error) {
	way, err := wayOf(v)
	if err == nil && forks(way) {
		err = sqlError(3149, "42000", "In this situation, path expressions may not contain the * and ** tokens or an "+
			"array range.")
	}
	return way, err
}

// foundOf are the arguments of a function with what a path leads to in place of the document, if there is a path.
func foundOf(ctx *gms.Context, args []gms.Expression, path int) []gms.Expression {
	if len(args) != path+1 {
		return args
	}
	found, err := document.NewJSONExtract(ctx, args[0], &seen[onlyOne]{args[path], onlyOne{}})
	if err != nil {
		return args // it is of two arguments
	}
	return append([]gms.Expression{extractedOf(found)}, args[1:path]...)
}

// jsonLength is how many members or elements a value has; 1 of any other.
func jsonLength(ctx *gms.Context, args []any) (any, error) {
	v, err := documentOf(ctx, "json_length", args[0])
	if err != nil {
		return nil, err
	}
	if len(args) > 1 {
		way, err := onlyWayOf(args[1])
		if err != nil {
			return nil, err
		}
		found := follow(v, way)
		if len(found) == 0 {
			return nil, nil
		}
		v = found[0]
	}
	switch v := v.(type) {
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	return int64(1), nil
}

// jsonContainsPath tells whether one of the paths leads somewhere, or all do.
func jsonContainsPath(ctx *gms.Context, args []any) (any, error) {
	v, err := documentOf(ctx, "json_contains_path", args[0])
	if err != nil {
		return nil, err
	}
	all := strings.EqualFold(text64(args[1]), "all")
	if !all && !strings.EqualFold(text64(args[1]), "one") {
		return nil, sqlError(3154, "42000", "The oneOrAll argument to json_contains_path may take these values: "+
			"'one' or 'all'.")
	}
	for _, path := range args[2:] {
		way, err := wayOf(path)
		if err != nil {
			return nil, err
		}
		if there := len(follow(v, way)) > 0; there != all {
			return there, nil
		}
	}
	return all, nil
}

// jsonValue is the text of what a path leads to: NULL of an object or an array.
func jsonValue(ctx *gms.Context, args []any) (any, error) {
	v, err := documentOf(ctx, "json_value", args[0])
	if err != nil {
		return nil, err
	}
	way, err := onlyWayOf(args[1])
	if err != nil {
		return nil, err
	}
	found := follow(v, way)
	if len(found) == 0 {
		return nil, nil
	}
	switch v := found[0].(type) {
	case nil, map[string]any, []any:
		return nil, nil
	case string:
		return v, nil
	}
	return types.JSONDocument{Val: found[0]}.JSONString()
}
