package pubsub

import (
	"fmt"
	"strings"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/hikyaku/hikyaku/internal/queue"
)

// The kinds of resource, as they stand in names.
const (
	kindTopic        = "topics"
	kindSubscription = "subscriptions"
	kindSnapshot     = "snapshots"
	kindSchema       = "schemas"
)

// What stands in place of the name of what was deleted.
const (
	deletedTopic  = "_deleted-topic_"
	deletedSchema = "_deleted-schema_"
)

// resource is a name as it came: projects/PROJECT/KIND/ID.
type resource struct {
	project, kind, id string
}

func (r resource) String() string { return "projects/" + r.project + "/" + r.kind + "/" + r.id }

// name is the store's name of it, before aliases.
func (r resource) name() queue.Name { return queue.Name{Namespace: r.project, Name: r.id} }

// of names another resource of the same project.
func (r resource) of(kind, id string) resource { return resource{r.project, kind, id} }

// parseResource reads the name in a field of a request. kinds are those it may be of. It refuses only what cannot name
// anything: what was made by other doors has freer names than what is made here (see checkNew).
func parseResource(field, s string, kinds ...string) (resource, error) {
	parts := strings.Split(s, "/")
	if len(parts) == 4 && parts[0] == "projects" && parts[1] != "" && parts[3] != "" {
		for _, k := range kinds {
			if parts[2] == k {
				r := resource{parts[1], k, parts[3]}
				if err := r.name().Check(); err != nil {
					return resource{}, invalid(field, "%q: %v", s, err)
				}
				return r, nil
			}
		}
	}
	if s == "" {
		return resource{}, invalid(field, "is missing: projects/PROJECT/%s/ID is expected", kinds[0])
	}
	return resource{}, invalid(field, "%.300q is not of the form projects/PROJECT/%s/ID", s, kinds[0])
}

// parseProject reads projects/PROJECT.
func parseProject(field, s string) (string, error) {
	project, ok := strings.CutPrefix(s, "projects/")
	if !ok || (queue.Name{Namespace: project, Name: "x"}).Check() != nil {
		return "", invalid(field, "%.300q is not of the form projects/PROJECT", s)
	}
	return project, nil
}

// checkNew holds the name of something new to the service's rules: 3 to 255 characters, the first a letter, the others
// letters, digits and
// - _ . ~ + %, and not beginning with goog.
func (r resource) checkNew(field string) error {
	bad := func(why string) error {
		return invalid(field, "%q: the id %s (3 to 255 letters, digits and - _ . ~ + %%, the first a letter, not "+
			"beginning with goog)", r, why)
	}
	id := r.id
	switch {
	case len(id) < 3 || len(id) > 255:
		return bad(fmt.Sprintf("has %d characters", len(id)))
	case !letter(id[0]):
		return bad("does not begin with a letter")
	case strings.HasPrefix(id, "goog"):
		return bad("begins with goog")
	}
	for i := range len(id) {
		if c := id[i]; !letter(c) && (c < '0' || c > '9') && strings.IndexByte("-_.~+%", c) < 0 {
			return bad(fmt.Sprintf("has a character that is not allowed at %d", i))
		}
	}
	return nil
}

func letter(c byte) bool { return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' }

// invalid is the error for a field of a request.
func invalid(field, format string, args ...any) error {
	return withField(status.New(codes.InvalidArgument, field+": "+fmt.Sprintf(format, args...)), field)
}
