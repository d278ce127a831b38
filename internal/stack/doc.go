// Package stack carries a template of CloudFormation out over the Lambda and SQS doors of a running hikyaku: it makes
// what the template has, changes what differs, and deletes what an earlier template had. package template knows the
// language; here are the kinds of resources.
//
// Nothing is kept beside the doors. What a stack has made is found again by tags: functions, queues and mappings have
// them; what belongs to a function (versions, aliases, permissions, …) or to a queue (its policy) is noted in the tags
// of that; and versions of layers, which have no tags, say it at the end of their description. A tag holds the sum of
// what the resource was made of, and only a resource with another sum is changed. So what somebody changed by another
// way is left as it is, until the template changes it.
//
// Plan tells what Deploy would do. Deploy plans first, so that mistakes are told before anything is made.
package stack
