package mysql

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

func TestZZ(t *testing.T) {
	for n := range uint64(150) {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			random := rand.New(rand.NewPCG(n, 99))
			choices := make([]byte, 600)
			for i := range choices {
				choices[i] = byte(random.UintN(256))
			}
			comparePaths(t, choices)
		})
	}
}
