package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The status of an informer's object sent again and again as it is, against reading inside the retry.
func statusRetry(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	factory := dynamicinformer.NewFilteredDynamicSharedInformerFactory(w.dynamic, 0, namespace, func(o *metav1.ListOptions) { o.FieldSelector = "metadata.name=" + w.name })
	informer := factory.ForResource(toyResource)
	go informer.Informer().Run(running.Done())
	if !cache.WaitForCacheSync(running.Done(), informer.Informer().HasSynced) {
		return ctx.Err()
	}
	cached, err := informer.Lister().ByNamespace(namespace).Get(w.name)
	if err != nil {
		return err
	}
	toy := cached.(*unstructured.Unstructured).DeepCopy()
	pause()
	if err := w.otherChangesToy(ctx, func(toy *Toy) { toy.Spec.Color = "red" }); err != nil {
		return err
	}
	err = retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if !w.bug {
			latest, err := w.toys.Get(ctx, w.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			toy = latest
		}
		_ = unstructured.SetNestedField(toy.Object, "Ready", "status", "phase")
		_, err := w.toys.UpdateStatus(ctx, toy, metav1.UpdateOptions{})
		return err
	})
	if w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A child stamped at every pass, whose events wake the controller, against one that is changed when it differs.
func childHeartbeat(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		c := manager.GetClient()
		toy := &Toy{}
		if err := c.Get(ctx, request.NamespacedName, toy); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: toy.Name, Namespace: toy.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, c, child, func() error {
			child.Data = map[string]string{"size": fmt.Sprint(toy.Spec.Size)}
			if w.bug {
				child.Annotations = map[string]string{"last-sync": time.Now().Format(time.RFC3339Nano)}
			}
			return controllerutil.SetControllerReference(toy, child, manager.GetScheme())
		})
		return reconcile.Result{}, err
	})
	if err := ctrl.NewControllerManagedBy(manager).Named("child-heartbeat-" + w.name).For(&Toy{}).Owns(&corev1.ConfigMap{}).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	go func() {
		for size := int64(2); size < 5; size++ {
			time.Sleep(300 * time.Millisecond)
			_ = w.otherChangesToy(running, func(toy *Toy) { toy.Spec.Size = size })
		}
	}()
	return manager.Start(running)
}

// The environment built from a map in whatever order it comes, against sorted.
func mapOrder(ctx context.Context, w *world) error {
	if err := w.makeApp(ctx, nil); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	wanted := map[string]string{"A": "1", "B": "2", "C": "3", "D": "4", "E": "5", "F": "6", "G": "7", "H": "8", "I": "9"}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if request.Name != w.name {
			return reconcile.Result{}, nil
		}
		found := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: request.Name, Namespace: request.Namespace}}
		_, err := controllerutil.CreateOrUpdate(ctx, manager.GetClient(), found, func() error {
			env := []corev1.EnvVar{}
			for name, value := range wanted {
				env = append(env, corev1.EnvVar{Name: name, Value: value})
			}
			sort.Slice(env, func(i, j int) bool { return env[i].Name < env[j].Name })
			if w.bug {
				// As a big map would give them: hardly ever twice in one order.
				rand.Shuffle(len(env), func(i, j int) { env[i], env[j] = env[j], env[i] })
			}
			found.Spec.Template.Spec.Containers[0].Env = env
			return nil
		})
		return reconcile.Result{}, err
	})
	if err := ctrl.NewControllerManagedBy(manager).Named("map-order-" + w.name).For(&appsv1.Deployment{}).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	return manager.Start(running)
}

// A deletion by the UID of an incarnation that is gone, again and again at once.
func uidLoop(ctx context.Context, w *world) error {
	seen, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherRecreates(ctx); err != nil {
		return err
	}
	for range 25 {
		err := w.typed.CoreV1().ConfigMaps(namespace).Delete(ctx, w.name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &seen.UID}})
		if !apierrors.IsConflict(err) {
			return err
		}
		if !w.bug {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// A JSON Patch whose test fails sent again and again as it is.
func testLoop(ctx context.Context, w *world) error {
	seen, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "mode", "9"); err != nil {
		return err
	}
	for range 25 {
		patch := fmt.Sprintf(`[{"op":"test","path":"/data/mode","value":%q},{"op":"replace","path":"/data/mode","value":"2"}]`, seen.Data["mode"])
		_, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
		if err == nil {
			return nil
		}
		if !w.bug {
			if seen, err = w.get(ctx); err != nil {
				return err
			}
		}
		time.Sleep(10 * time.Millisecond)
	}
	return nil
}

// One controller that stamps B at each event of A and A at each event of B, against stamps that change with the content only.
func crissCross(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	one := metav1.ListOptions{FieldSelector: "metadata.name=" + w.name}
	maps := w.dynamic.Resource(configMaps).Namespace(namespace)
	ofMap, err := maps.Watch(running, one)
	if err != nil {
		return err
	}
	ofToy, err := w.toys.Watch(running, one)
	if err != nil {
		return err
	}
	stamp := func(event watch.Event) string {
		object, is := event.Object.(*unstructured.Unstructured)
		if !is || event.Type == watch.Bookmark {
			return ""
		}
		value := object.GetResourceVersion()
		if !w.bug {
			content, _, _ := unstructured.NestedFieldNoCopy(object.Object, "data")
			value = fmt.Sprint(object.GetGeneration(), content)
		}
		return fmt.Sprintf(`{"metadata":{"annotations":{"seen":%q}}}`, value)
	}
	last := map[string]string{}
	for {
		select {
		case event, open := <-ofMap.ResultChan():
			if patch := stamp(event); open && patch != "" && last["toy"] != patch {
				last["toy"] = patch
				_, _ = w.toys.Patch(running, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			}
		case event, open := <-ofToy.ResultChan():
			if patch := stamp(event); open && patch != "" && last["map"] != patch {
				last["map"] = patch
				_, _ = maps.Patch(running, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			}
		case <-running.Done():
			return nil
		}
	}
}
