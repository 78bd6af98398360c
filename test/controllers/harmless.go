package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A correct controller whose object changes several hundred times in a second: conflicts, and nothing worse.
func crContention(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		toy := &Toy{}
		if err := manager.GetClient().Get(ctx, request.NamespacedName, toy); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		want := fmt.Sprint(toy.Spec.Size)
		if toy.Labels["size"] == want {
			return reconcile.Result{}, nil
		}
		toy.Labels = map[string]string{"size": want}
		return reconcile.Result{}, manager.GetClient().Update(ctx, toy)
	})
	if err := ctrl.NewControllerManagedBy(manager).Named("contention").For(&Toy{}).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	go func() {
		time.Sleep(time.Second)
		for size := int64(2); size < 400 && running.Err() == nil; size++ {
			patch := fmt.Sprintf(`{"spec":{"size":%d}}`, size/10+1)
			if size%2 == 0 {
				patch = fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, size)
			}
			_, _ = w.otherToys.Patch(running, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
			time.Sleep(3 * time.Millisecond)
		}
	}()
	return manager.Start(running)
}

// Two field managers of one program that apply their own items and conditions, fast: no finding.
func ssaItems(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	for round := range 6 {
		for _, who := range []string{"one", "two"} {
			body := fmt.Sprintf(`{"apiVersion":"example.test/v1","kind":"Toy","metadata":{"name":%q},"spec":{"parts":[{"name":%q,"weight":%d}]}}`, w.name, who, round)
			if _, err := w.toys.Patch(ctx, w.name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: who}); err != nil {
				return err
			}
			st := fmt.Sprintf(`{"apiVersion":"example.test/v1","kind":"Toy","metadata":{"name":%q},"status":{"conditions":[{"type":%q,"status":"True","reason":"r%d"}]}}`, w.name, who, round)
			if _, err := w.toys.Patch(ctx, w.name, types.ApplyPatchType, []byte(st), metav1.PatchOptions{FieldManager: who, Force: ptr.To(true)}, "status"); err != nil {
				return err
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	return nil
}

// An owner is set, a finalizer added and taken back by the one who added it: no finding.
func adopt(ctx context.Context, w *world) error {
	toy, err := w.makeToy(ctx, ToySpec{Size: 1})
	if err != nil {
		return err
	}
	object := &corev1.ConfigMap{}
	if err := w.runtime.Get(ctx, w.key(), object); err != nil {
		return err
	}
	base := object.DeepCopy()
	if err := controllerutil.SetOwnerReference(toy, object, toyScheme(&Toy{}, &ToyList{})); err != nil {
		return err
	}
	if err := w.runtime.Patch(ctx, object, client.MergeFrom(base)); err != nil {
		return err
	}
	for _, op := range []string{`[{"op":"add","path":"/metadata/finalizers","value":["a.test/x"]}]`, `[{"op":"test","path":"/metadata/finalizers/0","value":"a.test/x"},{"op":"remove","path":"/metadata/finalizers/0"}]`} {
		if err := w.runtime.Patch(ctx, object, client.RawPatch(types.JSONPatchType, []byte(op))); err != nil {
			return err
		}
	}
	return nil
}

// Spec and status written by two actors at once, each with retries: conflicts, and nothing worse.
func interleaved(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	done := make(chan error, 2)
	go func() {
		for round := range 12 {
			if err := retry.RetryOnConflict(patience, func() error {
				toy := &Toy{}
				if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
					return err
				}
				toy.Spec.Size = int64(round)
				return w.runtime.Update(ctx, toy)
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	go func() {
		for round := range 12 {
			if err := retry.RetryOnConflict(patience, func() error {
				toy := &Toy{}
				if err := w.otherRuntime.Get(ctx, w.key(), toy); err != nil {
					return err
				}
				toy.Status.Phase = fmt.Sprint(round)
				toy.Status.ObservedGeneration = toy.Generation
				return w.otherRuntime.Status().Update(ctx, toy)
			}); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	if err := <-done; err != nil {
		return err
	}
	return <-done
}
