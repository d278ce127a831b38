package doctor

import (
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/hikyaku/hikyaku/internal/machine"
)

// threads is the least number that the account and its control groups allow; 0: nobody bounds it.
func threads() (n int64, by string) {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NPROC, &limit); err == nil && limit.Cur < math.MaxInt64 {
		n, by = int64(limit.Cur), "RLIMIT_NPROC"
	}
	groups := machine.Groups(false)
	for _, dir := range []string{groups["unified"], groups["pids"]} {
		for ; len(dir) > 1; dir = filepath.Dir(dir) {
			if most := number(filepath.Join(dir, "pids.max")); most > 0 && (n == 0 || most < n) {
				n, by = most, "pids.max of "+dir
			}
		}
	}
	return n, by
}

// backlog is how many connections a listener has waiting at most.
func backlog() int64 { return number("/proc/sys/net/core/somaxconn") }

// number reads one of a file; 0: there is none.
func number(name string) int64 {
	text, err := os.ReadFile(name)
	if err != nil {
		return 0
	}
	n, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64)
	if err != nil {
		return 0
	}
	return n
}
