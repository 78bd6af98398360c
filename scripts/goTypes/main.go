// Command goTypes prints what the OpenAPI documents of Kubernetes leave out of its built-in types: the order of fields,
// their Go types as decoding errors name them, which are pointers, and which are left out when empty.
//
// Output: one JSON object, a struct's OpenAPI name to {"go": NAME, "fields": [[JSON NAME, GO TYPE, FLAGS, EMBEDDED]…]}.
// FLAGS: p pointer, e omitempty, z omitzero. EMBEDDED: the embedded structs on the way, which decoding errors name.
package main

import (
	"encoding/json"
	"os"
	"reflect"
	"strings"

	apps "k8s.io/api/apps/v1"
	authentication "k8s.io/api/authentication/v1"
	authorization "k8s.io/api/authorization/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscaling "k8s.io/api/autoscaling/v2"
	batch "k8s.io/api/batch/v1"
	coordination "k8s.io/api/coordination/v1"
	core "k8s.io/api/core/v1"
	discovery "k8s.io/api/discovery/v1"
	events "k8s.io/api/events/v1"
	policy "k8s.io/api/policy/v1"
	rbac "k8s.io/api/rbac/v1"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
)

var roots = []any{
	core.Namespace{}, core.ConfigMap{}, core.Secret{}, core.Service{}, core.Pod{}, core.ServiceAccount{}, core.Event{},
	core.PersistentVolume{}, core.PersistentVolumeClaim{}, core.Endpoints{}, core.Node{}, core.Binding{}, core.PodTemplate{},
	apps.Deployment{}, apps.ReplicaSet{}, apps.StatefulSet{}, apps.DaemonSet{}, apps.ControllerRevision{},
	batch.Job{}, batch.CronJob{}, autoscaling.HorizontalPodAutoscaler{}, autoscalingv1.HorizontalPodAutoscaler{},
	autoscalingv1.Scale{}, rbac.Role{}, rbac.RoleBinding{}, rbac.ClusterRole{}, rbac.ClusterRoleBinding{},
	coordination.Lease{}, discovery.EndpointSlice{}, events.Event{}, policy.Eviction{}, policy.PodDisruptionBudget{},
	apiextensions.CustomResourceDefinition{},
	authentication.SelfSubjectReview{}, authorization.SelfSubjectAccessReview{}, authorization.SelfSubjectRulesReview{},
	meta.DeleteOptions{}, meta.Status{},
}

// Types that read their own JSON (times, quantities) are scalars to everybody else.
var unmarshaler = reflect.TypeFor[json.Unmarshaler]()

type structure struct {
	Go     string     `json:"go"`
	Fields [][]string `json:"fields"`
}

func main() {
	found := map[string]*structure{}
	for _, root := range roots {
		visit(reflect.TypeOf(root), found)
	}
	encoder := json.NewEncoder(os.Stdout)
	if err := encoder.Encode(found); err != nil {
		panic(err)
	}
}

func visit(t reflect.Type, found map[string]*structure) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		visit(t.Elem(), found)
		return
	case reflect.Struct:
		if reflect.PointerTo(t).Implements(unmarshaler) {
			return
		}
	default:
		return
	}
	name := openAPIName(t)
	if _, done := found[name]; done {
		return
	}
	entry := &structure{Go: t.String(), Fields: [][]string{}}
	found[name] = entry
	addFields(t, "", entry, found)
}

func addFields(t reflect.Type, embedded string, entry *structure, found map[string]*structure) {
	for index := range t.NumField() {
		field := t.Field(index)
		parts := strings.Split(field.Tag.Get("json"), ",")
		if parts[0] == "-" || !field.IsExported() {
			continue
		}
		if parts[0] == "" && field.Anonymous {
			addFields(field.Type, embedded+field.Name+".", entry, found)
			continue
		}
		if parts[0] == "" {
			continue
		}
		flags, fieldType := "", field.Type
		if fieldType.Kind() == reflect.Pointer {
			flags, fieldType = "p", fieldType.Elem()
		}
		for _, option := range parts[1:] {
			switch option {
			case "omitempty":
				flags += "e"
			case "omitzero":
				flags += "z"
			}
		}
		goType := fieldType.String()
		if kind := fieldType.Kind(); kind == reflect.String && goType != "string" {
			goType += "=string"
		}
		described := []string{parts[0], goType, flags}
		if embedded != "" {
			described = append(described, embedded)
		}
		entry.Fields = append(entry.Fields, described)
		visit(field.Type, found)
	}
}

func openAPIName(t reflect.Type) string {
	host, path, _ := strings.Cut(t.PkgPath(), "/")
	names := strings.Split(host, ".")
	for left, right := 0, len(names)-1; left < right; left, right = left+1, right-1 {
		names[left], names[right] = names[right], names[left]
	}
	return strings.Join(names, ".") + "." + strings.ReplaceAll(path, "/", ".") + "." + t.Name()
}
