package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func ctrlConfig() config.Controller {
	return config.Controller{SkipNameValidation: &skipNameValidation}
}

func labelled(key, value string) labels.Selector {
	return labels.SelectorFromSet(labels.Set{key: value})
}

// apply sends a server-side apply by controller-runtime's client.
func (w *world) apply(ctx context.Context, version, kind string, content map[string]any, options ...client.ApplyOption) error {
	object := &unstructured.Unstructured{Object: content}
	object.SetAPIVersion(version)
	object.SetKind(kind)
	object.SetName(w.name)
	object.SetNamespace(namespace)
	return w.runtime.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), append(options, client.FieldOwner("op"))...)
}

// A whole operator as it should be: finalizer, a Deployment by CreateOrUpdate, conditions in the status, clean-up; others
// change the object meanwhile. Nothing is wrong.
func wholeOperator(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	const own = "example.test/operator"
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		c := manager.GetClient()
		toy := &Toy{}
		if err := c.Get(ctx, request.NamespacedName, toy); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: toy.Name, Namespace: toy.Namespace}}
		if !toy.DeletionTimestamp.IsZero() {
			if err := c.Delete(ctx, deployment); client.IgnoreNotFound(err) != nil {
				return reconcile.Result{}, err
			}
			controllerutil.RemoveFinalizer(toy, own)
			return reconcile.Result{}, c.Update(ctx, toy)
		}
		if controllerutil.AddFinalizer(toy, own) {
			return reconcile.Result{}, c.Update(ctx, toy)
		}
		_, err := controllerutil.CreateOrUpdate(ctx, c, deployment, func() error {
			name := map[string]string{"app": toy.Name}
			deployment.Spec.Selector = &metav1.LabelSelector{MatchLabels: name}
			deployment.Spec.Replicas = ptr.To(int32(toy.Spec.Size))
			deployment.Spec.Template.Labels = name
			if len(deployment.Spec.Template.Spec.Containers) == 0 {
				deployment.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "app:1"}}
			}
			return controllerutil.SetOwnerReference(toy, deployment, manager.GetScheme())
		})
		if err != nil {
			return reconcile.Result{}, err
		}
		base := toy.clone()
		toy.Status.ObservedGeneration = toy.Generation
		toy.Status.Phase = "Ready"
		meta.SetStatusCondition(&toy.Status.Conditions, metav1.Condition{Type: "Ready", Status: metav1.ConditionTrue, Reason: "Deployed", ObservedGeneration: toy.Generation})
		return reconcile.Result{}, c.Status().Patch(ctx, toy, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
	})
	if err := ctrl.NewControllerManagedBy(manager).Named("whole-operator").For(&Toy{}).Owns(&appsv1.Deployment{}).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	go func() {
		defer stop()
		for size := int64(2); size < 6; size++ {
			time.Sleep(500 * time.Millisecond)
			_ = w.otherChangesToy(running, func(toy *Toy) {
				toy.Spec.Size = size
				toy.Annotations = map[string]string{"round": fmt.Sprint(size)}
			})
		}
		time.Sleep(300 * time.Millisecond)
		_ = w.otherToys.Delete(running, w.name, metav1.DeleteOptions{})
		// It has cleaned up when the object is gone.
		for running.Err() == nil {
			if _, err := w.otherToys.Get(running, w.name, metav1.GetOptions{}); apierrors.IsNotFound(err) {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	return manager.Start(running)
}

// A progress report a few times a second beside an open watch of the object: a timer's writes are no reactions.
func progress(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	watcher, err := w.toys.Watch(running, metav1.ListOptions{FieldSelector: "metadata.name=" + w.name})
	if err != nil {
		return err
	}
	go func() {
		for range watcher.ResultChan() {
		}
	}()
	defer watcher.Stop()
	toy := &Toy{}
	if err := w.runtime.Get(running, w.key(), toy); err != nil {
		return err
	}
	for step := range 14 {
		toy.Status.Phase = fmt.Sprintf("%d of 14", step+1)
		if err := w.runtime.Status().Update(running, toy); err != nil {
			return err
		}
		time.Sleep(250 * time.Millisecond)
	}
	return nil
}

// The same fields applied with force at every pass, which nobody else ever owned: how apply is meant to be used.
func repeatedApply(ctx context.Context, w *world) error {
	for range 8 {
		if err := w.apply(ctx, "v1", "ConfigMap", map[string]any{"data": map[string]any{"own": "1"}}, client.ForceOwnership); err != nil {
			return err
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil
}
