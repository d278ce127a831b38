package pool_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/hikyaku/hikyaku/internal/push/pool"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func use(t *testing.T, p *pool.Pool, n int) *pool.Service {
	t.Helper()
	host := fmt.Sprintf("push%d.example.com", n)
	s, err := p.Use("https://"+host, host)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestThereAreNoMoreServicesThanTheBoundAndTheIdleMakeRoom(t *testing.T) {
	p := pool.New(nil, 1, 2, nil)
	defer p.Close()
	one, two := use(t, p, 1), use(t, p, 2)
	if again := use(t, p, 1); again != one {
		t.Error("an origin has two services")
	}
	if _, err := p.Use("https://push3.example.com", "push3.example.com"); !errors.Is(err, pool.ErrFull) {
		t.Errorf("%v", err)
	}
	p.Free(one)
	if _, err := p.Use("https://push3.example.com", "push3.example.com"); !errors.Is(err, pool.ErrFull) {
		t.Errorf("one of its two users is left, and %v", err)
	}
	p.Free(one)
	p.Free(two)
	use(t, p, 3) // in the place of the first, which was let go first
	if p.Len() != 2 || use(t, p, 2) != two {
		t.Errorf("there are %d, and the one used last has gone", p.Len())
	}
}

func TestAPoolThatIsClosedTakesNobody(t *testing.T) {
	p := pool.New(nil, 1, 2, nil)
	use(t, p, 1)
	p.Close()
	if _, err := p.Use("https://push1.example.com", "push1.example.com"); err == nil {
		t.Error("it took one")
	}
}

func TestAllServicesThatRestAreNamed(t *testing.T) {
	p := pool.New(nil, 1, 3, nil)
	defer p.Close()
	now := time.Now()
	errBusy := errors.New("it is busy")
	one, two, free := use(t, p, 1), use(t, p, 2), use(t, p, 3)
	if why := p.Waits(now); why != nil {
		t.Errorf("nobody rests: %v", why)
	}
	for _, s := range []*pool.Service{one, two, free} {
		s.Pause.Begin(now, time.Minute, errBusy)
	}
	p.Free(free) // nobody waits for it
	want := "2 push services wait: https://push1.example.com and https://push2.example.com; the first: " +
		"https://push1.example.com: it is busy"
	if why := p.Waits(now); why == nil || why.Error() != want || !errors.Is(why, errBusy) {
		t.Errorf("%v, want %s", why, want)
	}
}
