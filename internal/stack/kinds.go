package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Kinds of resources that are made here.
const (
	kindFunction    = "AWS::Lambda::Function"
	kindVersion     = "AWS::Lambda::Version"
	kindAlias       = "AWS::Lambda::Alias"
	kindMapping     = "AWS::Lambda::EventSourceMapping"
	kindPermission  = "AWS::Lambda::Permission"
	kindLayer       = "AWS::Lambda::LayerVersion"
	kindURL         = "AWS::Lambda::Url"
	kindEvents      = "AWS::Lambda::EventInvokeConfig"
	kindQueue       = "AWS::SQS::Queue"
	kindQueuePolicy = "AWS::SQS::QueuePolicy"
)

// kinds say what a resource's properties come to.
var kinds map[string]func(x *run, resource string, properties map[string]any) ([]*item, error)

func init() { // they find each other by the run
	kinds = map[string]func(*run, string, map[string]any) ([]*item, error){
		kindFunction: (*run).function, kindVersion: (*run).version, kindAlias: (*run).alias,
		kindMapping: (*run).mapping, kindPermission: (*run).permission, kindLayer: (*run).layer, kindURL: (*run).url,
		kindEvents: (*run).events, kindQueue: (*run).queue, kindQueuePolicy: (*run).queuePolicy,
	}
}

// leaving is in which order kinds are deleted: what names others before these.
var leaving = []string{kindMapping, kindPermission, kindURL, kindEvents, kindAlias, kindVersion, kindFunction,
	kindLayer, kindQueuePolicy, kindQueue}

// passedOver tells which kinds mean nothing here: users and grants decide who may do what, logs are hikyaku's, and
// buckets are where deployments put archives.
func passedOver(kind string) bool {
	switch kind {
	case "AWS::Logs::LogGroup", "AWS::CDK::Metadata", "AWS::S3::Bucket", "AWS::S3::BucketPolicy":
		return true
	}
	return strings.HasPrefix(kind, "AWS::IAM::")
}

// madeUp are attributes of a resource that is passed over, so that others can refer to it.
func (x *run) madeUp(resource, kind string) map[string]any {
	properties, err := x.scope.Properties(resource)
	if err != nil { // it may refer to what there is not here
		properties = nil
	}
	name := x.c.Name + "-" + resource
	for _, is := range []string{"RoleName", "UserName", "GroupName", "ManagedPolicyName", "LogGroupName",
		"BucketName"} {
		if given, ok := properties[is].(string); ok {
			name = given
		}
	}
	m := map[string]any{"": name}
	switch {
	case kind == "AWS::S3::Bucket":
		x.buckets[name] = true
		m["Arn"] = "arn:aws:s3:::" + name
	case kind == "AWS::Logs::LogGroup":
		m["Arn"] = "arn:aws:logs:" + x.c.Region + ":" + x.c.Account + ":log-group:" + name + ":*"
	case kind == "AWS::IAM::Role":
		m["Arn"] = "arn:aws:iam::" + x.c.Account + ":role/" + name
	case kind == "AWS::IAM::User":
		m["Arn"] = "arn:aws:iam::" + x.c.Account + ":user/" + name
	case kind == "AWS::IAM::ManagedPolicy":
		m["Arn"] = "arn:aws:iam::" + x.c.Account + ":policy/" + name
		m[""] = m["Arn"]
	}
	return m
}

// nameOf reads what a property calls a function: a name or an ARN, with a version or an alias behind it or without.
func nameOf(text string) (function, qualifier string) {
	if strings.HasPrefix(text, "arn:") {
		parts := strings.SplitN(text, ":", 8)
		if len(parts) < 7 {
			return text, ""
		}
		if len(parts) == 8 {
			qualifier = parts[7]
		}
		return parts[6], qualifier
	}
	function, qualifier, _ = strings.Cut(text, ":")
	return function, qualifier
}

// part is an item that belongs to a function of the stack, and is noted in its tags. make changes the one that there is
// if exists is true.
func (x *run) part(function string, i *item, make func(ctx context.Context, exists bool) (map[string]any, error)) (
	[]*item, error) {
	i.owner = function
	own := func(kind, name string) bool {
		for _, s := range x.out.Steps {
			if s.Kind == kind && s.Name == name {
				return true
			}
		}
		return false
	}
	if !own(kindFunction, function) {
		return nil, fmt.Errorf("it belongs to the function %s, which is not of this stack", function)
	}
	i.put = func(ctx context.Context, found *thing) (map[string]any, error) {
		key := partTag + label(i.resource)
		note := func(sum string) error {
			return x.c.Lambda.JSON(ctx, http.MethodPost, tagsPath+url.PathEscape(function),
				map[string]any{"Tags": map[string]string{key: partMark(i.kind, i.name, sum, i.retain)}}, nil)
		}
		if found == nil { // noted first: what was made and not noted would be in the way of the next deployment
			if err := note(""); err != nil {
				return nil, err
			}
		}
		attributes, err := make(ctx, found != nil)
		if found == nil && taken(err) {
			forget := x.c.Lambda.JSON(ctx, http.MethodDelete, tagsPath+url.PathEscape(function)+"?tagKeys="+
				url.QueryEscape(key), nil, nil)
			return nil, errors.Join(fmt.Errorf("there is one already that this stack did not make: %w", err), forget)
		}
		if err != nil {
			return nil, err
		}
		return attributes, note(i.sum)
	}
	return []*item{i}, nil
}

// leave deletes what the template has no more.
func (x *run) leave(ctx context.Context) error {
	gone := slices.DeleteFunc(slices.Clone(x.found), func(t *thing) bool { return t.seen })
	slices.SortStableFunc(gone, func(a, b *thing) int {
		return cmp.Or(cmp.Compare(slices.Index(leaving, a.kind), slices.Index(leaving, b.kind)),
			cmp.Compare(a.resource, b.resource))
	})
	whole := map[string]bool{} // functions and queues that go with all their parts
	for _, t := range gone {
		if !t.retain && (t.kind == kindFunction || t.kind == kindQueue) {
			whole[t.kind+t.name] = true
		}
	}
	for _, t := range gone {
		what := Deleted
		if t.retain && t.owner == "" || t.retain && !whole[kindFunction+t.owner] {
			what = Kept
			if t.kind == kindLayer {
				continue // its description cannot be changed, so it will be found each time
			}
		}
		with := t.owner != "" && (whole[kindFunction+t.owner] || whole[kindQueue+t.owner])
		if x.act && !with {
			var err error
			if what == Kept {
				err = x.release(ctx, t)
			} else {
				err = x.delete(ctx, t)
			}
			if err != nil && !absent(err) {
				return fmt.Errorf("%s: %w", t.resource, err)
			}
		}
		x.out.Steps = append(x.out.Steps, Step{t.kind, t.resource, strings.TrimSpace(t.owner + " " + t.name), what})
	}
	return nil
}

// release makes the stack forget something that stays.
func (x *run) release(ctx context.Context, t *thing) error {
	keys := []string{stackTag, resourceTag, sumTag, deletionTag}
	switch t.kind {
	case kindQueue:
		return x.c.queue(ctx, "UntagQueue", map[string]any{"QueueUrl": t.at, "TagKeys": keys}, nil)
	case kindMapping:
		return x.untag(ctx, fmt.Sprint(t.attributes["EventSourceMappingArn"]), keys)
	case kindFunction:
		return x.untag(ctx, t.name, keys)
	}
	return x.forget(ctx, t)
}

// forget takes the note of a part out of the tags of what has it.
func (x *run) forget(ctx context.Context, t *thing) error {
	for _, o := range x.found { // another part may have come in its place
		if o != t && o.seen && o.owner == t.owner && o.resource == t.resource {
			return nil
		}
	}
	keys := []string{partTag + t.resource}
	if t.kind == kindQueuePolicy {
		return x.c.queue(ctx, "UntagQueue", map[string]any{"QueueUrl": t.at, "TagKeys": keys}, nil)
	}
	return x.untag(ctx, t.owner, keys)
}

func (x *run) untag(ctx context.Context, of string, keys []string) error {
	q := url.Values{"tagKeys": keys}
	return x.c.Lambda.JSON(ctx, http.MethodDelete, tagsPath+url.PathEscape(of)+"?"+q.Encode(), nil, nil)
}

func (x *run) delete(ctx context.Context, t *thing) error {
	call := func(path string) error { return x.c.Lambda.JSON(ctx, http.MethodDelete, path, nil, nil) }
	var err error
	switch t.kind {
	case kindFunction:
		return call(functionPath(t.name))
	case kindMapping:
		return call(mappingsPath + "/" + t.at)
	case kindLayer:
		return call(t.at)
	case kindQueue:
		return x.c.queue(ctx, "DeleteQueue", map[string]any{"QueueUrl": t.at}, nil)
	case kindQueuePolicy:
		err = x.setQueue(ctx, t.at, map[string]any{"Policy": ""})
	case kindAlias:
		err = call(functionPath(t.owner, "aliases", t.name))
	case kindVersion:
		if !x.wanted(t) {
			err = call(qualified(functionPath(t.owner), t.name))
		}
	case kindURL:
		err = call(qualified(functionPath(t.owner, "url"), t.qualifier()))
	case kindEvents:
		err = call(qualified(functionPath(t.owner, "event-invoke-config"), t.qualifier()))
	case kindPermission:
		_, statement, _ := strings.Cut(t.name, "/")
		err = call(qualified(functionPath(t.owner, "policy", statement), t.qualifier()))
	}
	if err != nil && !absent(err) {
		return err
	}
	return x.forget(ctx, t)
}

// wanted tells whether the template has the version under another name: nothing is published twice, so two names may
// stand for one.
func (x *run) wanted(t *thing) bool {
	return slices.ContainsFunc(x.out.Steps, func(s Step) bool {
		return s.Kind == kindVersion && s.Name == t.owner+" "+t.name && s.What != Deleted && s.What != Kept
	})
}
