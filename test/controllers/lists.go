package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// A copy kept from a lister that goes back without a token, though the cache has a newer one; against the newer one.
func listerBlankLate(ctx context.Context, w *world) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	f := informers.NewSharedInformerFactoryWithOptions(w.typed, 0, informers.WithNamespace(namespace))
	l := f.Core().V1().ConfigMaps()
	inf := l.Informer()
	f.Start(running.Done())
	cache.WaitForCacheSync(running.Done(), inf.HasSynced)
	got, err := l.Lister().ConfigMaps(namespace).Get(w.name)
	if err != nil {
		return err
	}
	mine := got.DeepCopy()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	time.Sleep(400 * time.Millisecond)
	mine.Data["cyd"] = "1"
	if w.bug {
		mine.ResourceVersion = ""
	} else {
		if got, err = l.Lister().ConfigMaps(namespace).Get(w.name); err != nil {
			return err
		}
		mine = got.DeepCopy()
		mine.Data["cyd"] = "1"
	}
	_, err = w.update(ctx, mine)
	return err
}

// A strategic merge patch that replaces a list, against one that merges its items.
func strategicReplace(ctx context.Context, w *world) error {
	d, err := w.makeDeployment(ctx, "app")
	if err != nil {
		return err
	}
	if _, err := w.typed.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	d.Spec.Template.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "PROXY", Value: "x"}}
	if _, err := w.other.AppsV1().Deployments(namespace).Update(ctx, d, metav1.UpdateOptions{}); err != nil {
		return err
	}
	env := `[{"name":"MINE","value":"1"}]`
	if w.bug {
		env = `[{"$patch":"replace"},{"name":"MINE","value":"1"}]`
	}
	body := fmt.Sprintf(`{"spec":{"template":{"spec":{"containers":[{"name":"app","env":%s}]}}}}`, env)
	_, err = w.typed.AppsV1().Deployments(namespace).Patch(ctx, w.name, types.StrategicMergePatchType, []byte(body), metav1.PatchOptions{})
	return err
}

// A standing force on the replicas that somebody past the recorder scales, against leaving them out.
func hpaPast(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	for round := range int32(6) {
		scale, err := w.other.AppsV1().Deployments(namespace).GetScale(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		scale.Spec.Replicas = 4 + round%2
		if _, err := w.other.AppsV1().Deployments(namespace).UpdateScale(ctx, w.name, scale, metav1.UpdateOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
		spec := map[string]any{"minReadySeconds": int64(round)}
		if w.bug {
			spec["replicas"] = int64(2)
		}
		if err := w.apply(ctx, "apps/v1", "Deployment", map[string]any{"spec": spec}, client.ForceOwnership); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}

// Two field managers that force the same field from each other, against one each.
func ssaForceFight(ctx context.Context, w *world) error {
	for range 5 {
		for _, who := range []string{"alpha", "beta"} {
			key := "mode"
			if !w.bug {
				key = "mode-" + who
			}
			body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%q:%q}}`, w.name, key, who)
			if _, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: who, Force: ptr.To(true)}); err != nil {
				return err
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	return nil
}

// A JSON Patch that sets the whole list of finalizers, against one that carries the token.
func jsonFinalizers(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	mine := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), mine); err != nil {
		return err
	}
	if err := w.otherChangesToy(ctx, func(t *Toy) { t.Finalizers = []string{"b.test/y"} }); err != nil {
		return err
	}
	body := `[{"op":"add","path":"/metadata/finalizers","value":["a.test/x"]}]`
	if !w.bug {
		body = fmt.Sprintf(`[{"op":"replace","path":"/metadata/resourceVersion","value":%q},{"op":"add","path":"/metadata/finalizers","value":["a.test/x"]}]`, mine.ResourceVersion)
	}
	err := w.runtime.Patch(ctx, mine, client.RawPatch(types.JSONPatchType, []byte(body)))
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// An owner added by a merge patch of the whole list, against one with the optimistic lock.
func ownersClobber(ctx context.Context, w *world) error {
	a, err := w.makeToy(ctx, ToySpec{Size: 1})
	if err != nil {
		return err
	}
	mine := &corev1.ConfigMap{}
	if err := w.runtime.Get(ctx, w.key(), mine); err != nil {
		return err
	}
	other, err := w.other.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name + "-owner"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	cur, err := w.other.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	cur.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: other.Name, UID: other.UID}}
	if _, err := w.other.CoreV1().ConfigMaps(namespace).Update(ctx, cur, metav1.UpdateOptions{}); err != nil {
		return err
	}
	base := mine.DeepCopy()
	if err := controllerutil.SetOwnerReference(a, mine, toyScheme(&Toy{}, &ToyList{})); err != nil {
		return err
	}
	p := client.MergeFrom(base)
	if !w.bug {
		p = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	err = w.runtime.Patch(ctx, mine, p)
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A condition set by a merge patch of the whole list of a status, against one with the optimistic lock.
func statusConditionsPatch(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	mine := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), mine); err != nil {
		return err
	}
	o := &Toy{}
	if err := w.otherRuntime.Get(ctx, w.key(), o); err != nil {
		return err
	}
	o.Status.Conditions = []metav1.Condition{{Type: "Backup", Status: "True", Reason: "x", LastTransitionTime: metav1.Now()}}
	if err := w.otherRuntime.Status().Update(ctx, o); err != nil {
		return err
	}
	base := mine.clone()
	mine.Status.Conditions = []metav1.Condition{{Type: "Ready", Status: "True", Reason: "x", LastTransitionTime: metav1.Now()}}
	p := client.MergeFrom(base)
	if !w.bug {
		p = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	err := w.runtime.Status().Patch(ctx, mine, p)
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A field set back twice after somebody changed it: no fight yet.
func driftTwice(ctx context.Context, w *world) error {
	for range 2 {
		if err := w.otherSets(ctx, "mode", "user"); err != nil {
			return err
		}
		o, err := w.get(ctx)
		if err != nil {
			return err
		}
		o.Data["mode"] = "managed"
		if _, err := w.update(ctx, o); err != nil {
			return err
		}
		pause()
	}
	return nil
}

// Two instances of one program that annotate one object, with retries: conflicts, and nothing worse.
func twoInstances(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	second, err := kubernetes.NewForConfig(rest.CopyConfig(w.config))
	if err != nil {
		return err
	}
	done := make(chan error, 2)
	for i, c := range []kubernetes.Interface{w.typed, second} {
		go func() {
			for round := range 8 {
				err := retry.RetryOnConflict(patience, func() error {
					d, err := c.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{})
					if err != nil {
						return err
					}
					if d.Annotations == nil {
						d.Annotations = map[string]string{}
					}
					d.Annotations[fmt.Sprintf("i%d", i)] = fmt.Sprint(round)
					_, err = c.AppsV1().Deployments(namespace).Update(ctx, d, metav1.UpdateOptions{})
					return err
				})
				if err != nil {
					done <- err
					return
				}
			}
			done <- nil
		}()
	}
	if err := <-done; err != nil {
		return err
	}
	return <-done
}
