package lambda

import (
	"fmt"
	"sync"
	"testing"

	"github.com/hikyaku/hikyaku/internal/access"
)

func TestWrongSecretsAreCountedToldAndSlowed(t *testing.T) {
	users, err := access.New([]access.User{{Name: "annabel", Secret: "annabel", Grants: []access.Grant{
		{Can: []string{"admin"}, On: []string{"*"}}}}})
	if err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	failed, told := map[string]int{}, access.Failure{}
	users.Watch(func(door, reason string) {
		mu.Lock()
		defer mu.Unlock()
		failed[door+" "+reason]++
	}, func(f access.Failure) {
		mu.Lock()
		defer mu.Unlock()
		told = f
	})
	r := openRig(t, t.TempDir(), Config{}, users)
	if g := r.signed("annabel", "GET", functions, ""); g.StatusCode != 200 {
		t.Fatalf("with the right secret: %s", g.text)
	}
	if g := r.signedWith("annabel", "a guess", "GET", functions, ""); g.StatusCode != 403 {
		t.Errorf("a wrong secret: %s: %s", g.Status, g.text)
	}
	statuses := map[int]int{}
	var all sync.WaitGroup
	for i := range 30 { // of one name so many would not be slowed
		all.Go(func() {
			g := r.signedWith("annabel", fmt.Sprint("guess ", i), "GET", functions, "")
			mu.Lock()
			defer mu.Unlock()
			statuses[g.StatusCode]++
		})
	}
	all.Wait()
	mu.Lock()
	defer mu.Unlock()
	if failed["lambda "+access.TooMany] == 0 || failed["lambda "+access.TooMany] != statuses[429] ||
		statuses[403]+statuses[429] != 30 {
		t.Errorf("answers %v, counted %v", statuses, failed)
	}
	if told.Door != "lambda" || told.Address != "127.0.0.1" {
		t.Errorf("told: %+v", told)
	}
}
