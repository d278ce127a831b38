//go:build linux && !no_cluster

package main

import (
	"archive/zip"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/hikyaku/hikyaku/internal/waittest"
)

func TestAFunctionThatWasUploadedAtOneNodeRunsWhenAnotherOwnsTheShard(t *testing.T) {
	nodes := startNodes(t, "a", "b", "c")
	var code bytes.Buffer
	w := zip.NewWriter(&code)
	f, err := w.Create("app.py")
	if err == nil {
		_, err = io.WriteString(f, "def handler(event, context):\n    return 'it runs'\n")
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	const functions = "/2015-03-31/functions"
	create := fmt.Sprintf(`{"FunctionName":"f","Runtime":"python3.12","Handler":"app.handler","Role":`+
		`"arn:aws:iam::000000000000:role/r","Timeout":60,"Code":{"ZipFile":%q}}`,
		base64.StdEncoding.EncodeToString(code.Bytes()))
	post := func(n *clusterNode, path, body string) (int, string) {
		status, text, err := askAt(t, http.MethodPost, "http://"+n.lambda+path, body, nil)
		if err != nil {
			return 0, err.Error()
		}
		return status, text
	}
	waittest.Until(t, "the function is there", func() bool {
		status, text := post(nodes["a"], functions, create)
		if status >= 400 && status < 500 && status != http.StatusConflict {
			t.Fatal(status, text)
		}
		return status == http.StatusCreated || status == http.StatusConflict
	})
	var owner string
	waittest.Until(t, "a node owns the shard", func() bool {
		out, err := inCluster(t, "status", "-c", nodes["a"].config)
		if _, after, there := strings.Cut(out, "\nnode "); err == nil && there {
			owner, _, _ = strings.Cut(after, " owns the shard")
		}
		return nodes[owner] != nil
	})
	endNode(t, nodes[owner])
	for name, n := range nodes {
		if name == owner {
			continue
		}
		waittest.Until(t, "the function runs by way of "+n.name, func() bool {
			status, text := post(n, functions+"/f/invocations", "{}")
			return status == http.StatusOK && text == `"it runs"`
		})
	}
}
