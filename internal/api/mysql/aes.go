package mysql

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"strconv"
	"strings"
	"sync/atomic"

	gms "github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"
)

// encrypting is AES_ENCRYPT or AES_DECRYPT, which go-mysql-server has not: programs keep columns encrypted by them.
// The modes are those of block_encryption_mode that need nothing but blocks: ECB and CBC.
type encrypting struct {
	decrypts bool
	args     []gms.Expression             // the text, the key, and what CBC begins with
	last     *atomic.Pointer[expandedAES] // of most keys there is one
}

// expandedAES is a key that is ready for use.
type expandedAES struct {
	key   string
	bits  int
	block cipher.Block
}

var _ gms.FunctionExpression = (*encrypting)(nil)
var _ gms.CollationCoercible = (*encrypting)(nil)

// aesFunctions are both.
func aesFunctions() (fs []gms.Function) {
	for name, decrypts := range map[string]bool{"aes_encrypt": false, "aes_decrypt": true} {
		fs = append(fs, gms.FunctionN{Name: name,
			Fn: func(ctx *gms.Context, args ...gms.Expression) (gms.Expression, error) {
				if len(args) != 2 && len(args) != 3 {
					return nil, sqlError(erWrongParamCount, "42000", "Incorrect parameter count in the call to native "+
						"function '%s': it takes 2 or 3", name)
				}
				return &encrypting{decrypts, spelt(ctx, args), new(atomic.Pointer[expandedAES])}, nil
			}})
	}
	return fs
}

// FunctionName implements gms.FunctionExpression, as the others do.
func (e *encrypting) FunctionName() string {
	if e.decrypts {
		return "aes_decrypt"
	}
	return "aes_encrypt"
}

func (e *encrypting) Description() string          { return e.FunctionName() }
func (e *encrypting) Type(*gms.Context) gms.Type   { return types.LongBlob }
func (e *encrypting) IsNullable(*gms.Context) bool { return true }
func (e *encrypting) Children() []gms.Expression   { return e.args }
func (e *encrypting) Resolved() bool               { return (&call{args: e.args}).Resolved() }
func (e *encrypting) String() string               { return (&call{e.FunctionName(), e.args}).String() }

// CollationCoercibility is that of bytes.
func (e *encrypting) CollationCoercibility(*gms.Context) (gms.CollationID, byte) {
	return gms.Collation_binary, 4
}

// WithChildren implements gms.Expression. A key that is ready stays so.
func (e *encrypting) WithChildren(_ *gms.Context, args ...gms.Expression) (gms.Expression, error) {
	if len(args) != len(e.args) {
		return nil, gms.ErrInvalidChildrenNumber.New(e, len(args), len(e.args))
	}
	return &encrypting{e.decrypts, args, e.last}, nil
}

// Eval is the text, encrypted or decrypted; NULL where it cannot be decrypted.
func (e *encrypting) Eval(ctx *gms.Context, row gms.Row) (any, error) {
	bits, chained, err := encryptionMode(ctx)
	if err != nil {
		return nil, err
	}
	if chained && len(e.args) < 3 {
		return nil, sqlError(erWrongParamCount, "42000", "Incorrect parameter count in the call to native function "+
			"'%s': block_encryption_mode needs an initialization vector", e.FunctionName())
	}
	values := make([][]byte, len(e.args))
	for i, a := range e.args {
		if i == 2 && !chained {
			continue
		}
		v, err := a.Eval(ctx, row)
		if v == nil || err != nil {
			return nil, err
		}
		if v, _, err = types.LongBlob.Convert(ctx, v); err != nil {
			return nil, err
		}
		if v, err = gms.UnwrapAny(ctx, v); err != nil {
			return nil, err
		}
		values[i], _ = v.([]byte)
	}
	if m := meterOf(ctx); m != nil {
		if err := m.make(int64(len(values[0]) + aes.BlockSize)); err != nil {
			return nil, err
		}
	}
	block, err := e.expand(string(values[1]), bits)
	if err != nil {
		return nil, err
	}
	vector := make([]byte, aes.BlockSize)
	if chained && copy(vector, values[2]) < aes.BlockSize {
		return nil, sqlError(1882, "HY000", "The initialization vector supplied to %s is too short. Must be at least "+
			"16 bytes long", e.FunctionName())
	}
	if e.decrypts {
		return decrypted(block, vector, chained, values[0]), nil
	}
	return encrypted(block, vector, chained, values[0]), nil
}

// encryptionMode reads block_encryption_mode.
func encryptionMode(ctx *gms.Context) (bits int, chained bool, err error) {
	v, err := ctx.GetSessionVariable(ctx, "block_encryption_mode")
	if err != nil {
		return 0, false, err
	}
	parts := strings.Split(strings.ToLower(text64(v)), "-")
	if len(parts) == 3 {
		bits, _ = strconv.Atoi(parts[1]) // 0 is refused below
	}
	if bits != 128 && bits != 192 && bits != 256 || parts[2] != "ecb" && parts[2] != "cbc" {
		return 0, false, sqlError(erUnsupported, "42000", "This server encrypts in the modes ecb and cbc: "+
			"block_encryption_mode = '%s' is not supported", text64(v))
	}
	return bits, parts[2] == "cbc", nil
}

// expand makes a key ready. As in MySQL, the bytes of a longer one are laid over each other.
func (e *encrypting) expand(key string, bits int) (cipher.Block, error) {
	if k := e.last.Load(); k != nil && k.key == key && k.bits == bits {
		return k.block, nil
	}
	folded := make([]byte, bits/8)
	for i := range len(key) {
		folded[i%len(folded)] ^= key[i]
	}
	block, err := aes.NewCipher(folded)
	if err != nil {
		return nil, err
	}
	e.last.Store(&expandedAES{key, bits, block})
	return block, nil
}

// encrypted fills the last block up with bytes that say how many they are.
func encrypted(block cipher.Block, vector []byte, chained bool, text []byte) []byte {
	spare := aes.BlockSize - len(text)%aes.BlockSize
	all := append(bytes.Clone(text), bytes.Repeat([]byte{byte(spare)}, spare)...)
	if chained {
		cipher.NewCBCEncrypter(block, vector).CryptBlocks(all, all)
		return all
	}
	for i := 0; i < len(all); i += aes.BlockSize {
		block.Encrypt(all[i:], all[i:])
	}
	return all
}

// decrypted is nil where the text or the key is wrong.
func decrypted(block cipher.Block, vector []byte, chained bool, text []byte) any {
	if len(text) == 0 || len(text)%aes.BlockSize != 0 {
		return nil
	}
	all := bytes.Clone(text)
	if chained {
		cipher.NewCBCDecrypter(block, vector).CryptBlocks(all, all)
	} else {
		for i := 0; i < len(all); i += aes.BlockSize {
			block.Decrypt(all[i:], all[i:])
		}
	}
	spare := int(all[len(all)-1])
	if spare < 1 || spare > aes.BlockSize ||
		!bytes.HasSuffix(all, bytes.Repeat([]byte{byte(spare)}, spare)) {
		return nil
	}
	return all[:len(all)-spare]
}
