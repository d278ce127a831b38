package journey

import "context"

type by struct{}

// By makes a context that says who does what is done with it: a door.
func By(ctx context.Context, who string) context.Context { return context.WithValue(ctx, by{}, who) }

// Who is what By said; "": nothing.
func Who(ctx context.Context) string {
	who, _ := ctx.Value(by{}).(string)
	return who
}
