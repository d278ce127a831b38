package mysql

import (
	"sync/atomic"
	"unicode/utf8"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/types"
	vmysql "github.com/dolthub/vitess/go/mysql"
)

// like is a LIKE whose time grows with its text, or is ended with its statement: go-mysql-server's tries the whole
// pattern again at each character, for hours where both have a megabyte, and keeps the first pattern where another may
// follow.
type like struct {
	*expression.Like
	last atomic.Pointer[likePattern] // of most patterns there is one
}

// WithChildren implements gms.Expression.
func (l *like) WithChildren(ctx *gms.Context, children ...gms.Expression) (gms.Expression, error) {
	e, err := l.Like.WithChildren(ctx, children...)
	if err != nil {
		return nil, err
	}
	return &like{Like: e.(*expression.Like)}, nil
}

// Eval implements gms.Expression.
func (l *like) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	text, ok, err := collated(ctx, l.LeftChild, row)
	if !ok || err != nil {
		return nil, err
	}
	pattern, ok, err := collated(ctx, l.RightChild, row)
	if !ok || err != nil {
		return nil, err
	}
	escape := `\`
	if l.Escape != nil {
		v, err := l.Escape.Eval(ctx, row)
		if err != nil {
			return nil, err
		}
		if v != nil {
			escape = text64(v)
		}
		if utf8.RuneCountInString(escape) != 1 {
			return nil, gms.ErrInvalidArgument.New("ESCAPE")
		}
	}
	collation, _ := l.CollationCoercibility(ctx)
	p := l.last.Load()
	if p == nil || p.text != pattern || p.escape != escape || p.collation != collation {
		if p, err = newLikePattern(meterOf(ctx), collation, pattern, escape); err != nil {
			return nil, err
		}
		l.last.Store(p)
	}
	if p.broken {
		ctx.Warn(vmysql.ERInvalidCharacterString, "Invalid %s character string", collation.CharacterSet().Name())
		return nil, nil
	}
	m := likeMatch{p: p, rest: text, alive: ctx.Err}
	return m.whole(), m.err
}

// collated is an expression's value as text; ok is false for NULL.
func collated(ctx *gms.Context, e gms.Expression, row gms.Row) (text string, ok bool, err error) {
	v, err := e.Eval(ctx, row)
	if v == nil || err != nil {
		return "", false, err
	}
	if v, err = gms.UnwrapAny(ctx, v); err != nil {
		return "", false, err
	}
	if text, ok = v.(string); !ok {
		text, _, err = types.ConvertToCollatedString(ctx, v, e.Type(ctx))
	}
	return text, true, err
}

func meterOf(ctx *gms.Context) *meter {
	if s := sessionOf(ctx); s != nil {
		return s.meter
	}
	return nil
}

// likePattern is a pattern of LIKE, read.
type likePattern struct {
	text, escape string
	collation    gms.CollationID
	next         func(string) (rune, int) // a character and its bytes
	weight       func(rune) int32
	pieces       []likePiece // what stands between the %: one where there is none
	broken       bool        // it is no text of its character set
}

// likePiece is what a text has to have in one piece.
type likePiece struct {
	weights []int32 // of characters; anyCharacter: _
	back    []int32 // how many characters fit still where the next does not (Knuth, Morris, Pratt); nil: there is a _
}

const anyCharacter = -1

// likeBytes is what a byte of a pattern needs: two numbers for a character, and room for the slices to grow.
const likeBytes = 16

// newLikePattern reads a pattern. What it needs is counted.
func newLikePattern(m *meter, collation gms.CollationID, text, escape string) (*likePattern, error) {
	if m != nil {
		if err := m.make(times(int64(len(text)), likeBytes)); err != nil {
			return nil, err
		}
	}
	p := &likePattern{text: text, escape: escape, collation: collation,
		next: collation.CharacterSet().Encoder().NextRune, weight: collation.Sorter()}
	escaping, _ := utf8.DecodeRuneInString(escape)
	piece := likePiece{}
	for rest := text; rest != ""; {
		r, n := p.next(rest)
		if r == utf8.RuneError && n <= 1 {
			p.broken = true
			return p, nil
		}
		rest = rest[n:]
		switch {
		case r == '%': // also where it is named as the escape: MySQL asks for it first
			p.pieces = append(p.pieces, piece)
			piece = likePiece{}
		case r == escaping && rest != "": // at the end it stands for itself
			if r, n = p.next(rest); r == utf8.RuneError && n <= 1 {
				p.broken = true
				return p, nil
			}
			rest = rest[n:]
			piece.weights = append(piece.weights, p.weight(r))
		case r == '_':
			piece.weights = append(piece.weights, anyCharacter)
		default:
			piece.weights = append(piece.weights, p.weight(r))
		}
	}
	p.pieces = append(p.pieces, piece)
	for i := 1; i < len(p.pieces)-1; i++ {
		p.pieces[i].link()
	}
	return p, nil
}

// link makes back, where all characters are named.
func (p *likePiece) link() {
	back := make([]int32, len(p.weights))
	fits := int32(0)
	for i, w := range p.weights {
		if w == anyCharacter {
			return
		}
		if i == 0 {
			continue
		}
		for fits > 0 && p.weights[fits] != w {
			fits = back[fits-1]
		}
		if p.weights[fits] == w {
			fits++
		}
		back[i] = fits
	}
	p.back = back
}
