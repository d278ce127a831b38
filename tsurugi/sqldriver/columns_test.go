package sqldriver

import (
	"testing"

	"github.com/hikyaku/hikyaku/tsurugi"
	"github.com/hikyaku/hikyaku/tsurugi/tsurugitest"
)

// A name that is no table's is asked for once, too.
func TestATableThatIsNotThereIsAskedForOnce(t *testing.T) {
	t.Parallel()
	server := tsurugitest.Start(t, tsurugitest.Config{})
	connector, err := NewConnector(server.Endpoint(), tsurugi.Config{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := connector.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	asked := 0
	server.On(func(r tsurugitest.Request) tsurugitest.Action {
		if r.Kind == tsurugitest.Describe {
			asked++
		}
		return tsurugitest.Action{}
	})
	for range 2 {
		if table, err := c.(*conn).describe(t.Context(), "nothing"); err != nil || len(table.Columns) > 0 {
			t.Error(table, err)
		}
	}
	if asked != 1 {
		t.Errorf("the server is asked %d times", asked)
	}
}
