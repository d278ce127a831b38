package message

import (
	"bytes"
	"fmt"

	"github.com/hikyaku/hikyaku/tsurugi/internal/wire"
)

// ParseAnswer reads an answer of the SQL service. It keeps nothing of b.
func ParseAnswer(b []byte) (*Answer, error) {
	a := new(Answer)
	err := wire.Fields(b, func(f wire.Field) error {
		message, err := f.Message()
		if err != nil || f.Num > 99 {
			return err
		}
		a.Kind = AnswerKind(f.Num)
		return wire.Fields(message, a.outer)
	})
	if err == nil && a.Kind == 0 {
		err = fmt.Errorf("%w: an empty answer", wire.ErrMalformed)
	}
	if err != nil {
		return nil, err
	}
	return a, nil
}

// outer reads a field beside the result and the error.
func (a *Answer) outer(f wire.Field) error {
	switch {
	case a.Kind == QueryHead && f.Num == 1:
		a.Name = f.String()
	case a.Kind == QueryHead && f.Num == 2:
		return wire.Fields(f.Bytes, func(f wire.Field) error { return a.column(f, 1) })
	case a.Kind == QueryHead:
		return nil
	case a.Kind == PrepareAnswer && f.Num == 1:
		a.Handle = bytes.Clone(f.Bytes)
	case a.Kind == ErrorInfoAnswer && f.Num == 1, f.Num == a.Kind.failure():
		a.Error = new(Error)
		return wire.Fields(f.Bytes, a.Error.parse)
	case a.Kind == ErrorInfoAnswer && f.Num == 2:
		a.Absent = true
	case f.Num == a.Kind.success():
		return wire.Fields(f.Bytes, a.inner)
	}
	return nil
}

func (e *Error) parse(f wire.Field) error {
	switch f.Num {
	case 2:
		e.Detail = f.String()
	case 3:
		e.Code = f.Int
	case 4:
		e.Supplement = f.String()
	}
	return nil
}

// inner reads a field of the result.
func (a *Answer) inner(f wire.Field) error {
	switch a.Kind {
	case BeginAnswer:
		if f.Num == 1 {
			a.Handle = bytes.Clone(f.Bytes)
			return nil
		}
		return wire.Fields(f.Bytes, func(f wire.Field) error {
			if f.Num == 1 {
				a.TxID = f.String()
			}
			return nil
		})
	case ExplainAnswer:
		switch f.Num {
		case 1:
			a.Format = f.String()
		case 2:
			a.Version = f.Int
		case 3:
			a.Contents = f.String()
		}
		return a.column(f, 4)
	case DescribeAnswer:
		return a.described(f)
	case ListAnswer, PathAnswer:
		return a.names(f)
	case ExecuteAnswer:
		return a.counter(f)
	case LargeObjectAnswer:
		if f.Num == 1 {
			a.Name = f.String()
		}
	case StatusAnswer:
		if f.Num == 1 {
			a.Status = f.Int
		}
	}
	return nil
}

func (a *Answer) described(f wire.Field) error {
	switch f.Num {
	case 1:
		a.Database = f.String()
	case 2:
		a.Schema = f.String()
	case 3:
		a.Table = f.String()
	case 5:
		a.Key = append(a.Key, f.String())
	case 20:
		a.Describe = f.String()
	}
	return a.column(f, 4)
}

// column reads a column, if that is what field num is.
func (a *Answer) column(f wire.Field, num int) error {
	if int(f.Num) != num {
		return nil
	}
	c, err := parseColumn(f.Bytes)
	a.Columns = append(a.Columns, c)
	return err
}

func (a *Answer) names(f wire.Field) error {
	if f.Num != 1 {
		return nil
	}
	var name []string
	err := wire.Fields(f.Bytes, func(f wire.Field) error {
		return wire.Fields(f.Bytes, func(f wire.Field) error {
			if f.Num == 1 {
				name = append(name, f.String())
			}
			return nil
		})
	})
	a.Names = append(a.Names, name)
	return err
}

func (a *Answer) counter(f wire.Field) error {
	var kind, n uint64
	err := wire.Fields(f.Bytes, func(f wire.Field) error {
		switch f.Num {
		case 1:
			kind = f.Int
		case 2:
			n = f.Int
		}
		return nil
	})
	switch kind {
	case Inserted:
		a.Inserted = int64(n)
	case Updated:
		a.Updated = int64(n)
	case Merged:
		a.Merged = int64(n)
	case Deleted:
		a.Deleted = int64(n)
	}
	return err
}
