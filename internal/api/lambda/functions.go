package lambda

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
	"github.com/hikyaku/hikyaku/internal/function/code"
	"github.com/hikyaku/hikyaku/internal/queue"
)

func itoa(n int) string { return strconv.Itoa(n) }

// settingsIn are what a client says of a function, when it makes or changes one. nil: it does not say.
type settingsIn struct {
	Description      *string
	Runtime          *string
	Handler          *string
	Role             *string
	Timeout          *int // seconds
	MemorySize       *int
	Environment      *struct{ Variables map[string]string }
	Layers           []string
	Architectures    []string
	DeadLetterConfig *struct{ TargetArn string }
	EphemeralStorage *struct{ Size int } // MiB
	RevisionID       string              `json:"RevisionId"`

	VpcConfig, TracingConfig, LoggingConfig, SnapStart, KMSKeyArn, FileSystemConfigs, PackageType json.RawMessage
	undoneIn
}

// apply changes the settings of a version.
func (in *settingsIn) apply(s *deployment.Settings) error {
	for _, f := range []struct {
		from *string
		to   *string
	}{{in.Description, &s.Description}, {in.Runtime, &s.Runtime}, {in.Handler, &s.Handler}, {in.Role, &s.Role}} {
		if f.from != nil {
			*f.to = *f.from
		}
	}
	if err := in.check(); err != nil {
		return err
	}
	if in.Timeout != nil {
		s.Timeout = time.Duration(*in.Timeout) * time.Second
	}
	if in.MemorySize != nil {
		s.MemoryMB = *in.MemorySize
	}
	if in.EphemeralStorage != nil {
		s.StorageMB = in.EphemeralStorage.Size
	}
	if in.Environment != nil {
		s.Environment = in.Environment.Variables
		delete(s.Extra, "Environment")
		if len(s.Environment) == 0 { // who has said so reads it again
			keep(s, "Environment", json.RawMessage(`{"Variables":{}}`))
		}
	}
	if in.Layers != nil {
		if err := layersIn(in.Layers); err != nil {
			return err
		}
		s.Layers = in.Layers
	}
	if len(in.Architectures) > 0 {
		s.Architecture = in.Architectures[0]
	}
	if in.DeadLetterConfig != nil {
		s.DeadLetter = in.DeadLetterConfig.TargetArn
	}
	for name, value := range map[string]json.RawMessage{
		"VpcConfig": in.VpcConfig, "TracingConfig": in.TracingConfig, "LoggingConfig": in.LoggingConfig,
		"SnapStart": in.SnapStart, "KMSKeyArn": in.KMSKeyArn, "FileSystemConfigs": in.FileSystemConfigs,
	} {
		if len(value) == 0 || string(value) == "null" {
			continue
		}
		if name == "LoggingConfig" {
			value = logged(s.Extra[name], value)
		}
		keep(s, name, bytes.Clone(value))
	}
	return nil
}

// keep keeps a setting for who asks.
func keep(s *deployment.Settings, name string, value json.RawMessage) {
	if s.Extra == nil {
		s.Extra = map[string]json.RawMessage{}
	}
	s.Extra[name] = value
}

// newName is the name that a client gives a function.
func (c *call) newName(text string) error {
	name := text[strings.LastIndexByte(text, ':')+1:]
	if !strings.Contains(text, ":") && len(name) > 64 {
		return wrongValue("1 validation error detected: Value '%s' at 'functionName' failed to satisfy constraint: "+
			"Member must have length less than or equal to 64", name)
	}
	var err error
	c.function, c.qualifier, err = c.parsedName(text, "")
	return err
}

func (c *call) createFunction() error {
	var in struct {
		FunctionName string
		Code         codeIn
		Publish      bool
		Tags         map[string]string
		Signing      string `json:"CodeSigningConfigArn"`
		PublishTo    string
		settingsIn
	}
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := c.newName(in.FunctionName); err != nil {
		return err
	}
	if err := c.may(access.Admin, c.function); err != nil {
		return err
	}
	if string(in.PackageType) == `"Image"` {
		return unsupported("container images: send an archive as ZipFile")
	}
	var s deployment.Settings
	if err := in.apply(&s); err != nil {
		return err
	}
	in.Code.keepKey(&s)
	if err := c.mayTarget(s.DeadLetter); err != nil {
		return err
	}
	if err := c.mayLayers(s.Layers); err != nil {
		return err
	}
	if err := checkTags(in.Tags); err != nil {
		return err
	}
	if err := published(in.PublishTo); err != nil {
		return err
	}
	code, err := c.archived(&in.Code)
	if err != nil {
		return err
	}
	f, err := c.d.functions.CreateSigned(c.ctx(), c.function, in.Signing, s, code, in.Tags)
	if err != nil {
		return noSigning(err, in.Signing)
	}
	v := f.Latest
	if in.Publish {
		if v, err = c.d.functions.Publish(c.ctx(), c.function, "", "", ""); err != nil {
			return err
		}
	}
	c.warn()
	// also of a published version: the service's ARN has no number here
	return c.answer(http.StatusCreated, c.describe(f, v, ""))
}

// warn tells in a header what a person should know of what was just deployed.
func (c *call) warn() {
	if s, ok := c.d.functions.Deployed(c.function, function.Latest); ok && s.Deployed.Warning != "" {
		c.set(adviceHeader, s.Deployed.Warning)
	}
}

// mayTarget asks whether the caller may put into the queue that something is to be sent to.
func (c *call) mayTarget(arn string) error {
	parts := strings.SplitN(arn, ":", 6)
	if !c.d.users.Any() || arn == "" {
		return nil
	}
	if len(parts) == 6 && parts[2] == "lambda" {
		name, _, err := deployment.ParseName(arn)
		if err != nil {
			return err
		}
		return c.may(access.Put, name)
	}
	n, err := queue.ParseName(arn)
	if len(parts) == 6 {
		n, err = queue.Name{Namespace: parts[4], Name: parts[5]}, nil
	}
	if err != nil {
		return wrongValue("%s: %v", shortened(arn), err)
	}
	return c.mayQueue(access.Put, n)
}

// describe is a version as clients see it. Its ARN ends with the qualifier, which a client may have named by an alias.
func (c *call) describe(f *deployment.Function, v deployment.Version, qualifier string) map[string]any {
	s := v.Settings
	arn := c.d.functions.ARN(f.Name, qualifier)
	memory, timeout, architecture := s.MemoryMB, s.Timeout, s.Architecture
	if memory == 0 {
		memory = 128
	}
	if timeout == 0 {
		timeout = 3 * time.Second
	}
	storage := s.StorageMB
	if storage == 0 {
		storage = 512
	}
	if architecture == "" {
		architecture = "x86_64"
	}
	out := map[string]any{
		"FunctionName": f.Name, "FunctionArn": arn, "Runtime": s.Runtime, "Role": s.Role, "Handler": s.Handler,
		"CodeSize": v.Size, "Description": s.Description,
		"Timeout": int((timeout + time.Second - 1) / time.Second), "MemorySize": memory,
		"LastModified": v.Changed.UTC().Format("2006-01-02T15:04:05.000+0000"),
		"CodeSha256":   v.Checksum(), "Version": v.Number, "RevisionId": v.Revision, "State": "Active",
		"LastUpdateStatus": "Successful", "PackageType": "Zip",
		"Architectures": []string{architecture}, "TracingConfig": map[string]string{"Mode": "PassThrough"},
		"EphemeralStorage": map[string]int{"Size": storage},
	}
	for name, value := range s.Extra {
		if name == "EphemeralStorage" || name == sourceKey {
			continue // the one was kept for who asks before it counted, the other is shown beside the code
		}
		out[name] = value
	}
	out["LoggingConfig"] = logging(f.Name, s.Extra["LoggingConfig"])
	if said := s.Extra["VpcConfig"]; said != nil {
		out["VpcConfig"] = whole(said, map[string]any{"SubnetIds": []string{}, "SecurityGroupIds": []string{},
			"VpcId": "", "Ipv6AllowedForDualStack": false})
	}
	out["SnapStart"] = whole(s.Extra["SnapStart"], map[string]any{"ApplyOn": "None", "OptimizationStatus": "Off"})
	if len(s.Environment) > 0 {
		out["Environment"] = map[string]any{"Variables": s.Environment}
	}
	if arn := c.runtimeARN(s.Runtime); arn != "" {
		out["RuntimeVersionConfig"] = map[string]string{"RuntimeVersionArn": arn}
	}
	if len(s.Layers) > 0 {
		layers := make([]map[string]any, len(s.Layers))
		for i, l := range s.Layers {
			layers[i] = map[string]any{"Arn": l, "CodeSize": s.Attached[l].Size}
		}
		out["Layers"] = layers
	}
	if s.DeadLetter != "" {
		out["DeadLetterConfig"] = map[string]string{"TargetArn": s.DeadLetter}
	}
	return out
}

// whole is what a client said of a setting, with what the service shows besides. What is no object is shown as it is.
func whole(said json.RawMessage, usual map[string]any) any {
	if len(said) > 0 && json.Unmarshal(said, &usual) != nil {
		return said
	}
	return usual
}

func (c *call) getFunction() error {
	f, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return err
	}
	place := map[string]string{"RepositoryType": "S3", "Location": c.archiveURL(f, v)}
	if v.Folder != "" {
		place = map[string]string{"RepositoryType": "Folder", "Location": "file://" + v.Folder}
	}
	var key string
	if said := v.Settings.Extra[sourceKey]; said != nil && json.Unmarshal(said, &key) == nil {
		place[sourceKey] = key
	}
	out := map[string]any{"Configuration": c.describe(f, v, c.qualifier), "Code": place}
	if len(f.Tags) > 0 {
		out["Tags"] = f.Tags
	}
	if f.Reserved != nil {
		out["Concurrency"] = map[string]int{"ReservedConcurrentExecutions": *f.Reserved}
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) archiveURL(f *deployment.Function, v deployment.Version) string {
	return c.base() + "/2015-03-31/functions/" + f.Name + "/archive?Qualifier=" + v.Number
}

// base is the door's address as the client knows it.
func (c *call) base() string {
	scheme := "http://"
	if c.r.TLS != nil {
		scheme = "https://"
	}
	return scheme + c.r.Host
}

func (c *call) getArchive() error {
	_, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return err
	}
	path := c.d.functions.Archive(v)
	if path == "" {
		return notFound("the code of " + c.function + " is a folder: there is no archive of it")
	}
	c.w.Header().Set("Content-Type", "application/zip")
	http.ServeFile(c.w, c.r, path)
	return nil
}

func (c *call) getConfiguration() error {
	f, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, c.describe(f, v, c.qualifier))
}

// listed is a version as lists have it.
func (c *call) listed(f *deployment.Function, v deployment.Version, qualifier string) map[string]any {
	out := c.describe(f, v, qualifier)
	delete(out, "RuntimeVersionConfig")
	return out
}

func (c *call) listFunctions() error {
	query := c.r.URL.Query()
	every, all := query.Get("FunctionVersion") == "ALL", []entry{}
	if query.Get("MasterRegion") != "" { // what was replicated from there: nothing
		return c.answerPage("Functions", all)
	}
	for _, f := range c.d.functions.List() {
		if c.seen(f.Name) != nil {
			continue
		}
		if !every {
			all = append(all, func() any { return c.listed(f, f.Latest, "") })
			continue
		}
		for _, v := range append([]deployment.Version{f.Latest}, f.Published()...) {
			all = append(all, func() any { return c.listed(f, v, v.Number) })
		}
	}
	return c.answerPage("Functions", all)
}

// onlyLatest refuses to change or publish $LATEST for who named something else.
func (c *call) onlyLatest() error {
	if c.qualifier != "" && c.qualifier != function.Latest {
		return wrongValue("Current operation does not support versions other than $LATEST")
	}
	return nil
}

func (c *call) updateConfiguration() error {
	if err := c.onlyLatest(); err != nil {
		return err
	}
	var in settingsIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if in.DeadLetterConfig != nil {
		if err := c.mayTarget(in.DeadLetterConfig.TargetArn); err != nil {
			return err
		}
	}
	if err := layersIn(in.Layers); err != nil {
		return err
	}
	if err := c.mayLayers(in.Layers); err != nil {
		return err
	}
	f, err := c.d.functions.Update(c.ctx(), c.function, in.RevisionID, in.apply, nil)
	if err != nil {
		return err
	}
	c.warn()
	return c.answer(http.StatusOK, c.describe(f, f.Latest, ""))
}

func (c *call) updateCode() error {
	if err := c.onlyLatest(); err != nil {
		return err
	}
	var in codeIn
	if err := c.decode(&in); err != nil {
		return err
	}
	if err := published(in.PublishTo); err != nil {
		return err
	}
	code, err := c.archived(&in)
	if err != nil {
		return err
	}
	if in.DryRun {
		return c.dryUpdate(in.RevisionID, code.Zip)
	}
	f, err := c.d.functions.Update(c.ctx(), c.function, in.RevisionID, func(s *deployment.Settings) error {
		if len(in.Architectures) > 0 {
			s.Architecture = in.Architectures[0]
		}
		in.keepKey(s)
		return nil
	}, &code)
	if err != nil {
		return err
	}
	v, qualifier := f.Latest, ""
	if in.Publish {
		if v, err = c.d.functions.Publish(c.ctx(), c.function, "", "", ""); err != nil {
			return err
		}
		qualifier = v.Number
	}
	c.warn()
	return c.answer(http.StatusOK, c.describe(f, v, qualifier))
}

// dryUpdate says what an update with an archive would, as far as that is known without unpacking it.
func (c *call) dryUpdate(revision string, archive []byte) error {
	f, err := c.d.functions.Get(c.function)
	switch {
	case err != nil:
		return err
	case revision != "" && revision != f.Latest.Revision:
		return deployment.Stale()
	}
	if _, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive))); err != nil {
		return fmt.Errorf("%w: %w", code.ErrNoCode, err)
	}
	return c.answer(http.StatusOK, c.describe(f, f.Latest, ""))
}

func (c *call) deleteFunction() error {
	if err := c.d.functions.Delete(c.ctx(), c.function, c.qualifier); err != nil {
		return err
	}
	c.send(http.StatusNoContent, "", nil)
	return nil
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	return keys
}
