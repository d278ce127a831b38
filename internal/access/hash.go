package access

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// hash is a secret's argon2id hash, from which the secret cannot be had again.
type hash struct {
	memory  uint32 // KiB
	rounds  uint32
	threads uint8
	salt    []byte
	sum     []byte
}

// What HashSecret uses: 19 MiB and 2 rounds, as OWASP recommends for logins.
const (
	hashMemory, hashRounds, hashThreads = 19 << 10, 2, 1
	hashSalt, hashSum                   = 16, 32
)

// The most that a hash in the configuration may ask for: it is computed while others wait.
const (
	mostHashMemory  = 256 << 10
	mostHashRounds  = 32
	mostHashThreads = 16
	mostHashBytes   = 64 // of the salt, and of the sum
)

const hashPrefix = "$argon2id$"

// HashSecret makes a hash of a secret, as secret_hash takes it: $argon2id$v=19$m=…,t=…,p=…$salt$hash.
func HashSecret(secret string) string {
	h := hash{hashMemory, hashRounds, hashThreads, make([]byte, hashSalt), nil}
	_, _ = rand.Read(h.salt) // never fails
	h.sum = h.of(secret, hashSum)
	return h.String()
}

// String is the hash as it is written down.
func (h *hash) String() string {
	encode := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("%sv=%d$m=%d,t=%d,p=%d$%s$%s", hashPrefix, argon2.Version, h.memory, h.rounds, h.threads,
		encode(h.salt), encode(h.sum))
}

// of computes the hash of a secret. It takes some ten milliseconds and h.memory.
func (h *hash) of(secret string, size uint32) []byte {
	return argon2.IDKey([]byte(secret), h.salt, h.rounds, h.memory, h.threads, size)
}

// fits tells whether it is the secret's hash.
func (h *hash) fits(secret string) bool {
	return subtle.ConstantTimeCompare(h.of(secret, uint32(len(h.sum))), h.sum) == 1
}

var errHash = errors.New("is no hash as $argon2id$v=19$m=…,t=…,p=…$salt$hash (hikyaku user hash makes one)")

// parseHash reads a hash. Its errors never have the text in them.
func parseHash(text string) (*hash, error) {
	parts := strings.Split(strings.TrimPrefix(text, hashPrefix), "$")
	if !strings.HasPrefix(text, hashPrefix) || len(parts) != 4 || parts[0] != "v="+strconv.Itoa(argon2.Version) {
		return nil, errHash
	}
	h := &hash{}
	settings := strings.Split(parts[1], ",")
	if len(settings) != 3 {
		return nil, errHash
	}
	for i, s := range []struct {
		name string
		most uint64
		set  func(uint64)
	}{
		{"m=", mostHashMemory, func(n uint64) { h.memory = uint32(n) }},
		{"t=", mostHashRounds, func(n uint64) { h.rounds = uint32(n) }},
		{"p=", mostHashThreads, func(n uint64) { h.threads = uint8(n) }},
	} {
		digits, ok := strings.CutPrefix(settings[i], s.name)
		n, err := strconv.ParseUint(digits, 10, 32)
		if !ok || err != nil || n == 0 {
			return nil, errHash
		}
		if n > s.most {
			return nil, fmt.Errorf("asks for %s%d: more than %d would hold up everybody", s.name, n, s.most)
		}
		s.set(n)
	}
	if h.memory < 8*uint32(h.threads) {
		return nil, errHash
	}
	var salted, summed error
	h.salt, salted = base64.RawStdEncoding.DecodeString(parts[2])
	h.sum, summed = base64.RawStdEncoding.DecodeString(parts[3])
	if salted != nil || summed != nil || len(h.salt) < 8 || len(h.salt) > mostHashBytes || len(h.sum) < 16 ||
		len(h.sum) > mostHashBytes {
		return nil, errHash
	}
	return h, nil
}
