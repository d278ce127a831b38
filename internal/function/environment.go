package function

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

// environment is what the programs of an instance find as their environment: the provider's documented variables, the
// runtime's, the function's own.
func (i *instance) environment(runtime []string) []string {
	f := i.fn
	c := &f.pool.config
	kind := "on-demand"
	if i.provisioned {
		kind = "provisioned-concurrency"
	}
	vars := map[string]string{
		"TZ": ":UTC", "LANG": "en_US.UTF-8", "PATH": f.path(),
		"LD_LIBRARY_PATH": f.inLayers("lib", f.deployed.Dir, f.deployed.Dir+"/lib"),
		"TMPDIR":          i.tempInside(), "HOME": i.tempInside(),
		"AWS_REGION": c.Region, "AWS_DEFAULT_REGION": c.Region, "AWS_ACCESS_KEY_ID": "local",
		"AWS_SECRET_ACCESS_KEY": "local",
		"AWS_EXECUTION_ENV":     "AWS_Lambda_" + f.d.Runtime,
	}
	for _, v := range runtime {
		name, value, _ := strings.Cut(v, "=")
		vars[name] = value
	}
	for name, value := range f.d.Environment {
		vars[name] = value
	}
	for name, value := range map[string]string{
		"_HANDLER": f.d.Handler, "LAMBDA_TASK_ROOT": f.deployed.Dir, "LAMBDA_RUNTIME_DIR": c.Dir + "/loaders",
		"AWS_LAMBDA_RUNTIME_API": i.server.Addr(), "AWS_LAMBDA_INITIALIZATION_TYPE": kind,
		"AWS_LAMBDA_FUNCTION_NAME": f.d.Name, "AWS_LAMBDA_FUNCTION_VERSION": f.d.Version,
		"AWS_LAMBDA_FUNCTION_MEMORY_SIZE": strconv.Itoa(f.d.MemoryMB),
		"AWS_LAMBDA_LOG_GROUP_NAME":       "/aws/lambda/" + f.d.Name,
		"AWS_LAMBDA_LOG_STREAM_NAME":      time.Now().UTC().Format("2006/01/02/") + "[" + f.d.Version + "]" + i.id,
	} {
		vars[name] = value
	}
	env := make([]string, 0, len(vars))
	for name, value := range vars {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

// path is where programs are found: in the layers, then where this process finds them.
func (f *function) path() string {
	own := os.Getenv("PATH")
	if own == "" {
		own = "/usr/local/bin:/usr/bin:/bin"
	}
	return f.inLayers("bin", own)
}

// inLayers is a list of a subfolder of each layer, where there is one, the last layer's first, and of others behind
// them.
func (f *function) inLayers(sub string, others ...string) string {
	var all []string
	for _, l := range slices.Backward(f.d.Layers) {
		if p := filepath.Join(l, sub); isDir(p) {
			all = append(all, p)
		}
	}
	return strings.Join(append(all, others...), string(os.PathListSeparator))
}

// extensionFiles are the programs in the folders extensions of the layers. Of two with the same name the last layer's
// counts.
func (i *instance) extensionFiles() (files []string) {
	seen := map[string]bool{}
	for _, l := range slices.Backward(i.fn.d.Layers) {
		entries, _ := os.ReadDir(filepath.Join(l, "extensions")) // a layer without has none
		for _, e := range entries {
			info, err := os.Stat(filepath.Join(l, "extensions", e.Name()))
			if err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 && !seen[e.Name()] {
				seen[e.Name()] = true
				files = append(files, filepath.Join(l, "extensions", e.Name()))
			}
		}
	}
	slices.Sort(files)
	return files
}

func (i *instance) extensionNames() (names []string) {
	for _, f := range i.extensionFiles() {
		names = append(names, filepath.Base(f))
	}
	return names
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
