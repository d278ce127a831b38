package access

import (
	"fmt"
	"os"
	"os/user"
	"strconv"

	"github.com/hikyaku/hikyaku/internal/caller"
)

// Which accounts of this machine may administer while there are no users.
const (
	SameAccount = "same" // the one that hikyaku runs as, and root
	AnyAccount  = "any"
)

// localSetting is how any account is let in, for errors.
const localSetting = "access: { local_accounts: any }"

// LocalError says that, without users, a connection is not of an account that may administer.
type LocalError struct {
	uid   uint32
	own   uint32
	cause error // why the account is not known; nil: it is
}

// Error names both accounts.
func (e *LocalError) Error() string {
	if e.cause != nil {
		return fmt.Sprintf("without users only %s, which hikyaku runs as, and root may do this, but %v",
			accountName(e.own), e.cause)
	}
	return fmt.Sprintf("without users only %s, which hikyaku runs as, and root may do this, and the connection is "+
		"from %s", accountName(e.own), accountName(e.uid))
}

// Unwrap gives the reason for which the account is not known.
func (e *LocalError) Unwrap() error { return e.cause }

// Hint says what to do about it.
func (e *LocalError) Hint() string {
	return "call as that account, add users: to the configuration, or let every account of this machine in with " +
		localSetting
}

// Whole is the error and the hint in one, for protocols that have one text.
func (e *LocalError) Whole() string { return e.Error() + " (" + e.Hint() + ")" }

// accountName is how errors show one.
func accountName(uid uint32) string {
	number := strconv.FormatUint(uint64(uid), 10)
	if u, err := user.LookupId(number); err == nil {
		return "account " + u.Username + " (uid " + number + ")"
	}
	return "the account with uid " + number
}

// Guard makes Admin and Push, while there are no users, something of the account that this process runs as and of root:
// Allowed and AllowedAll say no to everybody, and Local tells who may. It is called before the doors open.
func (us *Users) Guard() {
	us.guarded, us.own = true, uint32(os.Geteuid())
}

// Local tells whether one at the other end of a connection may administer while there are no users. The error is a
// *LocalError. The kernel is asked once a connection, and only of those that were made to this machine's own addresses:
// whoever opens a door to others without users has let them in.
//
// With users it says nothing: nil.
func (us *Users) Local(end *caller.End) error {
	if us.Any() || us == nil || !us.guarded || !end.Near() {
		return nil
	}
	uid, err := end.Account()
	if err == nil && (uid == 0 || uid == us.own) {
		return nil
	}
	return &LocalError{uid, us.own, err}
}

// SameEnds tells whether two connections are of accounts that may not be told apart, while there are no users: of one
// account, or where it makes no difference.
func (us *Users) SameEnds(a, b *caller.End) bool {
	if us.Any() || us == nil || !us.guarded {
		return true
	}
	one, err := a.Account()
	other, err2 := b.Account()
	return err == nil && err2 == nil && one == other
}
