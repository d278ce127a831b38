// Package template reads templates of AWS CloudFormation, in JSON and YAML, and works out what their functions stand
// for. It knows the language (parameters, mappings, conditions, Ref, Fn::Sub and their like) and nothing of the kinds
// of resources, nor of who makes them.
//
// Parse reads a text, and Template.Open gives it parameters: then Scope.Order lists the resources that its conditions
// leave, each behind those that it refers to, and Scope.Value works out a value as soon as the resources that it refers
// to are there.
//
// Templates are files of others: what they may cost is bounded (MaxBytes, and the depths and sizes beside it).
package template
