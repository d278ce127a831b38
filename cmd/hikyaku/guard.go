package main

import (
	"context"
	"runtime"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/caller"
	"github.com/hikyaku/hikyaku/internal/config"
)

// guard keeps administration from other accounts of this machine while there are no users, and says where it cannot.
func guard(users *access.Users, f *config.File) {
	if !users.Any() && f.Access.LocalAccounts != access.AnyAccount && caller.Supported {
		users.Guard()
	}
}

// sayGuard tells what is not as guard would have it.
func (h *house) sayGuard(ctx context.Context) {
	if h.users.Any() || h.file.Access.LocalAccounts == access.AnyAccount {
		return
	}
	if !caller.Supported {
		h.log.Warn("every account of this machine may administer and run functions: this system is not asked whose a "+
			"connection is",
			"system", runtime.GOOS, "hint", "add users:, or say that it is meant so with access: { local_accounts: "+
				"any }")
		return
	}
	if err := caller.Probe(ctx); err != nil {
		h.log.Warn("the Lambda door and what administers at the others will be refused to everybody", "error", err,
			"hint", "add users:, or let every account of this machine in with access: { local_accounts: any }")
	}
}
