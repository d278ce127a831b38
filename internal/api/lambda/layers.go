package lambda

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
)

// Forms of the service's model, and how it says them.
const (
	layerText        = `(arn:[a-zA-Z0-9-]+:lambda:[a-zA-Z0-9-]+:\d{12}:layer:[a-zA-Z0-9-_]+)|[a-zA-Z0-9-_]+`
	layerVersionText = `(arn:(aws[a-zA-Z-]*)?:lambda:(eusc-)?[a-z]{2}((-gov)|(-iso([a-z]?)))?-[a-z]+-\d{1}:\d{12}:layer:[a-zA-Z0-9-_]+:[0-9]+)|(arn:[a-zA-Z0-9-]+:lambda:::awslayer:[a-zA-Z0-9-_]+)`
)

var (
	layerForm        = shape.Form(layerText)
	layerVersionForm = shape.Form(layerVersionText)
)

// managed are the runtimes that the service names when a layer is for another one.
var managed = []string{
	"nodejs20.x", "python3.14", "provided.al2023", "python3.12", "python3.13", "nodejs24.x", "nodejs22.x", "java25",
	"python3.10", "python3.11", "java21",
	"ruby3.3", "ruby3.4", "ruby3.2", "python3.8", "python3.9", "java17", "nodejs16.x", "dotnet10", "dotnet8", "java11",
	"dotnet6", "nodejs18.x",
	"provided.al2", "java8.al2",
}

// retired are runtimes of the service's past that layers may still say to be for, beside those that run here, and one
// that its messages do not name yet.
var retired = []string{"dotnetcore1.0", "dotnetcore2.0", "dotnetcore2.1", "dotnetcore3.1", "ruby2.5", "ruby2.7",
	"ruby4.0"}

var architectures = []string{"x86_64", "arm64"}

// layerIn is a version of a layer as a client publishes it.
type layerIn struct {
	Description             string
	Content                 codeIn
	CompatibleRuntimes      []string
	CompatibleArchitectures []string
	LicenseInfo             string
}

// theLayer is the layer that a path names, and what follows its name.
func (c *call) theLayer(can access.Action) (name, rest string, err error) {
	text, rest, _ := strings.Cut(c.rest, "/")
	if !layerForm.Match(text) || len(text) > 140 {
		return "", "", notValid(text, "layerName", "Member must satisfy regular expression pattern: "+layerText)
	}
	if err := c.inRegion(text); err != nil {
		return "", "", err
	}
	name = text[strings.LastIndexByte(text, ':')+1:]
	return name, rest, c.mayLayer(can, name)
}

// mayLayer asks for a grant on a layer's name, which is as a function's; "": any.
func (c *call) mayLayer(can access.Action, name string) error {
	if can == "" {
		return c.seen(name)
	}
	return c.may(can, name)
}

// theLayerVersion is the version of a layer that a path names, and what follows its number.
func (c *call) theLayerVersion(can access.Action) (name string, number int, rest string, err error) {
	name, rest, err = c.theLayer(can)
	if err != nil {
		return "", 0, "", err
	}
	text, rest, _ := strings.Cut(rest, "/")
	if number, err = strconv.Atoi(text); err != nil {
		return "", 0, "", badContent("%q is no number of a version", shortened(text))
	}
	if number < 1 {
		return "", 0, "", wrongValue("Layer Version Cannot be less than 1")
	}
	return name, number, rest, nil
}

func (c *call) publishLayer() error {
	name, _, err := c.theLayer(access.Admin)
	if err != nil {
		return err
	}
	var in layerIn
	if err := c.decode(&in); err != nil {
		return err
	}
	content, err := c.archived(&in.Content)
	if err != nil {
		return err
	}
	v, err := c.d.functions.PublishLayer(c.ctx(), name, content.Zip, deployment.LayerVersion{
		Description: in.Description, License: in.LicenseInfo, Runtimes: in.CompatibleRuntimes,
		Architectures: in.CompatibleArchitectures,
	})
	if err != nil {
		return err
	}
	out := c.describeLayer(name, v)
	for name, list := range map[string][]string{"CompatibleRuntimes": in.CompatibleRuntimes,
		"CompatibleArchitectures": in.CompatibleArchitectures} {
		if list != nil {
			out[name] = list // also an empty one, which was said
		}
	}
	return c.answer(http.StatusCreated, out)
}

// layerItem is a version of a layer as lists have it.
func (c *call) layerItem(name string, v deployment.LayerVersion) map[string]any {
	out := map[string]any{
		"LayerVersionArn": c.d.functions.LayerARN(name, v.Number), "Version": v.Number, "Description": v.Description,
		"CreatedDate": v.Created.UTC().Format("2006-01-02T15:04:05.000+0000"),
	}
	if len(v.Runtimes) > 0 {
		out["CompatibleRuntimes"] = v.Runtimes
	}
	if len(v.Architectures) > 0 {
		out["CompatibleArchitectures"] = v.Architectures
	}
	if v.License != "" {
		out["LicenseInfo"] = v.License
	}
	return out
}

func (c *call) describeLayer(name string, v deployment.LayerVersion) map[string]any {
	out := c.layerItem(name, v)
	out["LayerArn"] = c.d.functions.LayerARN(name, 0)
	out["Content"] = map[string]any{
		"Location":   c.base() + "/2018-10-31/layers/" + name + "/versions/" + itoa(v.Number) + "/archive",
		"CodeSha256": v.Checksum(), "CodeSize": v.Size,
	}
	return out
}

func (c *call) getLayer() error {
	name, number, _, err := c.theLayerVersion("")
	if err != nil {
		return err
	}
	return c.answerLayer(name, number)
}

func (c *call) answerLayer(name string, number int) error {
	v, err := c.d.functions.LayerVersion(name, number)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describeLayer(name, v))
}

func (c *call) getLayerByARN(arn string) error {
	if !layerVersionForm.Match(arn) {
		return notValid(arn, "arn", "Member must satisfy regular expression pattern: "+layerVersionText)
	}
	region, name, number, err := deployment.ParseLayerVersion(arn)
	if err != nil {
		return err
	}
	if err := c.seen(name); err != nil {
		return err
	}
	if region != c.d.functions.Region() {
		return notFound(noResource)
	}
	return c.answerLayer(name, number)
}

func (c *call) getLayerArchive() error {
	name, number, _, err := c.theLayerVersion(access.Admin)
	if err != nil {
		return err
	}
	v, err := c.d.functions.LayerVersion(name, number)
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Type", "application/zip")
	http.ServeFile(c.w, c.r, c.d.functions.LayerArchive(v))
	return nil
}

func (c *call) deleteLayer() error {
	name, number, _, err := c.theLayerVersion(access.Admin)
	if err != nil {
		return err
	}
	if err := c.d.functions.DeleteLayer(c.ctx(), name, number); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

// compatible reads what lists are asked for: versions for a runtime and an architecture.
func (c *call) compatible() func(deployment.LayerVersion) bool {
	q := c.r.URL.Query()
	runtime, architecture := q.Get("CompatibleRuntime"), q.Get("CompatibleArchitecture")
	return func(v deployment.LayerVersion) bool {
		return (runtime == "" || slices.Contains(v.Runtimes, runtime)) &&
			(architecture == "" || slices.Contains(v.Architectures, architecture))
	}
}

// listLayers also answers GetLayerVersionByArn, which has the same path.
func (c *call) listLayers() error {
	q := c.r.URL.Query()
	if q.Get("find") == "LayerVersion" {
		c.action = "lambda:GetLayerVersion"
		return c.getLayerByARN(q.Get("Arn"))
	}
	fits := c.compatible()
	all := []entry{}
	for _, l := range c.d.functions.Layers() {
		if c.seen(l.Name) != nil {
			continue
		}
		for _, v := range l.Versions() {
			if fits(v) {
				all = append(all, func() any {
					return map[string]any{
						"LayerName": l.Name, "LayerArn": c.d.functions.LayerARN(l.Name, 0),
						"LatestMatchingVersion": c.layerItem(l.Name, v),
					}
				})
				break
			}
		}
	}
	return c.answerPage("Layers", all)
}

func (c *call) listLayerVersions() error {
	name, _, err := c.theLayer("")
	if err != nil {
		return err
	}
	fits := c.compatible()
	all := []entry{}
	if l, err := c.d.functions.Layer(name); err == nil { // of one that is not there, there are none
		for _, v := range l.Versions() {
			if fits(v) {
				all = append(all, func() any { return c.layerItem(name, v) })
			}
		}
	}
	return c.answerPage("LayerVersions", all)
}

// layersIn are layers as a client names them for a function: versions by their ARN, or folders.
func layersIn(layers []string) error {
	for _, l := range layers {
		if strings.HasPrefix(l, "/") {
			continue
		}
		if !layerVersionForm.Match(l) {
			return notValid("["+strings.Join(layers, ", ")+"]", "layers", "Member must satisfy constraint: [Member "+
				"must have length less than or equal to 2048, Member must have length greater than or equal to 1, "+
				"Member must satisfy regular expression pattern: "+layerVersionText+", Member must not be null]")
		}
	}
	return nil
}

// mayLayers asks whether the caller sees the layers that a function is to have. Which files of this machine a function
// can read is not a user's to say.
func (c *call) mayLayers(layers []string) error {
	for _, l := range layers {
		if strings.HasPrefix(l, "/") {
			if c.d.users.Any() && !c.d.functions.Seen(l) {
				return wrongValue("The layer %s is not among what functions see of this machine: publish it as a "+
					"layer, or have its folder named in api: lambda: see of the configuration.", l)
			}
			continue
		}
		_, name, _, err := deployment.ParseLayerVersion(l)
		if err != nil {
			return err
		}
		if err := c.seen(name); err != nil {
			return err
		}
	}
	return nil
}
