package stack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
)

// unknown stands for what only a door can tell, until it has.
const unknown = "(known when it is made)"

// unpublished is the name of a version before it has a number.
const unpublished = "-"

var provisionedShape = fields{"ProvisionedConcurrentExecutions": number}

// provision sets how many instances a version or an alias has ready.
func (x *run) provision(ctx context.Context, function, qualifier string, v any, there bool) error {
	path := qualified(functionPath(function, "provisioned-concurrency"), qualifier)
	if v != nil {
		return x.c.Lambda.JSON(ctx, http.MethodPut, path, v, nil)
	}
	if !there {
		return nil
	}
	if err := x.c.Lambda.JSON(ctx, http.MethodDelete, path, nil, nil); !absent(err) {
		return err
	}
	return nil
}

// properties fits them, and finds the function that one of them names.
func ofFunction(properties map[string]any, shape fields, by string) (p map[string]any, function, qualifier string,
	err error) {
	fitted, err := fit("", properties, shape)
	if err != nil {
		return nil, "", "", err
	}
	p = fitted.(map[string]any)
	of, _ := p[by].(string)
	if of == "" {
		return nil, "", "", fmt.Errorf("there is no %s", by)
	}
	function, qualifier = nameOf(of)
	if more, ok := p["Qualifier"].(string); ok && more != "" {
		qualifier = more
	}
	if qualifier == "$LATEST" { // which the function without a qualifier is
		qualifier = ""
	}
	delete(p, by)
	delete(p, "Qualifier")
	return p, function, qualifier, nil
}

// A version stays what it was when it was published: another name in the template publishes another one, which is what
// CDK, SAM and Serverless do when something has changed.
func (x *run) version(resource string, properties map[string]any) ([]*item, error) {
	p, function, _, err := ofFunction(properties, fields{"FunctionName": text, "CodeSha256": text, "Description": text,
		"ProvisionedConcurrencyConfig": provisionedShape}, "FunctionName")
	if err != nil {
		return nil, err
	}
	arn := "arn:aws:lambda:" + x.c.Region + ":" + x.c.Account + ":function:" + function + ":"
	provisioned := p["ProvisionedConcurrencyConfig"]
	delete(p, "ProvisionedConcurrencyConfig")
	attributes := func(number string) map[string]any {
		return map[string]any{"": arn + number, "FunctionArn": arn + number, "Version": number}
	}
	i := &item{name: unpublished, of: provisioned, guess: attributes(unknown)}
	for _, t := range x.found {
		if t.kind == kindVersion && t.resource == label(resource) && t.owner == function {
			if i.name = t.name; i.name != unpublished {
				i.guess = attributes(i.name)
			}
		}
	}
	return x.part(function, i, func(ctx context.Context, exists bool) (map[string]any, error) {
		if !exists || i.name == unpublished {
			var got struct{ Version string }
			if err := x.c.Lambda.JSON(ctx, http.MethodPost, functionPath(function, "versions"), p, &got); err != nil {
				return nil, err
			}
			i.name = got.Version
		}
		return attributes(i.name), x.provision(ctx, function, i.name, provisioned, exists)
	})
}

func (x *run) alias(_ string, properties map[string]any) ([]*item, error) {
	p, function, _, err := ofFunction(properties, fields{"FunctionName": text, "Name": text, "FunctionVersion": text,
		"Description": text, "ProvisionedConcurrencyConfig": provisionedShape, "RoutingConfig": fields{
			"AdditionalVersionWeights": list{fields{"FunctionVersion": text, "FunctionWeight": document}}},
	}, "FunctionName")
	if err != nil {
		return nil, err
	}
	name, _ := p["Name"].(string)
	if name == "" {
		return nil, errors.New("there is no Name")
	}
	arn := "arn:aws:lambda:" + x.c.Region + ":" + x.c.Account + ":function:" + function + ":" + name
	i := &item{name: name, of: maps.Clone(p), guess: map[string]any{"": arn, "AliasArn": arn}}
	provisioned := p["ProvisionedConcurrencyConfig"]
	weights := map[string]any{}
	if routing, ok := p["RoutingConfig"].(map[string]any); ok {
		of, _ := routing["AdditionalVersionWeights"].([]any)
		for _, one := range of {
			m := one.(map[string]any)
			weights[fmt.Sprint(m["FunctionVersion"])] = m["FunctionWeight"]
		}
	}
	p["RoutingConfig"] = map[string]any{"AdditionalVersionWeights": weights}
	if p["Description"] == nil {
		p["Description"] = ""
	}
	delete(p, "ProvisionedConcurrencyConfig")
	return x.part(function, i, func(ctx context.Context, exists bool) (map[string]any, error) {
		method, path := http.MethodPost, functionPath(function, "aliases")
		if exists {
			method, path = http.MethodPut, functionPath(function, "aliases", name)
		}
		err := x.c.Lambda.JSON(ctx, method, path, p, nil)
		if exists && absent(err) { // noted, and not made yet
			err = x.c.Lambda.JSON(ctx, http.MethodPost, functionPath(function, "aliases"), p, nil)
		}
		if err != nil {
			return nil, err
		}
		return i.guess, x.provision(ctx, function, name, provisioned, exists)
	})
}

func (x *run) permission(resource string, properties map[string]any) ([]*item, error) {
	p, function, qualifier, err := ofFunction(properties, fields{"FunctionName": text, "Action": text,
		"Principal": text, "SourceArn": text, "SourceAccount": text, "FunctionUrlAuthType": text,
		"EventSourceToken": text, "PrincipalOrgID": text, "InvokedViaFunctionUrl": truth}, "FunctionName")
	if err != nil {
		return nil, err
	}
	statement := shortened(x.c.Name+"-"+resource, 100)
	p["StatementId"] = statement
	i := &item{name: cmp.Or(qualifier, "-") + "/" + statement, of: p, guess: map[string]any{"": statement,
		"Id": statement}}
	return x.part(function, i, func(ctx context.Context, exists bool) (map[string]any, error) {
		if exists { // it cannot be changed
			err := x.c.Lambda.JSON(ctx, http.MethodDelete, qualified(functionPath(function, "policy", statement),
				qualifier), nil, nil)
			if err != nil && !absent(err) {
				return nil, err
			}
		}
		return i.guess, x.c.Lambda.JSON(ctx, http.MethodPost, qualified(functionPath(function, "policy"), qualifier), p,
			nil)
	})
}

func (x *run) url(_ string, properties map[string]any) ([]*item, error) {
	p, function, qualifier, err := ofFunction(properties, fields{"TargetFunctionArn": text, "Qualifier": text,
		"AuthType": text, "InvokeMode": text, "Cors": fields{"AllowCredentials": truth, "AllowHeaders": list{text},
			"AllowMethods": list{text}, "AllowOrigins": list{text}, "ExposeHeaders": list{text}, "MaxAge": number},
	}, "TargetFunctionArn")
	if err != nil {
		return nil, err
	}
	arn := "arn:aws:lambda:" + x.c.Region + ":" + x.c.Account + ":function:" + function
	attributes := map[string]any{"": arn, "FunctionArn": arn}
	i := &item{name: cmp.Or(qualifier, "-"), of: maps.Clone(p), guess: maps.Clone(attributes)}
	i.guess["FunctionUrl"] = unknown
	return x.part(function, i, func(ctx context.Context, exists bool) (map[string]any, error) {
		var got struct {
			FunctionURL string `json:"FunctionUrl"`
		}
		path := qualified(functionPath(function, "url"), qualifier)
		err := error(nil)
		if exists {
			body := map[string]any{"InvokeMode": "BUFFERED", "Cors": map[string]any{}}
			maps.Copy(body, p)
			err = x.c.Lambda.JSON(ctx, http.MethodPut, path, body, &got)
		}
		if !exists || absent(err) {
			err = x.c.Lambda.JSON(ctx, http.MethodPost, path, p, &got)
		}
		attributes["FunctionUrl"] = got.FunctionURL
		return attributes, err
	})
}

func (x *run) events(_ string, properties map[string]any) ([]*item, error) {
	destination := fields{"Destination": text}
	p, function, qualifier, err := ofFunction(properties, fields{"FunctionName": text, "Qualifier": text,
		"MaximumEventAgeInSeconds": number, "MaximumRetryAttempts": number,
		"DestinationConfig": fields{"OnSuccess": destination, "OnFailure": destination}}, "FunctionName")
	if err != nil {
		return nil, err
	}
	i := &item{name: cmp.Or(qualifier, "-"), of: p, guess: map[string]any{"": function + "|" + qualifier}}
	return x.part(function, i, func(ctx context.Context, _ bool) (map[string]any, error) {
		return i.guess, x.c.Lambda.JSON(ctx, http.MethodPut, qualified(functionPath(function, "event-invoke-config"),
			qualifier), p, nil)
	})
}
