package doctor

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// holders are the processes that listen at a port, as far as this account may see them.
func holders(port uint16, udp bool) (found []Process) {
	kind, state := "tcp", "0A" // listens
	if udp {
		kind, state = "udp", "07"
	}
	sockets := map[string]bool{}
	for _, table := range []string{"/proc/net/" + kind, "/proc/net/" + kind + "6"} {
		listening(table, port, state, sockets)
	}
	if len(sockets) == 0 {
		return nil
	}
	processes, _ := filepath.Glob("/proc/[0-9]*") // the pattern is sound
	for _, dir := range processes {
		entries, err := os.ReadDir(dir + "/fd")
		if err != nil {
			continue // another account's
		}
		for _, e := range entries {
			if to, err := os.Readlink(dir + "/fd/" + e.Name()); err == nil && sockets[to] {
				pid, _ := strconv.Atoi(filepath.Base(dir))
				name, _ := os.ReadFile(dir + "/comm")
				found = append(found, Process{pid, strings.TrimSpace(string(name))})
				break
			}
		}
	}
	return found
}

// listening notes the sockets of a table that are bound to a port, as links in /proc/PID/fd name them.
func listening(table string, port uint16, state string, into map[string]bool) {
	f, err := os.Open(table)
	if err != nil {
		return
	}
	defer f.Close()
	suffix := fmt.Sprintf(":%04X", port)
	for sc := bufio.NewScanner(f); sc.Scan(); {
		if fs := strings.Fields(sc.Text()); len(fs) > 9 && strings.HasSuffix(fs[1], suffix) && fs[3] == state {
			into["socket:["+fs[9]+"]"] = true
		}
	}
}
