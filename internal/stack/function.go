package stack

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
)

var functionShape = fields{"FunctionName": text, "Code": document, "Tags": document, "Description": text,
	"Runtime": text, "Handler": text, "Role": text, "Timeout": number, "MemorySize": number,
	"Environment": fields{"Variables": texts}, "Layers": list{text}, "Architectures": list{text},
	"DeadLetterConfig": fields{"TargetArn": text}, "EphemeralStorage": fields{"Size": number},
	"VpcConfig":     fields{"SubnetIds": list{text}, "SecurityGroupIds": list{text}, "Ipv6AllowedForDualStack": truth},
	"TracingConfig": fields{"Mode": text}, "KmsKeyArn": text, "PackageType": text, "CodeSigningConfigArn": text,
	"SnapStart":         fields{"ApplyOn": text},
	"FileSystemConfigs": list{fields{"Arn": text, "LocalMountPath": text}},
	"LoggingConfig": fields{"LogGroup": text, "LogFormat": text, "ApplicationLogLevel": text,
		"SystemLogLevel": text},
	"ReservedConcurrentExecutions": number,
	"RecursiveLoop":                text,
}

// usual are the settings of a function of which a template says nothing: those of an earlier template do not stay.
func usual() map[string]any {
	return map[string]any{"Description": "", "Timeout": 3, "MemorySize": 128,
		"Environment": map[string]any{"Variables": map[string]any{}}, "Layers": []any{},
		"DeadLetterConfig": map[string]any{"TargetArn": ""}, "EphemeralStorage": map[string]any{"Size": 512}}
}

func (x *run) function(resource string, properties map[string]any) ([]*item, error) {
	fitted, err := fit("", properties, functionShape)
	if err != nil {
		return nil, err
	}
	p := fitted.(map[string]any)
	runtime, _ := p["Runtime"].(string)
	c, err := x.codeOf(p["Code"], inlineFile(runtime))
	if err != nil {
		return nil, err
	}
	tags, err := tagList(p["Tags"])
	if err != nil {
		return nil, err
	}
	name := x.named(p["FunctionName"], resource, 64)
	settings := maps.Clone(p)
	for _, other := range []string{"FunctionName", "Code", "Tags", "CodeSigningConfigArn",
		"ReservedConcurrentExecutions", "RecursiveLoop"} {
		delete(settings, other)
	}
	if key, ok := settings["KmsKeyArn"]; ok {
		settings["KMSKeyArn"] = key
		delete(settings, "KmsKeyArn")
	}
	arn := "arn:aws:lambda:" + x.c.Region + ":" + x.c.Account + ":function:" + name
	delete(p, "Code") // where it lies says nothing of it: Serverless puts a date into the key
	i := &item{name: name, of: []any{p, c.sum}, guess: map[string]any{"": name, "Arn": arn}}
	i.put = func(ctx context.Context, found *thing) (map[string]any, error) {
		// The sum comes last: until then what is there is not what the template says.
		all := x.tagged(tags, i, "-")
		var got struct{ FunctionArn string }
		if found == nil {
			body := maps.Clone(settings)
			body["FunctionName"], body["Code"], body["Tags"] = name, c.content(), all
			if signing, ok := p["CodeSigningConfigArn"]; ok {
				body["CodeSigningConfigArn"] = signing
			}
			err := x.c.Lambda.JSON(ctx, http.MethodPost, functionsPath, body, &got)
			if taken(err) {
				return nil, fmt.Errorf("there is a function %s already that this stack did not make", name)
			}
			if err != nil {
				return nil, err
			}
		} else if err := x.changeFunction(ctx, found, settings, c, all, &got); err != nil {
			return nil, err
		}
		if err := x.limit(ctx, name, p, found != nil); err != nil {
			return nil, err
		}
		return map[string]any{"": name, "Arn": got.FunctionArn}, x.c.Lambda.JSON(ctx, http.MethodPost,
			tagsPath+url.PathEscape(name), map[string]any{"Tags": map[string]string{sumTag: i.sum}}, nil)
	}
	return []*item{i}, nil
}

// changeFunction gives a function what the template says now.
func (x *run) changeFunction(ctx context.Context, found *thing, settings map[string]any, c *code,
	tags map[string]string, got any) error {
	if err := x.retag(ctx, found.name, tags); err != nil {
		return err
	}
	body := usual()
	maps.Copy(body, settings)
	delete(body, "PackageType")
	if c.object == nil { // both at once: a new runtime never meets the old code
		body["Code"] = c.content()
		return x.c.Lambda.JSON(ctx, http.MethodPut, "/hikyaku/functions/"+url.PathEscape(found.name), body, got)
	}
	delete(body, "Architectures")
	if err := x.c.Lambda.JSON(ctx, http.MethodPut, functionPath(found.name, "code"), c.object, nil); err != nil {
		return err
	}
	return x.c.Lambda.JSON(ctx, http.MethodPut, functionPath(found.name, "configuration"), body, got)
}

// limit sets what has calls of its own.
func (x *run) limit(ctx context.Context, name string, p map[string]any, there bool) error {
	if n, ok := p["ReservedConcurrentExecutions"]; ok {
		if err := x.c.Lambda.JSON(ctx, http.MethodPut, functionPath(name, "concurrency"),
			map[string]any{"ReservedConcurrentExecutions": n}, nil); err != nil {
			return err
		}
	} else if there {
		if err := x.c.Lambda.JSON(ctx, http.MethodDelete, functionPath(name, "concurrency"), nil, nil); err != nil {
			return err
		}
	}
	if loop, ok := p["RecursiveLoop"]; ok {
		return x.c.Lambda.JSON(ctx, http.MethodPut, functionPath(name, "recursion-config"),
			map[string]any{"RecursiveLoop": loop}, nil)
	}
	return nil
}
