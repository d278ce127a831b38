package stack

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// What tags say of a resource. All of them are hikyaku's own.
const (
	ours         = "hikyaku:"
	stackTag     = ours + "stack"
	resourceTag  = ours + "logical-id"
	sumTag       = ours + "sum"
	deletionTag  = ours + "deletion-policy"
	partTag      = ours + "part:" // and the name in the template: a part of what has the tag
	retain       = "Retain"
	longestLabel = 100 // characters of a name in the template that a tag's key has room for
)

// thing is a resource of a stack that is there.
type thing struct {
	stack, resource, kind string
	owner                 string // a part's function, or queue
	name                  string
	sum                   string
	retain                bool
	at                    string         // the ARN or the URL that calls name it by
	attributes            map[string]any // "" is what Ref stands for
	seen                  bool           // the template has it
}

// tagged are all tags of an item: the template's, and what says whose it is.
func (x *run) tagged(tags map[string]string, i *item, sum string) map[string]string {
	all := map[string]string{stackTag: x.c.Name, resourceTag: label(i.resource), sumTag: sum}
	if i.retain {
		all[deletionTag] = retain
	}
	maps.Copy(all, tags)
	return all
}

// outdated are the keys of tags that something has and is to have no more. The notes of parts come and go with these.
func outdated(has, wanted map[string]string) (keys []string) {
	for _, key := range slices.Sorted(maps.Keys(has)) {
		if _, there := wanted[key]; !there && !strings.HasPrefix(key, partTag) {
			keys = append(keys, key)
		}
	}
	return keys
}

// retag gives a function or a mapping these tags, and takes those away that are outdated.
func (x *run) retag(ctx context.Context, of string, tags map[string]string) error {
	has, err := x.c.tags(ctx, of)
	if err != nil {
		return err
	}
	if gone := outdated(has, tags); len(gone) > 0 {
		if err := x.untag(ctx, of, gone); err != nil {
			return err
		}
	}
	return x.c.Lambda.JSON(ctx, http.MethodPost, tagsPath+url.PathEscape(of), map[string]any{"Tags": tags}, nil)
}

// label is a name in the template as tags have it: one that is too long ends with a sum.
func label(resource string) string { return shortened(resource, longestLabel) }

func marked(kind string, tags map[string]string) *thing {
	if tags[stackTag] == "" {
		return nil
	}
	return &thing{stack: tags[stackTag], resource: tags[resourceTag], kind: kind, sum: tags[sumTag],
		retain: tags[deletionTag] == retain}
}

// partMark is what a tag says of a part.
func partMark(kind, name, sum string, retained bool) string {
	mark := kind + " " + name + " " + cmp.Or(sum, "-")
	if retained {
		mark += " " + retain
	}
	return mark
}

// parts reads the tags of what has parts.
func parts(owner *thing, tags map[string]string) (all []*thing) {
	for key, value := range tags {
		resource, ok := strings.CutPrefix(key, partTag)
		words := strings.Fields(value)
		if !ok || len(words) < 3 {
			continue
		}
		all = append(all, &thing{stack: owner.stack, resource: resource, kind: words[0], owner: owner.name,
			name: words[1], sum: words[2], retain: len(words) > 3, at: owner.at, attributes: map[string]any{}})
	}
	slices.SortFunc(all, func(a, b *thing) int { return cmp.Compare(a.resource, b.resource) })
	return all
}

// things lists what stacks have made; of all stacks, or of one.
func (d *Doors) things(ctx context.Context, stack string) (all []*thing, err error) {
	for _, list := range []func(context.Context) ([]*thing, error){d.queues, d.layers, d.functions, d.mappings} {
		found, err := list(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, found...)
	}
	if stack != "" {
		all = slices.DeleteFunc(all, func(t *thing) bool { return t.stack != stack })
	}
	for _, t := range all {
		if t.kind == kindURL { // its address is the door's to say
			var got struct {
				FunctionURL string `json:"FunctionUrl"`
			}
			if err := d.Lambda.JSON(ctx, http.MethodGet, qualified(functionPath(t.owner, "url"), t.qualifier()), nil,
				&got); err != nil && !absent(err) {
				return nil, err
			}
			t.attributes["FunctionUrl"] = got.FunctionURL
		}
	}
	return all, nil
}

// qualifier is what a part's name says of a version or an alias; "" is none.
func (t *thing) qualifier() string {
	name, _, _ := strings.Cut(t.name, "/")
	if name == "-" {
		return ""
	}
	return name
}

func (d *Doors) tags(ctx context.Context, arn string) (map[string]string, error) {
	var got struct{ Tags map[string]string }
	err := d.Lambda.JSON(ctx, http.MethodGet, tagsPath+url.PathEscape(arn), nil, &got)
	if absent(err) { // deleted meanwhile
		return nil, nil
	}
	return got.Tags, err
}

func (d *Doors) functions(ctx context.Context) (all []*thing, err error) {
	for marker := ""; ; {
		var page struct {
			Functions  []struct{ FunctionName, FunctionArn string }
			NextMarker string
		}
		path := functionsPath + "?MaxItems=50&Marker=" + url.QueryEscape(marker)
		if marker == "" {
			path = functionsPath + "?MaxItems=50"
		}
		if err := d.Lambda.JSON(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		for _, f := range page.Functions {
			tags, err := d.tags(ctx, f.FunctionArn)
			if err != nil {
				return nil, err
			}
			if t := marked(kindFunction, tags); t != nil {
				t.name, t.at = f.FunctionName, f.FunctionArn
				t.attributes = map[string]any{"": t.name, "Arn": t.at}
				all = append(append(all, t), parts(t, tags)...)
			}
		}
		if marker = page.NextMarker; marker == "" {
			return all, nil
		}
	}
}

func (d *Doors) mappings(ctx context.Context) (all []*thing, err error) {
	for marker := ""; ; {
		var page struct {
			EventSourceMappings []struct {
				ID                    string `json:"UUID"`
				EventSourceMappingArn string
				EventSourceArn        string
			}
			NextMarker string
		}
		path := mappingsPath
		if marker != "" {
			path += "?Marker=" + url.QueryEscape(marker)
		}
		if err := d.Lambda.JSON(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		for _, m := range page.EventSourceMappings {
			tags, err := d.tags(ctx, m.EventSourceMappingArn)
			if err != nil {
				return nil, err
			}
			if t := marked(kindMapping, tags); t != nil {
				t.name, t.at = m.EventSourceArn, m.ID
				t.attributes = map[string]any{"": m.ID, "Id": m.ID, "EventSourceMappingArn": m.EventSourceMappingArn}
				all = append(all, t)
			}
		}
		if marker = page.NextMarker; marker == "" {
			return all, nil
		}
	}
}

func (d *Doors) queues(ctx context.Context) (all []*thing, err error) {
	in := map[string]any{"MaxResults": 1000}
	for {
		var page struct {
			QueueURLs []string `json:"QueueUrls"`
			NextToken string
		}
		if err := d.queue(ctx, "ListQueues", in, &page); err != nil {
			return nil, err
		}
		for _, at := range page.QueueURLs {
			var got struct{ Tags map[string]string }
			err := d.queue(ctx, "ListQueueTags", map[string]any{"QueueUrl": at}, &got)
			if absent(err) {
				continue
			}
			if err != nil {
				return nil, err
			}
			if t := marked(kindQueue, got.Tags); t != nil {
				t.at, t.name = at, at[strings.LastIndexByte(at, '/')+1:]
				if t.attributes, err = d.queueAttributes(ctx, at); err != nil {
					return nil, err
				}
				all = append(append(all, t), parts(t, got.Tags)...)
			}
		}
		if in["NextToken"] = page.NextToken; page.NextToken == "" {
			return all, nil
		}
	}
}

// queueAttributes are those that templates refer to.
func (d *Doors) queueAttributes(ctx context.Context, at string) (map[string]any, error) {
	var got struct{ Attributes map[string]string }
	err := d.queue(ctx, "GetQueueAttributes", map[string]any{"QueueUrl": at,
		"AttributeNames": []string{"QueueArn"}}, &got)
	return queueAttributes(at, got.Attributes["QueueArn"]), err
}

func queueAttributes(at, arn string) map[string]any {
	return map[string]any{"": at, "QueueUrl": at, "Arn": arn, "QueueName": arn[strings.LastIndexByte(arn, ':')+1:]}
}

// The end of a layer's description says whose it is.
const (
	layerMark  = "[" + stackTag + "="
	layerLabel = 64  // characters of a name in the template
	maxText    = 256 // characters of a description
)

// describeLayer adds whose it is to a layer's description, which is cut where there is no room.
func describeLayer(description, stack, resource, sum string, retained bool) string {
	mark := layerMark + stack + " " + shortened(resource, layerLabel) + " " + sum
	if retained {
		mark += " " + retain
	}
	mark += "]"
	if said := []rune(description); len(said) > maxText-len(mark)-1 {
		description = string(said[:maxText-len(mark)-1])
	}
	return strings.TrimPrefix(description+" "+mark, " ")
}

func (d *Doors) layers(ctx context.Context) (all []*thing, err error) {
	var names []string
	for marker := ""; ; {
		var page struct {
			Layers     []struct{ LayerName string }
			NextMarker string
		}
		path := layersPath
		if marker != "" {
			path += "?Marker=" + url.QueryEscape(marker)
		}
		if err := d.Lambda.JSON(ctx, http.MethodGet, path, nil, &page); err != nil {
			return nil, err
		}
		for _, l := range page.Layers {
			names = append(names, l.LayerName)
		}
		if marker = page.NextMarker; marker == "" {
			break
		}
	}
	for _, name := range names {
		for marker := ""; ; {
			var page struct {
				LayerVersions []struct {
					LayerVersionArn, Description string
					Version                      int
				}
				NextMarker string
			}
			path := layersPath + "/" + url.PathEscape(name) + "/versions"
			if marker != "" {
				path += "?Marker=" + url.QueryEscape(marker)
			}
			if err := d.Lambda.JSON(ctx, http.MethodGet, path, nil, &page); err != nil {
				return nil, err
			}
			for _, v := range page.LayerVersions {
				at := strings.LastIndex(v.Description, layerMark)
				if at < 0 {
					continue
				}
				words := strings.Fields(strings.TrimSuffix(v.Description[at+len(layerMark):], "]"))
				if len(words) < 3 {
					continue
				}
				all = append(all, &thing{stack: words[0], resource: words[1], kind: kindLayer,
					name: name + ":" + fmt.Sprint(v.Version), sum: words[2], retain: len(words) > 3,
					at:         layersPath + "/" + url.PathEscape(name) + "/versions/" + fmt.Sprint(v.Version),
					attributes: map[string]any{"": v.LayerVersionArn, "LayerVersionArn": v.LayerVersionArn}})
			}
			if marker = page.NextMarker; marker == "" {
				break
			}
		}
	}
	return all, nil
}
