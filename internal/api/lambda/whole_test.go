package lambda

import "testing"

// Tools that keep state look for members that they did not write.
func TestSettingsAreShownWhole(t *testing.T) {
	r := newRig(t)
	r.create("f", map[string]any{"VpcConfig": map[string]any{"SubnetIds": []string{"subnet-1"}}})
	const at = functions + "/f/configuration"
	r.recorded(t, []recorded{
		{"GET", at, "", 200, []string{`"SubnetIds":["subnet-1"]`, `"SecurityGroupIds":[]`, `"VpcId":""`,
			`"Ipv6AllowedForDualStack":false`, `"SnapStart":{"ApplyOn":"None","OptimizationStatus":"Off"}`}, nil},
		{"PUT", at, `{"SnapStart":{"ApplyOn":"PublishedVersions"},"VpcConfig":{"SubnetIds":[],"SecurityGroupIds":[]}}`,
			200, []string{`"SnapStart":{"ApplyOn":"PublishedVersions","OptimizationStatus":"Off"}`,
				`"SubnetIds":[]`, `"VpcId":""`}, nil},
	})
	if r.create("g", nil).json(t)["VpcConfig"] != nil {
		t.Error("a function of which nothing was said has a VPC")
	}
}
