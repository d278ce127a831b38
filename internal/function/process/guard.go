package process

import (
	"fmt"
	"io"
	"os/exec"
	"sync"
)

// script reads the groups to kill: "+ 12" and "- 12". After "." it may go; when the pipe ends without that, its owner
// was killed. Then it kills the groups, and whoever is in the control groups below the folders that it was given, which
// it also removes.
const script = `trap '' INT TERM HUP QUIT
groups=''
while read -r op id; do
	case $op in
	+) groups="$groups $id" ;;
	-) rest=''; for g in $groups; do [ "$g" = "$id" ] || rest="$rest $g"; done; groups=$rest ;;
	.) exit 0 ;;
	esac
done
for g in $groups; do kill -9 "-$g"; done
for root; do
	for d in "$root"/*/; do
		[ -e "$d/cgroup.kill" ] && echo 1 > "$d/cgroup.kill"
		while read -r p; do kill -9 "$p"; done < "$d/cgroup.procs"
	done
done
for try in 1 2 3 4 5; do
	left=0
	for root; do
		for d in "$root"/*/; do [ -d "$d" ] && { rmdir "$d" || left=1; }; done
		rmdir "$root" || left=1
	done
	[ $left = 0 ] && exit 0
	sleep 1
done`

// guard is the shell that outlives us if we are killed. A nil guard does nothing.
type guard struct {
	mu   sync.Mutex
	in   io.WriteCloser
	cmd  *exec.Cmd
	dead bool
	once sync.Once
}

// newGuard starts a guard; nil: there is no shell here that could be one.
func newGuard(cgroups []string) *guard {
	shell, err := exec.LookPath("/bin/sh")
	if err != nil {
		return nil
	}
	cmd := exec.Command(shell, append([]string{"-c", script, "hikyaku-guard"}, cgroups...)...)
	cmd.Env = []string{"PATH=/usr/bin:/bin:/usr/sbin:/sbin"}
	cmd.Dir = "/"
	cmd.SysProcAttr = apart()
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil
	}
	if err := cmd.Start(); err != nil {
		_ = in.Close()
		return nil
	}
	return &guard{in: in, cmd: cmd}
}

func (g *guard) add(pid int)    { g.tell(fmt.Sprintf("+ %d\n", pid)) }
func (g *guard) remove(pid int) { g.tell(fmt.Sprintf("- %d\n", pid)) }

func (g *guard) tell(line string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.dead {
		return
	}
	if _, err := io.WriteString(g.in, line); err != nil {
		g.dead = true // somebody has killed it; the kernel still kills the programs themselves
	}
}

func (g *guard) close() {
	if g == nil {
		return
	}
	g.once.Do(func() {
		g.tell(".\n")
		_ = g.in.Close()
		_ = g.cmd.Wait() // somebody may have killed it
	})
}
