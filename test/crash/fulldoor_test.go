//go:build linux

package crash

import (
	"errors"
	"testing"

	httpdoor "github.com/hikyaku/hikyaku/internal/api/http"
	"github.com/hikyaku/hikyaku/internal/journal/file"
	"github.com/hikyaku/hikyaku/internal/journal/file/faultfs"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// TestTheDoorTellsOfAFullDisk is the story of the full disk without a process and without a mount: the same door and
// journal over a disk in memory.
func TestTheDoorTellsOfAFullDisk(t *testing.T) {
	t.Parallel()
	disk := faultfs.New()
	j, err := file.Open(t.Context(), file.Options{Dir: "journal", FS: disk, SegmentBytes: 4 << 20})
	if err != nil {
		t.Fatal(err)
	}
	store, err := queue.Open(t.Context(), queue.Options{Journal: j, OnDemand: true})
	if err != nil {
		t.Fatal(err)
	}
	door, err := httpdoor.New(httpdoor.Config{Listen: "127.0.0.1:0"}, httpdoor.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	address, err := door.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	client, err := httpdoor.NewClient(httpdoor.ClientConfig{URL: "http://" + address.String()})
	if err != nil {
		t.Fatal(err)
	}
	s := &served{client: client}
	disk.Limit(18 << 20)
	put := fill(t, s, 0)
	drain(t, s, put)
	until(t, says("there is room again"), func() bool {
		_, err := client.Put(t.Context(), queueName("parcels"), bigMessage(put))
		if err != nil && !errors.Is(err, queue.ErrNoRoom) {
			t.Fatal(err)
		}
		return err == nil
	})
	client.Close()
	for _, closing := range []func() error{func() error { return door.Close(t.Context()) }, store.Close, j.Close} {
		if err := closing(); err != nil {
			t.Error(err)
		}
	}
}
