package machine

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

func TestADiskThatDoesNotAnswerHoldsUpNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int32
		answers := make(chan Room)
		d := newDisk(func() (Room, bool) {
			asked.Add(1)
			return <-answers, true
		})
		for range 3 {
			if _, known := d.Room(time.Second); known {
				t.Error("a disk that says nothing has room")
			}
		}
		if n := asked.Load(); n != 1 {
			t.Errorf("it was asked %d times", n)
		}
		answers <- Room{All: 100, Free: 40}
		synctest.Wait()
		if r, known := d.Room(time.Second); !known || r.Free != 40 {
			t.Errorf("when it answered: %+v, %v", r, known)
		}
	})
}

func TestTheRoomOfADiskThatIsThere(t *testing.T) {
	r, known := NewDisk(t.TempDir()).Room(time.Minute)
	if free, also := FreeBytes(t.TempDir()); known != also || known && (r.All < r.Free || r.Free <= 0 || free <= 0) {
		t.Errorf("%+v, %v, %d, %v", r, known, free, also)
	}
}
