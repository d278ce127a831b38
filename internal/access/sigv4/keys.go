package sigv4

import "sync"

// keys remembers signing keys that were found to be right: a client signs all of a day's requests with one.
type keys struct {
	mu sync.Mutex
	of map[scope][]byte
}

// scope is what a signing key is made of.
type scope struct{ secret, day, region, service string }

// maxKeys is how many keys are remembered. When there are more, all are forgotten: most are of days gone by.
const maxKeys = 1000

func (k *keys) get(s scope) []byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.of[s]
}

func (k *keys) keep(s scope, key []byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.of == nil || len(k.of) >= maxKeys {
		k.of = map[scope][]byte{}
	}
	k.of[s] = key
}
