package docs

import (
	"errors"
	"fmt"
	"testing"

	"github.com/hikyaku/hikyaku/internal/config"
)

func TestEveryConfigurationIsValid(t *testing.T) {
	env := func(string) (string, bool) { return "", false }
	for _, p := range documents(t) {
		for i := range p.blocks {
			b := &p.blocks[i]
			if b.language != "yaml" {
				continue
			}
			name := fmt.Sprintf("line-%d.yaml", b.line())
			if _, err := config.Parse(name, []byte(b.text()), env); err != nil {
				text := err.Error()
				var all config.Errors
				if errors.As(err, &all) {
					text = all.Pretty([]byte(b.text()))
				}
				t.Errorf("%s:%d: the configuration is not valid:\n%s", p.path, b.line(), text)
			}
		}
	}
}
