package pubsub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"strings"

	"cloud.google.com/go/iam/apiv1/iampb"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/hikyaku/hikyaku/internal/access"
	"github.com/hikyaku/hikyaku/internal/queue"
)

// policyService is google.iam.v1.IAMPolicy. Policies are kept and shown. Who may do what is decided by the users of the
// configuration and their grants, and TestIamPermissions tells of those.
type policyService struct {
	iampb.UnimplementedIAMPolicyServer
	d *Server
}

// policies is what keys of policies begin with.
const policies = "policies/"

// policyKey is the key of a resource's policy.
func policyKey(r resource, n queue.Name) string { return policies + noteKey(r.kind, n) }

// policyResource finds what a policy is of. may is asked before it is told whether there is such a thing.
func (d *Server) policyResource(ctx context.Context, name string,
	may func(resource) error) (resource, error) {
	r, err := parseResource("resource", name, kindTopic, kindSubscription, kindSnapshot, kindSchema)
	if err != nil {
		return r, err
	}
	if err := may(r); err != nil {
		return r, err
	}
	found := true
	switch r.kind {
	case kindTopic:
		found, err = d.isTopic(ctx, r)
	case kindSubscription:
		_, err = d.subscription(ctx, r)
	case kindSnapshot:
		_, err = d.snapshot(ctx, r)
	case kindSchema:
		found, err = d.isSchema(ctx, r.String())
	}
	if err == nil && !found {
		err = notFound(r)
	}
	return r, err
}

// policy is what was set of a resource, and the note that it is from.
func (d *Server) policy(ctx context.Context, r resource) (*iampb.Policy, queue.NoteIs, error) {
	p := new(iampb.Policy)
	is, err := d.recall(ctx, policyKey(r, d.store.Resolve(r.name())), p)
	if err != nil {
		return nil, is, err
	}
	p.Etag, err = etagOf(p)
	return p, is, err
}

// etagOf tells versions of a policy apart.
func etagOf(p *iampb.Policy) ([]byte, error) {
	p = proto.CloneOf(p)
	p.Etag = nil
	b, err := proto.MarshalOptions{Deterministic: true}.Marshal(p)
	if err != nil {
		return nil, err
	}
	sum := sha256.Sum256(b)
	return sum[:8], nil
}

// GetIamPolicy shows the policy that was set.
func (s policyService) GetIamPolicy(ctx context.Context, req *iampb.GetIamPolicyRequest) (*iampb.Policy, error) {
	r, err := s.d.policyResource(ctx, req.Resource, func(r resource) error { return s.d.seen(ctx, r) })
	if err != nil {
		return nil, err
	}
	size, err := s.d.noteSize(ctx, policyKey(r, s.d.store.Resolve(r.name())))
	if err != nil {
		return nil, err
	}
	if err := roomFor(ctx, size); err != nil {
		return nil, err
	}
	p, _, err := s.d.policy(ctx, r)
	return p, err
}

// SetIamPolicy keeps a policy.
func (s policyService) SetIamPolicy(ctx context.Context, req *iampb.SetIamPolicyRequest) (*iampb.Policy, error) {
	d := s.d
	r, err := d.policyResource(ctx, req.Resource, func(r resource) error { return d.allow(ctx, access.Admin, r) })
	if err != nil {
		return nil, err
	}
	if req.Policy == nil {
		return nil, invalid("policy", "is missing")
	}
	d.admin.Lock()
	defer d.admin.Unlock()
	return anew(func() (*iampb.Policy, error) {
		now, is, err := d.policy(ctx, r)
		if err != nil {
			return nil, err
		}
		if len(req.Policy.Etag) > 0 && !bytes.Equal(req.Policy.Etag, now.Etag) {
			return nil, status.Error(codes.Aborted, "the policy was changed meanwhile: read it again")
		}
		p := proto.CloneOf(req.Policy)
		p.Etag = nil
		if err := d.remember(ctx, is, d.commit, p); err != nil {
			return nil, err
		}
		p, _, err = d.policy(ctx, r)
		return p, err
	})
}

// TestIamPermissions tells which permissions the caller has, by the grants of users.
func (s policyService) TestIamPermissions(ctx context.Context,
	req *iampb.TestIamPermissionsRequest) (*iampb.TestIamPermissionsResponse, error) {
	r, err := s.d.policyResource(ctx, req.Resource, func(resource) error { return nil })
	if err != nil && status.Code(err) != codes.NotFound {
		return nil, err
	}
	res := new(iampb.TestIamPermissionsResponse)
	for _, p := range req.Permissions {
		if strings.Contains(p, "*") {
			return nil, invalid("permissions", "%.100q: wildcards are not allowed", p)
		}
		if err == nil && s.d.may(ctx, p, r) {
			res.Permissions = append(res.Permissions, p)
		}
	}
	return res, nil
}

// may tells whether a permission of Google's is one that the caller's grants give.
func (d *Server) may(ctx context.Context, permission string, r resource) bool {
	rest, ok := strings.CutPrefix(permission, "pubsub."+r.kind+".")
	if !ok {
		return false
	}
	switch rest {
	case "get", "list", "validate", "seek": // a subscription goes to a snapshot that its user sees
		return d.visible(ctx, r)
	case "publish":
		return d.allow(ctx, access.Put, r) == nil
	case "consume", "attachSubscription":
		return d.allow(ctx, access.Take, r) == nil
	case "create", "delete", "update", "detachSubscription", "getIamPolicy", "setIamPolicy", "commit",
		"rollback":
		return d.allow(ctx, access.Admin, r) == nil
	}
	return false
}
