package mysql

import (
	gms "github.com/dolthub/go-mysql-server/sql"
)

// seen is an expression whose values are looked at before they are used. To the planner it is its inner expression,
// so that rules see what that is made of.
type seen[E eye] struct {
	gms.Expression
	eye E
}

// An eye looks at the values of an expression.
type eye interface {
	// look returns the value to be used in place of v, which is not NULL, or why the statement is refused.
	look(ctx *gms.Context, v any) (any, error)
}

// A typed eye makes values of a type of its own.
type typed interface{ typeOf(inner gms.Type) gms.Type }

// Type is the inner expression's, unless the eye makes another of it.
func (s *seen[E]) Type(ctx *gms.Context) gms.Type {
	t := s.Expression.Type(ctx)
	if own, ok := any(s.eye).(typed); ok {
		return own.typeOf(t)
	}
	return t
}

// isSeen tells whether an eye of that type looks at e.
func isSeen[E eye](e gms.Expression) bool {
	_, is := e.(*seen[E])
	return is
}

func (s *seen[E]) inner() gms.Expression { return s.Expression }

// CollationCoercibility is the inner expression's.
func (s *seen[E]) CollationCoercibility(ctx *gms.Context) (gms.CollationID, byte) {
	return gms.GetCoercibility(ctx, s.Expression)
}

// Children is the inner expression alone.
func (s *seen[E]) Children() []gms.Expression { return []gms.Expression{s.Expression} }

// WithChildren lets the same eye look at another expression.
func (s *seen[E]) WithChildren(_ *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	if len(children) != 1 {
		return nil, gms.ErrInvalidChildrenNumber.New(s, len(children), 1)
	}
	return &seen[E]{children[0], s.eye}, nil
}

// Eval is the inner expression's value, once it was looked at.
func (s *seen[E]) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	v, err := s.Expression.Eval(ctx, row)
	if err != nil || v == nil {
		return v, err
	}
	if v, err = gms.UnwrapAny(ctx, v); err != nil {
		return nil, err
	}
	return s.eye.look(ctx, v)
}
