package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// world is what a scenario works with: its own clients, which are recorded, and those of the other actor, which are not.
type world struct {
	config *rest.Config
	direct *rest.Config
	// typed speaks protobuf, dynamic and runtime JSON.
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	runtime client.Client
	other   kubernetes.Interface
	// toys and otherToys are the custom resources as both actors see them.
	toys, otherToys dynamic.ResourceInterface
	otherRuntime    client.Client
	name            string
	bug             bool
}

const namespace = "default"

// loopTime is how long what may loop runs: for many rounds, also while others keep the machine busy.
const loopTime = 5 * time.Second

// patience is the backoff of those that write one object at once: none of them gives up.
var patience = wait.Backoff{Steps: 40, Duration: 5 * time.Millisecond, Factor: 1.4, Jitter: 1, Cap: 500 * time.Millisecond}

var configMaps = schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}

// newWorld makes the clients of one scenario; an agent of its own makes it an actor of its own.
func newWorld(config, direct *rest.Config, scenario, variant, agent string) (*world, error) {
	config, direct = rest.CopyConfig(config), rest.CopyConfig(direct)
	config.UserAgent = agent
	config.QPS, config.Burst = 1000, 1000
	direct.UserAgent = "controller-b"
	direct.QPS, direct.Burst = 1000, 1000
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	w := &world{config: config, direct: direct, bug: variant == "bug", name: fmt.Sprintf("%s-%s-%d", scenario, variant, time.Now().UnixNano()%1e9)}
	var err error
	if w.typed, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	if w.runtime, err = client.New(config, client.Options{Scheme: toyScheme(&Toy{}, &ToyList{})}); err != nil {
		return nil, err
	}
	if w.otherRuntime, err = client.New(direct, client.Options{Scheme: toyScheme(&Toy{}, &ToyList{})}); err != nil {
		return nil, err
	}
	others, err := dynamic.NewForConfig(direct)
	if err != nil {
		return nil, err
	}
	w.toys, w.otherToys = w.dynamic.Resource(toyResource).Namespace(namespace), others.Resource(toyResource).Namespace(namespace)
	w.other, err = kubernetes.NewForConfig(direct)
	return w, err
}

// setUp makes the ConfigMap that most scenarios are about, by the other actor.
func (w *world) setUp(ctx context.Context) error {
	_, err := w.other.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: w.name, Finalizers: []string{}},
		Data:       map[string]string{"ann": "1", "mode": "0"},
	}, metav1.CreateOptions{})
	return err
}

func (w *world) get(ctx context.Context) (*corev1.ConfigMap, error) {
	return w.typed.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
}

func (w *world) update(ctx context.Context, object *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return w.typed.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
}

// otherSets has the other actor set a key, as a correct client does.
func (w *world) otherSets(ctx context.Context, key, value string) error {
	current, err := w.other.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	current.Data[key] = value
	_, err = w.other.CoreV1().ConfigMaps(namespace).Update(ctx, current, metav1.UpdateOptions{})
	return err
}

func (w *world) key() client.ObjectKey { return client.ObjectKey{Namespace: namespace, Name: w.name} }

func pause() { time.Sleep(150 * time.Millisecond) }

var (
	toyGroup    = schema.GroupVersion{Group: "example.test", Version: "v1"}
	toyResource = toyGroup.WithResource("toys")
)

// Toy is a custom resource with all the fields that its definition has.
type Toy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              ToySpec   `json:"spec,omitempty"`
	Status            ToyStatus `json:"status,omitempty"`
}

type ToySpec struct {
	Size  int64  `json:"size,omitempty"`
	Color string `json:"color,omitempty"`
	Parts []Part `json:"parts,omitempty"`
}

type Part struct {
	Name   string `json:"name"`
	Weight int64  `json:"weight,omitempty"`
}

type ToyStatus struct {
	Phase              string             `json:"phase,omitempty"`
	ExternalID         string             `json:"externalID,omitempty"`
	CheckedAt          string             `json:"checkedAt,omitempty"`
	ObservedGeneration int64              `json:"observedGeneration,omitempty"`
	Conditions         []metav1.Condition `json:"conditions,omitempty"`
}

type ToyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Toy `json:"items"`
}

// OldToy is the same resource in a program that was built before it had colours.
type OldToy struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              OldToySpec `json:"spec,omitempty"`
	Status            ToyStatus  `json:"status,omitempty"`
}

type OldToySpec struct {
	Size  int64     `json:"size,omitempty"`
	Parts []OldPart `json:"parts,omitempty"`
}

type OldPart struct {
	Name string `json:"name"`
}

type OldToyList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []OldToy `json:"items"`
}

func (t *Toy) DeepCopyObject() runtime.Object        { return copied(t, &Toy{}) }
func (t *ToyList) DeepCopyObject() runtime.Object    { return copied(t, &ToyList{}) }
func (t *OldToy) DeepCopyObject() runtime.Object     { return copied(t, &OldToy{}) }
func (t *OldToyList) DeepCopyObject() runtime.Object { return copied(t, &OldToyList{}) }
func (t *Toy) clone() *Toy                           { return copied(t, &Toy{}) }

func copied[T any](from, to *T) *T {
	text, err := json.Marshal(from)
	if err == nil {
		err = json.Unmarshal(text, to)
	}
	if err != nil {
		panic(err)
	}
	return to
}

// toyScheme knows the built-in kinds and the Toy as one of its two types.
func toyScheme(object, list runtime.Object) *runtime.Scheme {
	known := runtime.NewScheme()
	if err := scheme.AddToScheme(known); err != nil {
		panic(err)
	}
	known.AddKnownTypeWithName(toyGroup.WithKind("Toy"), object)
	known.AddKnownTypeWithName(toyGroup.WithKind("ToyList"), list)
	metav1.AddToGroupVersion(known, toyGroup)
	return known
}

// makeToy has the other actor make a Toy.
func (w *world) makeToy(ctx context.Context, spec ToySpec) (*Toy, error) {
	toy := &Toy{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}, Spec: spec}
	return toy, w.otherRuntime.Create(ctx, toy)
}

// otherChangesToy has the other actor change the newest Toy, as a correct client does.
func (w *world) otherChangesToy(ctx context.Context, change func(*Toy)) error {
	toy := &Toy{}
	if err := w.otherRuntime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	change(toy)
	return w.otherRuntime.Update(ctx, toy)
}

// installToys makes the definition, where it is not there yet, and waits until it is served.
func installToys(ctx context.Context, direct *rest.Config) error {
	client, err := dynamic.NewForConfig(direct)
	if err != nil {
		return err
	}
	text := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"toys.example.test"},"spec":{
		"group":"example.test","scope":"Namespaced","names":{"kind":"Toy","listKind":"ToyList","plural":"toys","singular":"toy"},
		"versions":[{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{
			"spec":{"type":"object","properties":{"size":{"type":"integer"},"color":{"type":"string"},
				"parts":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object","required":["name"],
					"properties":{"name":{"type":"string"},"weight":{"type":"integer"}}}}}},
			"status":{"type":"object","properties":{"phase":{"type":"string"},"externalID":{"type":"string"},"checkedAt":{"type":"string"},"observedGeneration":{"type":"integer"},
				"conditions":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"],"items":{"type":"object","required":["type"],
					"properties":{"type":{"type":"string"},"status":{"type":"string"},"reason":{"type":"string"},"message":{"type":"string"},
						"lastTransitionTime":{"type":"string"},"observedGeneration":{"type":"integer"}}}}}}}}}}]}}`
	definition := &unstructured.Unstructured{}
	if err := definition.UnmarshalJSON([]byte(text)); err != nil {
		return err
	}
	definitions := client.Resource(schema.GroupVersionResource{Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"})
	if _, err := definitions.Create(ctx, definition, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
		return err
	}
	for {
		_, err := client.Resource(toyResource).Namespace(namespace).List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil || ctx.Err() != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
}
