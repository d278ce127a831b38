package access

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"os"
	"strings"
	"sync/atomic"
)

// credential is one secret of a user, or its hash. A user has several while one replaces another.
type credential struct {
	secret Secret // "" where only the hash is known
	hash   *hash
	// digest is that of the secret. Of a hash it is there as soon as a secret was found to fit: from then on a login
	// costs no more than with a plain secret.
	digest atomic.Pointer[[sha256.Size]byte]
	// known are places from which the secret came, by their hashes.
	known [knownPlaces]atomic.Uint64
}

// knownPlaces is how many of the places are remembered from which a secret came.
const knownPlaces = 64

// placeSeed makes hashes of places that nobody can foresee.
var placeSeed = maphash.MakeSeed()

// learn remembers a place, in the stead of another with the same slot.
func (c *credential) learn(place string) {
	h := maphash.String(placeSeed, place)
	if slot := &c.known[h%knownPlaces]; slot.Load() != h {
		slot.Store(h)
	}
}

// knows tells whether the secret came from a place before.
func (c *credential) knows(place string) bool {
	h := maphash.String(placeSeed, place)
	return c.known[h%knownPlaces].Load() == h
}

// text is what seals are made with.
func (c *credential) text() string {
	if c.hash != nil {
		return c.hash.String()
	}
	return c.secret.Reveal()
}

// The bounds of a user's secrets.
const (
	mostSecrets     = 16
	mostSecretFile  = 64 << 10
	mostSecretBytes = 4096
)

// credentials reads all of a user's secrets. Errors say what is wrong, and nothing of a secret.
func (u *User) credentials() ([]*credential, error) {
	cs, err := u.written()
	if err != nil || u.SecretFile == "" {
		return cs, err
	}
	lines, err := readSecrets(u.SecretFile)
	if err != nil {
		return nil, err
	}
	for i, line := range lines {
		c := &credential{}
		if strings.HasPrefix(line, hashPrefix) {
			c.hash, err = parseHash(line)
		} else {
			c.secret, err = Secret(line), checkSecret(Secret(line))
		}
		if err != nil {
			return nil, fmt.Errorf("secret_file %s, secret %d: %w", u.SecretFile, i+1, err)
		}
		cs = append(cs, c)
	}
	if len(cs) > mostSecrets {
		return nil, fmt.Errorf("there are %d secrets, %d are enough to replace one by another", len(cs), mostSecrets)
	}
	return cs, nil
}

// written are the secrets that stand in the configuration itself.
func (u *User) written() (cs []*credential, err error) {
	var plain []Secret
	if u.Secret != "" {
		plain = append(plain, u.Secret)
	}
	for _, s := range append(plain, u.Secrets...) {
		if err := checkSecret(s); err != nil {
			return nil, err
		}
		cs = append(cs, &credential{secret: s})
	}
	for _, text := range u.SecretHash {
		h, err := parseHash(text.Reveal())
		if err != nil {
			return nil, fmt.Errorf("secret_hash %w", err)
		}
		cs = append(cs, &credential{hash: h})
	}
	if len(cs) > mostSecrets {
		return nil, fmt.Errorf("there are %d secrets, %d are enough to replace one by another", len(cs), mostSecrets)
	}
	return cs, nil
}

func checkSecret(s Secret) error {
	switch {
	case len(s) < MinSecretBytes:
		return fmt.Errorf("the secret is shorter than %d characters", MinSecretBytes)
	case len(s) > mostSecretBytes:
		return fmt.Errorf("the secret is longer than %d bytes", mostSecretBytes)
	}
	return nil
}

// readSecrets reads a file with a secret, or a hash, in each line. Empty lines are passed over.
func readSecrets(path string) ([]string, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("secret_file: %w", err)
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, mostSecretFile+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("secret_file: %w", err)
	case len(text) > mostSecretFile:
		return nil, fmt.Errorf("secret_file %s has more than %d bytes", path, mostSecretFile)
	}
	var lines []string
	for line := range strings.SplitSeq(string(text), "\n") {
		if line = strings.TrimSuffix(line, "\r"); line != "" {
			lines = append(lines, line)
		}
	}
	if len(lines) == 0 {
		return nil, fmt.Errorf("secret_file %s: %w", path, errNoSecret)
	}
	return lines, nil
}

var errNoSecret = errors.New("there is no secret in it (one a line)")
