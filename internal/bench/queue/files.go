package queue

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// copyFolder copies the files of a journal's folder, durably, so that nobody pays later for what was copied. Space that
// is only set aside is left out.
func copyFolder(ctx context.Context, to, from string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	for _, e := range entries {
		if e.IsDir() || strings.HasPrefix(e.Name(), "spare-") {
			continue
		}
		if err := copyFile(ctx, filepath.Join(to, e.Name()), filepath.Join(from, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

func copyFile(ctx context.Context, to, from string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	defer in.Close()
	out, err := os.Create(to)
	if err != nil {
		return fmt.Errorf("copy %s: %w", from, err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err != nil {
		return fmt.Errorf("copy %s to %s: %w", from, to, err)
	}
	return nil
}

func writeDurably(name string, content []byte) error {
	f, err := os.Create(name)
	if err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	_, err = f.Write(content)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
