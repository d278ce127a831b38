package main

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	lambdadoor "github.com/hikyaku/hikyaku/internal/api/lambda"
)

func newFunctionDeploy(r *lambdaRemote) *cobra.Command {
	var runtime, handler, code string
	var memory, timeout int
	var environment []string
	cmd := &cobra.Command{
		Use:   "deploy NAME",
		Short: "Make a function of a folder or an archive, or change one",
		Long: `Makes a function, or changes the code and the settings of one that is there, at once. Code is a folder, which is packed,
or an archive (zip, jar). What is not named, code or setting, stays as it is; a new function needs its code.`,
		Example: `  hikyaku function deploy hello --runtime python3.11 --handler app.handler --code ./hello
  hikyaku function deploy hello --memory 512`,
		Args: oneArg("the NAME of a function"),
		RunE: func(cmd *cobra.Command, args []string) error {
			settings := map[string]any{}
			for name, value := range map[string]string{"Runtime": runtime, "Handler": handler} {
				if value != "" {
					settings[name] = value
				}
			}
			for name, value := range map[string]int{"MemorySize": memory, "Timeout": timeout} {
				if value != 0 {
					settings[name] = value
				}
			}
			if len(environment) > 0 {
				variables := map[string]string{}
				for _, text := range environment {
					name, value, ok := strings.Cut(text, "=")
					if !ok {
						return &usageError{fmt.Errorf("--env %s has no value", text), "write it as NAME=VALUE"}
					}
					variables[name] = value
				}
				settings["Environment"] = map[string]any{"Variables": variables}
			}
			if len(settings) == 0 && code == "" {
				return &usageError{errors.New("there is nothing to deploy"),
					"name the code (--code FOLDER), or a setting to change; " + seeHelp(cmd)}
			}
			var archive []byte
			if code != "" {
				var err error
				if archive, err = pack(code, false); err != nil {
					return err
				}
			}
			c, err := r.client()
			if err != nil {
				return err
			}
			defer c.Close()
			return r.reached(deploy(cmd, c, args[0], settings, archive))
		},
	}
	cmd.Flags().StringVar(&runtime, "runtime", "", "the `RUNTIME`: provided.al2023, nodejs20.x, python3.11, java17, …")
	cmd.Flags().StringVar(&handler, "handler", "",
		"the `HANDLER`: app.handler, index.handler, com.example.Hello::handle")
	cmd.Flags().StringVar(&code, "code", "", "a `FOLDER` or an archive; not named: the code that the function has")
	cmd.Flags().IntVar(&memory, "memory", 0, "`MIB` of memory")
	cmd.Flags().IntVar(&timeout, "timeout", 0, "`SECONDS` that an invocation may take")
	cmd.Flags().StringArrayVar(&environment, "env", nil, "a variable of its environment, `NAME=VALUE`; more than once")
	return cmd
}

// deploy makes the function, or changes it. archive may be nil for one that is there.
func deploy(cmd *cobra.Command, c *lambdadoor.Client, name string, settings map[string]any, archive []byte) error {
	const functions = "/2015-03-31/functions"
	var got struct{ FunctionArn string }
	refused := (*lambdadoor.Error)(nil)
	there := archive == nil
	if !there {
		settings["Code"] = map[string]any{"ZipFile": archive}
		create := map[string]any{"FunctionName": name, "Role": "arn:aws:iam::000000000000:role/none"}
		maps.Copy(create, settings)
		err := c.JSON(cmd.Context(), http.MethodPost, functions, create, &got)
		if there = errors.As(err, &refused) && refused.Status == http.StatusConflict; err != nil && !there {
			return err
		}
	}
	if there {
		err := c.JSON(cmd.Context(), http.MethodPut, "/hikyaku/functions/"+url.PathEscape(name), settings, &got)
		if archive == nil && errors.As(err, &refused) && refused.Status == http.StatusNotFound {
			return &hinted{fmt.Errorf("there is no function %s to change", name), "a new one needs its code: --code " +
				"FOLDER; hikyaku function ls lists the functions that there are"}
		}
		if err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(cmd.OutOrStdout(), "%s\n", got.FunctionArn); err != nil {
		return err
	}
	return warnOfRuntime(cmd, c, name)
}

// warnOfRuntime says that the function runs on another version than it asks for. The function is deployed, so what
// cannot be found out is no error.
func warnOfRuntime(cmd *cobra.Command, c *lambdadoor.Client, name string) error {
	all, err := c.Functions(cmd.Context())
	if err != nil {
		_, err = fmt.Fprintln(cmd.ErrOrStderr(), "warning: it is not known on which version of its runtime the "+
			"function runs: "+err.Error())
		return err
	}
	for _, f := range all.Functions {
		if f.Name == name && f.Version == "$LATEST" && f.Warning != "" {
			_, err = fmt.Fprintln(cmd.ErrOrStderr(), "warning: "+f.Warning)
		}
	}
	return err
}

// maxPacked bounds what is packed, as the service bounds what is sent.
const maxPacked = 50 << 20

// pack makes an archive of a folder; a file is one already. With alike the archive has no times in it, and of rights
// only who may run a file: the same files make the same bytes.
func pack(path string, alike bool) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &hinted{fmt.Errorf("code: %w", err), "--code names a folder or an archive (zip, jar)"}
	}
	if !info.IsDir() {
		return os.ReadFile(path)
	}
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	err = filepath.WalkDir(path, func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := os.Stat(at) // links become what they name
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no plain file", at)
		}
		relative, err := filepath.Rel(path, at)
		if err != nil {
			return err
		}
		h, err := zip.FileInfoHeader(info)
		if err != nil {
			return err
		}
		h.Name, h.Method = filepath.ToSlash(relative), zip.Deflate
		if alike {
			h = &zip.FileHeader{Name: h.Name, Method: h.Method}
			h.SetMode(0o644 | info.Mode()&0o111)
		}
		to, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		f, err := os.Open(at)
		if err != nil {
			return err
		}
		defer f.Close()
		if _, err := io.Copy(to, f); err != nil {
			return err
		}
		if buf.Len() > maxPacked {
			return fmt.Errorf("the code has more than %d bytes, packed", maxPacked)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	if err := w.Close(); err != nil {
		return nil, fmt.Errorf("pack %s: %w", path, err)
	}
	return buf.Bytes(), nil
}
