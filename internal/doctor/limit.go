package doctor

import (
	"fmt"

	"github.com/hikyaku/hikyaku/internal/machine"
)

// Wants are what a process is going to use.
type Wants struct {
	Files  uint64 // it may have open at once
	Memory int64  // bytes that the configuration says may be taken; 0: as much as there is
}

const (
	fewFiles   = 1024
	fewThreads = 512
	fewWaiting = 1024
	fewMemory  = 256 << 20
)

// Limits tells whether this account, started as it is now, may use what is wanted.
func Limits(w Wants) []Finding {
	found := []Finding{files(machine.Files(), w.Files), memory(machine.Memory(), w.Memory)}
	if n, by := threads(); n > 0 {
		found = append(found, threadsOf(n, by))
	}
	if n := backlog(); n > 0 {
		found = append(found, backlogOf(n))
	}
	return found
}

func files(may, wanted uint64) Finding {
	what := fmt.Sprintf("%d files may be open", may)
	const do = "set LimitNOFILE=65536 in the unit, or run ulimit -n 65536 before"
	switch {
	case may == 0:
		return Ok("limits", "how many files may be open is not known on this system")
	case may < fewFiles:
		return Finding{"limits", Bad, what, "each connection and each segment of the journal is one: puts and " +
			"connections " +
			"are refused", do}
	case may < wanted:
		return Finding{"limits", Warn, fmt.Sprintf("%s, and %d are wanted by a full journal and its connections", what,
			wanted), "connections and puts wait, or are refused, for want of them", do}
	}
	return Ok("limits", "%s", what)
}

func memory(a machine.Available, wanted int64) Finding {
	what := fmt.Sprintf("%s of memory, by %s", size(a.Bytes), a.By)
	switch {
	case a.Bytes == 0:
		return Ok("limits", "how much memory there is is not known on this system")
	case wanted > a.Bytes:
		return Finding{"limits", Bad, what + ", and the configuration lets " + size(wanted) + " be used",
			"the kernel may end the process", "set limits: memory: and busy_bytes: to less, or give it more"}
	case a.Bytes < fewMemory:
		return Finding{"limits", Warn, what, "few messages wait at once, and large ones are refused", "give it more"}
	}
	return Ok("limits", "%s", what)
}

func threadsOf(n int64, by string) Finding {
	what := fmt.Sprintf("%d threads and processes, by %s", n, by)
	if n < fewThreads {
		return Finding{"limits", Warn, what, "functions and waits for the disk take one each; without one the " +
			"process ends",
			"set TasksMax=4096 and LimitNPROC=4096 in the unit"}
	}
	return Ok("limits", "%s", what)
}

func backlogOf(n int64) Finding {
	what := fmt.Sprintf("%d connections may wait to be taken (net.core.somaxconn)", n)
	if n < fewWaiting {
		return Finding{"limits", Warn, what, "of many clients that come at one moment some wait a second and more",
			"set sysctl net.core.somaxconn=4096"}
	}
	return Ok("limits", "%s", what)
}
