package stack

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
)

func (x *run) layer(resource string, properties map[string]any) ([]*item, error) {
	fitted, err := fit("", properties, fields{"LayerName": text, "Description": text, "LicenseInfo": text,
		"Content": document, "CompatibleRuntimes": list{text}, "CompatibleArchitectures": list{text}})
	if err != nil {
		return nil, err
	}
	p := fitted.(map[string]any)
	c, err := x.codeOf(p["Content"], "")
	if err != nil {
		return nil, err
	}
	name := x.named(p["LayerName"], resource, 140)
	description, _ := p["Description"].(string)
	delete(p, "Content")
	i := &item{name: name, of: []any{p, c.sum}, guess: map[string]any{"": unknown, "LayerVersionArn": unknown}}
	i.put = func(ctx context.Context, _ *thing) (map[string]any, error) {
		body := map[string]any{"Content": c.content(),
			"Description": describeLayer(description, x.c.Name, resource, i.sum, i.retain)}
		for _, key := range []string{"LicenseInfo", "CompatibleRuntimes", "CompatibleArchitectures"} {
			if v, ok := p[key]; ok {
				body[key] = v
			}
		}
		var got struct {
			LayerVersionArn string
			Version         int
		}
		err := x.c.Lambda.JSON(ctx, http.MethodPost, layersPath+"/"+url.PathEscape(name)+"/versions", body, &got)
		i.name = name + ":" + fmt.Sprint(got.Version)
		return map[string]any{"": got.LayerVersionArn, "LayerVersionArn": got.LayerVersionArn}, err
	}
	return []*item{i}, nil
}
