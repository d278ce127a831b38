//go:build linux

package databasetest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// Who may use a server of StartS3.
const (
	S3AccessKey = "tester"
	S3Secret    = "a-secret-of-tests"
)

// StartS3 starts versitygw, a server that speaks Amazon S3's protocol, with some buckets.
func StartS3(ctx context.Context, buckets ...string) (*Server, error) {
	bin, err := installed("s3/versitygw")
	if err != nil {
		return nil, err
	}
	s := &Server{name: "versitygw", ending: syscall.SIGTERM, greets: s3Greets, said: &tail{}}
	if err := s.place(""); err != nil {
		return nil, err
	}
	root, beside := filepath.Join(s.dir, "objects"), filepath.Join(s.dir, "beside")
	for _, dir := range append([]string{"../beside"}, buckets...) {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o700); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
	// What is said of objects lies beside them: not every file system of a test has extended attributes.
	s.args = []string{bin, "--access", S3AccessKey, "--secret", S3Secret, "--port", s.Address(), "--health", "/health",
		"posix", "--sidecar", beside, root}
	if err := s.Start(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// s3Greets asks the server whether it is well.
func s3Greets(c net.Conn) error {
	if _, err := io.WriteString(c, "GET /health HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil || !strings.Contains(line, " 200 ") {
		return fmt.Errorf("it is not well: %q, %w", line, err)
	}
	return nil
}
