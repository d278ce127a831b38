package lambda

import (
	"net/http"

	"github.com/hikyaku/hikyaku/internal/api/lambda/shape"
	"github.com/hikyaku/hikyaku/internal/deployment"
	"github.com/hikyaku/hikyaku/internal/function"
)

// What is kept of a function for who reads it again: when its runtime changes, and what becomes of loops.

const automatic = "Auto" // how runtimes change unless told

var (
	runtimeVersion = shape.String(26, 2048, shape.Form(`arn:(aws[a-zA-Z-]*):lambda:`+regionText+`::runtime:.+`))
	putRuntimeIn   = &input{function: plainName, query: queryQualifier, body: shape.Struct(
		shape.Must("UpdateRuntimeOn", shape.Enum(automatic, "Manual", "FunctionUpdate")),
		shape.May("RuntimeVersionArn", runtimeVersion))}
	putRecursionIn = &input{function: plainName, body: shape.Struct(
		shape.Must("RecursiveLoop", shape.Enum("Terminate", "Allow")))}
)

// theVersion is the version that the qualifier names; an alias is none.
func (c *call) theVersion() (*deployment.Function, string, error) {
	f, v, err := c.d.functions.Version(c.function, c.qualifier)
	if err != nil {
		return nil, "", err
	}
	if c.qualifier != "" && c.qualifier != v.Number {
		return nil, "", wrongValue("Runtimes are managed for versions: %s is an alias.", c.qualifier)
	}
	return f, v.Number, nil
}

func (c *call) answerRuntime(version string, u deployment.RuntimeUpdates) error {
	out := map[string]any{"UpdateRuntimeOn": u.On, "FunctionArn": c.d.functions.ARN(c.function, version)}
	if u.ARN != "" {
		out["RuntimeVersionArn"] = u.ARN
	}
	return c.answer(http.StatusOK, out)
}

func (c *call) getRuntimeManagement() error {
	f, version, err := c.theVersion()
	if err != nil {
		return err
	}
	u, ok := f.Runtimes[version]
	if !ok {
		u.On = automatic
	}
	return c.answerRuntime(version, u)
}

func (c *call) putRuntimeManagement() error {
	var in struct{ UpdateRuntimeOn, RuntimeVersionArn string }
	if err := c.decode(&in); err != nil {
		return err
	}
	_, version, err := c.theVersion()
	if err != nil {
		return err
	}
	if manual := in.UpdateRuntimeOn == "Manual"; manual != (in.RuntimeVersionArn != "") {
		return wrongValue("RuntimeVersionArn names the version of the runtime with UpdateRuntimeOn Manual, and with " +
			"nothing else.")
	}
	u := deployment.RuntimeUpdates{On: in.UpdateRuntimeOn, ARN: in.RuntimeVersionArn}
	_, err = c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		if f.Runtimes == nil {
			f.Runtimes = map[string]deployment.RuntimeUpdates{}
		}
		f.Runtimes[version] = u
		return nil
	})
	if err != nil {
		return err
	}
	return c.answerRuntime(version, u)
}

func (c *call) answerRecursion(said string) error {
	if said == "" {
		said = "Allow" // loops are not noticed
	}
	return c.answer(http.StatusOK, map[string]string{"RecursiveLoop": said})
}

func (c *call) getRecursion() error {
	f, err := c.d.functions.Get(c.function)
	if err != nil {
		return missing(err, "Function not found: "+c.d.functions.ARN(c.function, function.Latest))
	}
	return c.answerRecursion(f.Recursion)
}

func (c *call) putRecursion() error {
	var in struct{ RecursiveLoop string }
	if err := c.decode(&in); err != nil {
		return err
	}
	_, err := c.d.functions.Change(c.ctx(), c.function, func(f *deployment.Function) error {
		f.Recursion = in.RecursiveLoop
		return nil
	})
	if err != nil {
		return err
	}
	return c.answerRecursion(in.RecursiveLoop)
}
