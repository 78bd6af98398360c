package main

import (
	"context"
	"fmt"
	"net/http"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func (w *world) makeChild(ctx context.Context, owner metav1.OwnerReference, labels map[string]string) error {
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{GenerateName: w.name + "-", Namespace: namespace, Labels: labels, OwnerReferences: []metav1.OwnerReference{owner}}, Data: map[string]string{"role": "worker"}}
	return w.runtime.Create(ctx, child)
}

// Children are looked for by a label that they do not get, so that every pass makes another one; against the label they have.
func unseenChildren(ctx context.Context, w *world) error {
	toy, err := w.makeToy(ctx, ToySpec{Size: 1})
	if err != nil {
		return err
	}
	looked := map[string]string{"toy": w.name}
	if w.bug {
		looked = map[string]string{"toys": w.name}
	}
	for range 3 {
		children := &corev1.ConfigMapList{}
		if err := w.runtime.List(ctx, children, client.InNamespace(namespace), client.MatchingLabels(looked)); err != nil {
			return err
		}
		if int64(len(children.Items)) < toy.Spec.Size {
			if err := w.makeChild(ctx, ownedBy(toy), map[string]string{"toy": w.name}); err != nil {
				return err
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}

// Passes that read a cache which has not been filled yet, against ones that wait until it has and shows their own child.
func unsyncedChildren(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	slow, opened := rest.CopyConfig(w.config), make(chan struct{})
	slow.Wrap(func(next http.RoundTripper) http.RoundTripper { return &gate{next, opened} })
	client, err := kubernetes.NewForConfig(slow)
	if err != nil {
		return err
	}
	mine := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "toy=" + w.name })
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace), mine)
	lister := factory.Core().V1().ConfigMaps()
	synced := lister.Informer().HasSynced
	factory.Start(running.Done())
	if !w.bug {
		close(opened)
		cache.WaitForCacheSync(running.Done(), synced)
	}
	for range 3 {
		toy := &Toy{}
		if err := w.runtime.Get(running, w.key(), toy); err != nil {
			return err
		}
		children, err := lister.Lister().ConfigMaps(namespace).List(labelled("toy", w.name))
		if err != nil {
			return err
		}
		if int64(len(children)) < toy.Spec.Size {
			if err := w.makeChild(running, ownedBy(toy), map[string]string{"toy": w.name}); err != nil {
				return err
			}
		}
		if !w.bug {
			pause()
		}
	}
	if w.bug {
		close(opened)
	}
	if !cache.WaitForCacheSync(running.Done(), synced) {
		return fmt.Errorf("the cache was never filled")
	}
	return nil
}

// gate holds back a client's requests, as a slow start does.
type gate struct {
	next   http.RoundTripper
	opened chan struct{}
}

func (g *gate) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case <-g.opened:
		return g.next.RoundTrip(request)
	case <-request.Context().Done():
		return nil, request.Context().Err()
	}
}

// A list computed twice from one cached copy without a token: the second patch takes the first one's item away.
func ownItemLost(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Parts: []Part{{Name: "wheel"}}}); err != nil {
		return err
	}
	cached := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), cached); err != nil {
		return err
	}
	for _, name := range []string{"door", "roof"} {
		toy := cached.clone()
		toy.Spec.Parts = append(toy.Spec.Parts, Part{Name: name})
		if err := w.runtime.Patch(ctx, toy, client.MergeFrom(cached)); err != nil {
			return err
		}
		if !w.bug {
			cached = toy
		}
		pause()
	}
	return nil
}

// Many children of one owner in a burst, as many as it asks for: no finding.
func burst(ctx context.Context, w *world) error {
	toy, err := w.makeToy(ctx, ToySpec{Size: 6})
	if err != nil {
		return err
	}
	for range toy.Spec.Size {
		if err := w.makeChild(ctx, ownedBy(toy), map[string]string{"toy": w.name}); err != nil {
			return err
		}
	}
	children := &corev1.ConfigMapList{}
	if err := w.runtime.List(ctx, children, client.InNamespace(namespace), client.MatchingLabels{"toy": w.name}); err != nil {
		return err
	}
	for _, item := range children.Items[:2] {
		uid := item.UID
		if err := w.runtime.Delete(ctx, &item, client.Preconditions{UID: &uid}); err != nil {
			return err
		}
	}
	for range 2 {
		if err := w.makeChild(ctx, ownedBy(toy), map[string]string{"toy": w.name}); err != nil {
			return err
		}
	}
	return w.runtime.DeleteAllOf(ctx, &corev1.ConfigMap{}, client.InNamespace(namespace), client.MatchingLabels{"toy": w.name})
}

// One sets a mark, the other takes it away when it has done its part: they talk, they do not fight.
func handshake(ctx context.Context, w *world) error {
	for range 5 {
		if _, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"please":"restart"}}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
		if _, err := w.other.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"please":null}}}`), metav1.PatchOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}
