//go:build !gms_pure_go

package puretag

// undefined on purpose: export GOFLAGS=-tags=gms_pure_go, or use make
var _ = build_hikyaku_with_GOFLAGS_tags_gms_pure_go
