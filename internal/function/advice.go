package function

import (
	"errors"
	"fmt"
	"syscall"
)

// remedy is what can be done when the machine has no room for an instance; "": nothing that is known.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		return "; let hikyaku open more files (ulimit -n), or fewer instances run at once (concurrency)"
	case errors.Is(err, syscall.ENOSPC):
		return "; make room on that disk"
	case errors.Is(err, syscall.EAGAIN), errors.Is(err, syscall.ENOMEM):
		return "; the machine has no room for another program: let fewer instances run at once (concurrency)"
	}
	return ""
}

// advice is what a person can do about an invocation that failed with a kind of error.
func (d *Definition) advice(kind string) string {
	logs := "its log says more (hikyaku function logs " + d.Name + ")"
	switch kind {
	case errorTimeout:
		return fmt.Sprintf("raise its timeout, which is %v, or see in its log what it waits for (hikyaku function "+
			"logs %s)", d.Timeout, d.Name)
	case errorMemory:
		return fmt.Sprintf("give it more memory than %d MB, or see what it keeps", d.MemoryMB)
	case errorEntry:
		return "build it for this machine, and let its code have what its runtime starts"
	case errorExtension:
		return "see to the extension in its layers; " + logs
	case "Runtime.HandlerNotFound", "Runtime.MalformedHandlerName", "Runtime.ImportModuleError",
		"Runtime.UserCodeSyntaxError":
		return fmt.Sprintf("see to its handler %+q and to what its code has to bring along", d.Handler)
	case "Function.ResponseSizeTooLarge":
		return fmt.Sprintf("let it answer with at most %d bytes, or stream", MaxPayload)
	}
	return logs
}
