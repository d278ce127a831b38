// Package sigv4 checks AWS Signature Version 4: that whoever sent a request knows the secret of the access key it
// names, that nobody changed the request on its way, and that it is not an old one sent again much later. It knows the
// two forms, a header Authorization and a presigned query string. It serves every door whose clients are AWS SDKs.
//
// It knows no users and no services: the secret of a key is asked of a function, and what region and service the
// signature may be made for is said by the door. It signs nothing.
//
//	verifier := sigv4.Verifier{
//		Service: "sqs",
//		Secret:  func(key string) (string, bool) { … },
//	}
//	who, err := verifier.Verify(r, body)
//	var refused *sigv4.Error
//	if errors.As(err, &refused) {
//		// refused.Code, refused.Status and refused.Message are what AWS answers
//	}
//
// Verify may be called from any goroutine.
//
// Session tokens are not checked: there are none that this server gave out. One that is signed has to be the one that
// was signed, as any header; the identity is the access key's alone.
package sigv4
