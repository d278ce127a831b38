// Package config is the one schema of a configuration file: it reads YAML, TOML or JSON strictly, finds every mistake
// with its line and column, and makes queues, topics and the pipeline's parts of what is written.
//
//	file, err := config.Load("hikyaku.yaml", os.LookupEnv)
//	if err != nil {
//		return err // config.Errors: every mistake, each with its place and what to do
//	}
//	for _, w := range file.Warnings {
//		slog.Warn(w.Error())
//	}
//	if err := file.Define(ctx, store.Configured(), adopt); err != nil {
//		return err // a queue is there with another definition
//	}
//	assembled, err := file.Build(store, component.Env{Stdin: os.Stdin, Stdout: os.Stdout})
//	if err != nil {
//		return err
//	}
//	p, err := pipeline.New(assembled.Nodes, pipeline.Options{Store: store})
//
// It opens nothing and runs nothing: stores, doors and pipelines are started by the command.
//
// # Reading
//
// The file's ending says the format. All three are read into one tree of values with their places, so a file means the
// same in each of them. A key that stands twice is refused. YAML anchors, aliases and merge keys (<<) work within a
// bound on what they expand to.
//
// ${NAME} and ${NAME:-default} in a value are filled in from the environment, after the file has been parsed: what is
// in the environment can never change the structure. $$ is a plain $. A default serves a variable that is not set or
// empty. A value that came from the environment may be a secret: no message shows it.
//
// # Values
//
// Durations are written with a unit (500ms, 30s, 5m, 12h, 7d). Keys that end in _secs take a number of seconds. Sizes
// are bytes, as a number or with a unit: KiB, MiB, GiB are powers of 1024, as are k, M and G alone; kB, MB, GB are
// powers of 1000. Where a list is wanted, one value stands for a list of one.
package config
