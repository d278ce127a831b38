package stack

import (
	"context"
	"slices"
	"strings"
)

// Remove deletes what a stack has made.
func Remove(ctx context.Context, d Doors, name string) (*Outcome, error) {
	x := &run{c: &Config{Doors: d, Name: name}, act: true}
	var err error
	if x.found, err = d.things(ctx, name); err != nil {
		return &Outcome{}, err
	}
	return &x.out, x.leave(ctx)
}

// Stack is one that has made something.
type Stack struct {
	Name      string
	Resources int
}

// List lists the stacks that have made something, by name.
func List(ctx context.Context, d Doors) ([]Stack, error) {
	found, err := d.things(ctx, "")
	if err != nil {
		return nil, err
	}
	slices.SortStableFunc(found, func(a, b *thing) int { return strings.Compare(a.stack, b.stack) })
	var all []Stack
	for _, t := range found {
		if len(all) == 0 || all[len(all)-1].Name != t.stack {
			all = append(all, Stack{Name: t.stack})
		}
		all[len(all)-1].Resources++
	}
	return all, nil
}
