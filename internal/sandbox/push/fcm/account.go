package fcm

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
)

// Account is a service account with its key.
type Account struct {
	Project, Email, KeyID string
	Public                *rsa.PublicKey
	PEM                   []byte // the private key
}

// NewAccount makes one that may send for a project.
func NewAccount(project string) (*Account, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, fmt.Errorf("service account of %s: %w", project, err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("service account of %s: %w", project, err)
	}
	return &Account{
		Project: project, Email: "push@" + project + ".iam.gserviceaccount.com", KeyID: "sandbox",
		Public: &key.PublicKey,
		PEM:    pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}),
	}, nil
}

// accountFile is what Google gives out.
type accountFile struct {
	Type    string `json:"type"`
	Project string `json:"project_id"`
	KeyID   string `json:"private_key_id"`
	Key     string `json:"private_key"`
	Email   string `json:"client_email"`
	Client  string `json:"client_id"` // Google's library for Java takes no file without one
	URL     string `json:"token_uri"`
}

// clientID is the number that Google gives an account, which nothing here goes by.
const clientID = "100000000000000000001"

// JSON is the account's key file, for a token endpoint.
func (a *Account) JSON(tokenURL string) []byte {
	// of strings
	text, _ := json.MarshalIndent(accountFile{"service_account", a.Project, a.KeyID, string(a.PEM), a.Email, clientID,
		tokenURL}, "", "  ")
	return append(text, '\n')
}

// ReadAccount takes up one that was made before, by what its JSON was.
func ReadAccount(text []byte) (*Account, error) {
	var f accountFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("service account: %w", err)
	}
	block, _ := pem.Decode([]byte(f.Key))
	if block == nil {
		return nil, fmt.Errorf("service account %s: no PEM in private_key", f.Email)
	}
	key, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("service account %s: %w", f.Email, err)
	}
	private, ok := key.(*rsa.PrivateKey)
	if !ok {
		return nil, fmt.Errorf("service account %s: its key is none of RSA", f.Email)
	}
	return &Account{f.Project, f.Email, f.KeyID, &private.PublicKey, []byte(f.Key)}, nil
}
