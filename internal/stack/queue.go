package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

var queueShape = fields{"QueueName": text, "Tags": document, "FifoQueue": truth, "DelaySeconds": text,
	"MaximumMessageSize": text, "MessageRetentionPeriod": text, "ReceiveMessageWaitTimeSeconds": text,
	"VisibilityTimeout": text, "ContentBasedDeduplication": text, "DeduplicationScope": text,
	"FifoThroughputLimit": text, "KmsMasterKeyId": text, "KmsDataKeyReusePeriodSeconds": text,
	"SqsManagedSseEnabled": text, "RedrivePolicy": document, "RedriveAllowPolicy": document}

// usualQueue are the attributes of a queue of which a template says nothing.
var usualQueue = map[string]any{"DelaySeconds": "0", "MaximumMessageSize": "1048576",
	"MessageRetentionPeriod": "345600", "ReceiveMessageWaitTimeSeconds": "0", "VisibilityTimeout": "30",
	"RedrivePolicy": "", "RedriveAllowPolicy": ""}

// asDocument is a document as a text, which a template may write as either.
func asDocument(v any) (string, error) {
	if s, ok := v.(string); ok {
		return s, nil
	}
	b, err := json.Marshal(v)
	return string(b), err
}

func (x *run) queue(resource string, properties map[string]any) ([]*item, error) {
	fitted, err := fit("", properties, queueShape)
	if err != nil {
		return nil, err
	}
	p := fitted.(map[string]any)
	tags, err := tagList(p["Tags"])
	if err != nil {
		return nil, err
	}
	fifo, _ := p["FifoQueue"].(bool)
	most := 80
	if fifo {
		most -= len(".fifo")
	}
	name := x.named(p["QueueName"], resource, most)
	if fifo && !strings.HasSuffix(name, ".fifo") {
		name += ".fifo"
	}
	attributes := map[string]any{}
	for key, v := range p {
		switch key {
		case "QueueName", "Tags":
		case "FifoQueue":
			if fifo {
				attributes[key] = strconv.FormatBool(fifo)
			}
		case "RedrivePolicy", "RedriveAllowPolicy":
			if attributes[key], err = asDocument(v); err != nil {
				return nil, err
			}
		default:
			attributes[key] = v
		}
	}
	i := &item{name: name, of: []any{name, attributes, tags}, guess: queueAttributes(
		strings.TrimRight(x.c.Queues, "/")+"/"+x.c.Account+"/"+name,
		"arn:aws:sqs:"+x.c.Region+":"+x.c.Account+":"+name)}
	i.put = func(ctx context.Context, found *thing) (map[string]any, error) {
		all := x.tagged(tags, i, i.sum)
		var got struct {
			QueueURL string `json:"QueueUrl"`
		}
		if found != nil {
			return found.attributes, x.changeQueue(ctx, found.at, attributes, all)
		}
		// One that is there already would be taken for the new one if its attributes are the same.
		err := x.c.queue(ctx, "GetQueueUrl", map[string]any{"QueueName": name}, &got)
		if err == nil {
			return nil, fmt.Errorf("there is a queue %s already that this stack did not make", name)
		}
		if !absent(err) {
			return nil, err
		}
		if err := x.c.queue(ctx, "CreateQueue", map[string]any{"QueueName": name, "Attributes": attributes,
			"tags": all}, &got); err != nil {
			return nil, err
		}
		return x.c.queueAttributes(ctx, got.QueueURL)
	}
	return []*item{i}, nil
}

// changeQueue gives a queue what the template says now. The sum in the tags comes last.
func (x *run) changeQueue(ctx context.Context, at string, attributes map[string]any, tags map[string]string) error {
	set := maps.Clone(usualQueue)
	maps.Copy(set, attributes)
	delete(set, "FifoQueue") // it is in the name
	if err := x.setQueue(ctx, at, set); err != nil {
		return err
	}
	var got struct{ Tags map[string]string }
	if err := x.c.queue(ctx, "ListQueueTags", map[string]any{"QueueUrl": at}, &got); err != nil {
		return err
	}
	if gone := outdated(got.Tags, tags); len(gone) > 0 {
		if err := x.c.queue(ctx, "UntagQueue", map[string]any{"QueueUrl": at, "TagKeys": gone},
			nil); err != nil {
			return err
		}
	}
	return x.c.queue(ctx, "TagQueue", map[string]any{"QueueUrl": at, "Tags": tags}, nil)
}

func (x *run) setQueue(ctx context.Context, at string, attributes map[string]any) error {
	return x.c.queue(ctx, "SetQueueAttributes", map[string]any{"QueueUrl": at, "Attributes": attributes}, nil)
}

// queuePolicy is an item for each of its queues, which have to be of the stack: it is noted in their tags.
func (x *run) queuePolicy(resource string, properties map[string]any) ([]*item, error) {
	fitted, err := fit("", properties, fields{"Queues": list{text}, "PolicyDocument": document})
	if err != nil {
		return nil, err
	}
	p := fitted.(map[string]any)
	policy, err := asDocument(p["PolicyDocument"])
	if err != nil {
		return nil, err
	}
	queues, _ := p["Queues"].([]any)
	var all []*item
	for _, one := range queues {
		at := one.(string)
		name := at[strings.LastIndexByte(at, '/')+1:]
		if !slices.ContainsFunc(x.out.Steps, func(s Step) bool { return s.Kind == kindQueue && s.Name == name }) {
			return nil, fmt.Errorf("it is for the queue %s, which is not of this stack", at)
		}
		i := &item{name: "policy", owner: name, of: policy, guess: map[string]any{"": resource, "Id": resource}}
		i.put = func(ctx context.Context, _ *thing) (map[string]any, error) {
			if err := x.setQueue(ctx, at, map[string]any{"Policy": policy}); err != nil {
				return nil, err
			}
			return i.guess, x.c.queue(ctx, "TagQueue", map[string]any{"QueueUrl": at, "Tags": map[string]string{
				partTag + label(resource): partMark(i.kind, i.name, i.sum, i.retain)}}, nil)
		}
		all = append(all, i)
	}
	return all, nil
}

func (x *run) mapping(resource string, properties map[string]any) ([]*item, error) {
	fitted, err := fit("", properties, fields{"EventSourceArn": text, "FunctionName": text, "BatchSize": number,
		"Enabled": truth, "MaximumBatchingWindowInSeconds": number, "FunctionResponseTypes": list{text},
		"FilterCriteria": fields{"Filters": list{fields{"Pattern": text}}}, "Tags": document, "KmsKeyArn": text,
		"ScalingConfig": fields{"MaximumConcurrency": number}})
	if err != nil {
		return nil, err
	}
	p := fitted.(map[string]any)
	tags, err := tagList(p["Tags"])
	if err != nil {
		return nil, err
	}
	source, _ := p["EventSourceArn"].(string)
	i := &item{name: source, of: maps.Clone(p), guess: map[string]any{"": unknown, "Id": unknown,
		"EventSourceMappingArn": unknown}}
	delete(p, "Tags")
	if key, ok := p["KmsKeyArn"]; ok {
		p["KMSKeyArn"] = key
		delete(p, "KmsKeyArn")
	}
	i.put = func(ctx context.Context, found *thing) (map[string]any, error) {
		all := x.tagged(tags, i, i.sum)
		if found == nil {
			body := maps.Clone(p)
			body["Tags"] = all
			var got struct {
				ID  string `json:"UUID"`
				Arn string `json:"EventSourceMappingArn"`
			}
			err := x.c.Lambda.JSON(ctx, http.MethodPost, mappingsPath, body, &got)
			return map[string]any{"": got.ID, "Id": got.ID, "EventSourceMappingArn": got.Arn}, err
		}
		body := map[string]any{"BatchSize": 10, "Enabled": true, "MaximumBatchingWindowInSeconds": 0,
			"FunctionResponseTypes": []any{}, "FilterCriteria": map[string]any{}, "ScalingConfig": map[string]any{}}
		maps.Copy(body, p)
		delete(body, "EventSourceArn")
		if err := x.c.Lambda.JSON(ctx, http.MethodPut, mappingsPath+"/"+found.at, body, nil); err != nil {
			return nil, err
		}
		return found.attributes, x.retag(ctx, fmt.Sprint(found.attributes["EventSourceMappingArn"]), all)
	}
	return []*item{i}, nil
}
