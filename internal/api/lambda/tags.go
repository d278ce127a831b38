package lambda

import (
	"net/http"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// maxTags is how many tags a function or a mapping has at most, as with the service.
const maxTags = 50

// tagged is what the ARN of a path names: a function or, with an id, a mapping.
type tagged struct {
	function string
	mapping  string
	signing  string // the ARN of a code signing configuration
	tags     map[string]string
}

// theTagged finds what the path names, if the caller may do that with it, or with its function.
func (c *call) theTagged(can access.Action) (t tagged, err error) {
	if strings.Contains(c.rest, ":") && !tagForm.Match(c.rest) {
		return t, notValid(c.rest, "resource", "Member must satisfy regular expression pattern: "+tagPattern)
	}
	parts := strings.SplitN(c.rest, ":", 7)
	if len(parts) == 7 && parts[5] == "event-source-mapping" {
		m, err := c.d.functions.Mapping(parts[6])
		if err != nil {
			return t, missing(err, "Event source mapping not found: "+c.rest)
		}
		return tagged{mapping: m.ID, tags: m.Tags}, c.allowed(can, m.Function)
	}
	if len(parts) == 7 && parts[5] == "code-signing-config" {
		s, err := c.signing(can)
		return tagged{signing: c.rest, tags: s.Tags}, err
	}
	if len(parts) == 7 && parts[5] == "capacity-provider" {
		return t, notFound("Capacity provider not found: " + c.rest)
	}
	if err := c.inRegion(c.rest); err != nil {
		return t, err
	}
	name, qualifier, err := deployment.ParseName(c.rest)
	switch {
	case err != nil:
		return t, notValid(c.rest, "resource", "Member must satisfy regular expression pattern: "+tagPattern)
	case qualifier != "":
		return t, wrongValue("Tags on function aliases and versions are not supported. Please specify a function ARN.")
	}
	if err := c.allowed(can, name); err != nil {
		return t, err
	}
	f, err := c.d.functions.Get(name)
	if err != nil {
		return t, err
	}
	return tagged{function: name, tags: f.Tags}, nil
}

// tagPattern is how the service says what has tags.
const tagPattern = `arn:(aws[a-zA-Z-]*):lambda:` + regionText +
	`:\d{12}:(function:[a-zA-Z0-9-_]+(:(\$LATEST|[a-zA-Z0-9-_]+))?|` +
	`layer:([a-zA-Z0-9-_]+)|code-signing-config:csc-[a-z0-9]{17}|` +
	`event-source-mapping:[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}|capacity-provider:[a-zA-Z0-9-_]+)`

var tagForm = shape.Form(tagPattern)

// allowed asks whether the caller may; "": see.
func (c *call) allowed(can access.Action, function string) error {
	if can == "" {
		return c.seen(function)
	}
	return c.may(can, function)
}

func (c *call) listTags() error {
	t, err := c.theTagged("")
	if err != nil {
		return err
	}
	if t.tags == nil {
		t.tags = map[string]string{}
	}
	return c.answer(http.StatusOK, map[string]any{"Tags": t.tags})
}

func (c *call) tag() error {
	var in struct{ Tags map[string]string }
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	if len(in.Tags) == 0 {
		return wrongValue("An error occurred and the request cannot be processed.")
	}
	return c.retag(func(tags map[string]string) error {
		for name, value := range in.Tags {
			tags[name] = value
		}
		if len(tags) > maxTags {
			return wrongValue("Number of tags exceeds resource tag limit.")
		}
		return nil
	})
}

func (c *call) untag() error {
	names := c.r.URL.Query()["tagKeys"]
	if len(names) == 0 {
		return notValid("null", "tagKeys", "Member must not be null")
	}
	return c.retag(func(tags map[string]string) error {
		for _, name := range names {
			delete(tags, name)
		}
		return nil
	})
}

// retag changes the tags of what the path names.
func (c *call) retag(change func(map[string]string) error) error {
	t, err := c.theTagged(access.Admin)
	if err != nil {
		return err
	}
	switch {
	case t.mapping != "":
		err = c.d.functions.TagMapping(c.ctx(), t.mapping, change)
	case t.signing != "":
		_, err = c.d.functions.ChangeSigning(c.ctx(), t.signing,
			func(s *deployment.Signing) error { return change(s.Tags) })
	default:
		_, err = c.d.functions.Change(c.ctx(), t.function, func(f *deployment.Function) error {
			if f.Tags == nil {
				f.Tags = map[string]string{}
			}
			return change(f.Tags)
		})
	}
	if err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// checkTags refuses what the service does not take.
func checkTags(tags map[string]string) error {
	if len(tags) > maxTags {
		return wrongValue("Number of tags exceeds resource tag limit.")
	}
	for name, value := range tags {
		switch {
		case name == "" || len([]rune(name)) > 128:
			return wrongValue("a tag's key has 1 to 128 characters")
		case len([]rune(value)) > 256:
			return wrongValue("a tag's value has at most 256 characters")
		case strings.HasPrefix(strings.ToLower(name), "aws:"):
			return wrongValue("a tag's key cannot begin with aws:")
		}
	}
	return nil
}
