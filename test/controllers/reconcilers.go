package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

func (w *world) makeApp(ctx context.Context, change func(*appsv1.Deployment)) error {
	app := map[string]string{"app": w.name}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}, Spec: appsv1.DeploymentSpec{
		Replicas: ptr.To(int32(2)),
		Selector: &metav1.LabelSelector{MatchLabels: app},
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: app}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "app", Image: "app:1"}}}}}}
	if change != nil {
		change(made)
	}
	return w.otherRuntime.Create(ctx, made)
}

func (w *world) otherChangesApp(ctx context.Context, change func(*appsv1.Deployment)) error {
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found := &appsv1.Deployment{}
		if err := w.otherRuntime.Get(ctx, w.key(), found); err != nil {
			return err
		}
		change(found)
		return w.otherRuntime.Update(ctx, found)
	})
}

// A toleration added by a strategic patch from an old base (the list is atomic), against the token inside.
func tolerationsPatch(ctx context.Context, w *world) error {
	if err := w.makeApp(ctx, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Tolerations = []corev1.Toleration{{Key: "first", Operator: "Exists"}}
	}); err != nil {
		return err
	}
	found := &appsv1.Deployment{}
	if err := w.runtime.Get(ctx, w.key(), found); err != nil {
		return err
	}
	pause()
	if err := w.otherChangesApp(ctx, func(d *appsv1.Deployment) {
		d.Spec.Template.Spec.Tolerations = append(d.Spec.Template.Spec.Tolerations, corev1.Toleration{Key: "spot", Operator: "Exists"})
	}); err != nil {
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		base := found.DeepCopy()
		found.Spec.Template.Spec.Tolerations = append(found.Spec.Template.Spec.Tolerations, corev1.Toleration{Key: "gpu", Operator: "Exists"})
		if w.bug {
			return w.runtime.Patch(ctx, found, client.StrategicMergeFrom(base))
		}
		err := w.runtime.Patch(ctx, found, client.StrategicMergeFrom(base, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			found = &appsv1.Deployment{}
			_ = w.runtime.Get(ctx, w.key(), found)
		}
		return err
	})
}

// All finalizers taken away by an update with the current token, against one's own.
func finalizersNil(ctx context.Context, w *world) error {
	toy := &Toy{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace, Finalizers: []string{"a.test/own"}}}
	if err := w.runtime.Create(ctx, toy); err != nil {
		return err
	}
	if err := w.otherChangesToy(ctx, func(toy *Toy) { controllerutil.AddFinalizer(toy, "b.test/volumes") }); err != nil {
		return err
	}
	if err := w.otherToys.Delete(ctx, w.name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	if w.bug {
		toy.Finalizers = nil
	} else {
		controllerutil.RemoveFinalizer(toy, "a.test/own")
	}
	return w.runtime.Update(ctx, toy)
}

// A lock in a ConfigMap taken without its token, though another took it meanwhile.
func lockByHand(ctx context.Context, w *world) error {
	seen, err := w.get(ctx)
	if err != nil {
		return err
	}
	if seen.Data["holder"] != "" {
		return nil
	}
	pause()
	if err := w.otherSets(ctx, "holder", "b"); err != nil {
		return err
	}
	seen.Data["holder"] = "a"
	if w.bug {
		seen.ResourceVersion = ""
	}
	if _, err = w.update(ctx, seen); apierrors.IsConflict(err) && !w.bug {
		return nil
	}
	return err
}

// "0" as a token: the server takes it for none.
func zeroToken(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	object.Data["cyd"] = "1"
	if w.bug {
		object.ResourceVersion = "0"
		_, err = w.update(ctx, object)
		return err
	}
	if _, err = w.update(ctx, object); !apierrors.IsConflict(err) {
		return err
	}
	if object, err = w.get(ctx); err != nil {
		return err
	}
	object.Data["cyd"] = "1"
	_, err = w.update(ctx, object)
	return err
}

// The scale set back to what the controller wants each time that an autoscaler has changed it, both through /scale.
func scaleFight(ctx context.Context, w *world) error {
	if err := w.makeApp(ctx, nil); err != nil {
		return err
	}
	deployments, others := w.typed.AppsV1().Deployments(namespace), w.other.AppsV1().Deployments(namespace)
	for round := range 4 {
		if round == 0 || w.bug {
			scale, err := deployments.GetScale(ctx, w.name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if scale.Spec.Replicas != 3 {
				scale.Spec.Replicas = 3
				if _, err := deployments.UpdateScale(ctx, w.name, scale, metav1.UpdateOptions{}); err != nil {
					return err
				}
			}
		}
		pause()
		_, err := others.UpdateScale(ctx, w.name, &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 7}}, metav1.UpdateOptions{})
		if err != nil {
			return err
		}
		pause()
	}
	return nil
}

// The containers replaced as a whole at each pass, so that an injected one comes and goes, against setting one's own.
func sidecarFight(ctx context.Context, w *world) error {
	if err := w.makeApp(ctx, nil); err != nil {
		return err
	}
	for range 4 {
		found := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}}
		if _, err := controllerutil.CreateOrUpdate(ctx, w.runtime, found, func() error {
			if w.bug {
				found.Spec.Template.Spec.Containers = []corev1.Container{{Name: "app", Image: "app:2"}}
				return nil
			}
			for i := range found.Spec.Template.Spec.Containers {
				if c := &found.Spec.Template.Spec.Containers[i]; c.Name == "app" {
					c.Image = "app:2"
				}
			}
			return nil
		}); err != nil {
			return err
		}
		pause()
		if err := w.otherChangesApp(ctx, func(d *appsv1.Deployment) {
			containers := &d.Spec.Template.Spec.Containers
			for _, c := range *containers {
				if c.Name == "mesh" {
					return
				}
			}
			*containers = append(*containers, corev1.Container{Name: "mesh", Image: "mesh:1"})
		}); err != nil {
			return err
		}
		pause()
	}
	return nil
}

// Two programs that apply under one manager's name take each other's fields away, against a name each.
func sharedManager(ctx context.Context, w *world) error {
	others := "op"
	if !w.bug {
		others = "op-two"
	}
	for range 4 {
		if err := w.apply(ctx, "v1", "ConfigMap", map[string]any{"data": map[string]any{"mine": "1"}}); err != nil {
			return err
		}
		pause()
		second := &unstructured.Unstructured{Object: map[string]any{"data": map[string]any{"yours": "1"}}}
		second.SetAPIVersion("v1")
		second.SetKind("ConfigMap")
		second.SetName(w.name)
		second.SetNamespace(namespace)
		if err := w.otherRuntime.Apply(ctx, client.ApplyConfigurationFromUnstructured(second), client.FieldOwner(others)); err != nil {
			return err
		}
		pause()
	}
	return nil
}

// What a force would take, asked for without doing it, and an update and a patch likewise: nothing is wrong.
func dryRuns(ctx context.Context, w *world) error {
	seen, err := w.get(ctx)
	if err != nil {
		return err
	}
	for round := range 8 {
		if err := w.otherSets(ctx, "mode", fmt.Sprint(round)); err != nil {
			return err
		}
		if err := w.apply(ctx, "v1", "ConfigMap", map[string]any{"data": map[string]any{"mode": "x"}}, client.ForceOwnership, client.DryRunAll); err != nil {
			return err
		}
		seen.ResourceVersion = ""
		seen.Data["mode"] = "0"
		if _, err := w.typed.CoreV1().ConfigMaps(namespace).Update(ctx, seen, metav1.UpdateOptions{DryRun: []string{"All"}}); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// RetryOnConflict that takes over the token only, against one that reads anew and sets the declared value once more.
func declaredRetry(ctx context.Context, w *world) error {
	if err := w.makeApp(ctx, nil); err != nil {
		return err
	}
	found := &appsv1.Deployment{}
	if err := w.runtime.Get(ctx, w.key(), found); err != nil {
		return err
	}
	pause()
	if err := w.otherChangesApp(ctx, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To(int32(9)) }); err != nil {
		return err
	}
	pause()
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		found.Spec.Replicas = ptr.To(int32(5))
		err := w.runtime.Update(ctx, found)
		if !apierrors.IsConflict(err) {
			return err
		}
		fresh := &appsv1.Deployment{}
		if err := w.runtime.Get(ctx, w.key(), fresh); err != nil {
			return err
		}
		if w.bug {
			found.ResourceVersion = fresh.ResourceVersion
		} else {
			found = fresh
		}
		return err
	})
}

// The object is built anew from what is wanted and given the token of what is there, against changing what is there.
func builtAnew(ctx context.Context, w *world) error {
	patch := []byte(`{"metadata":{"labels":{"team":"b"},"annotations":{"audit.test/by":"b"}}}`)
	if _, err := w.other.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		return err
	}
	pause()
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	if w.bug {
		object = &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name, ResourceVersion: object.ResourceVersion}, Data: object.Data}
	}
	object.Data["mode"] = "7"
	_, err = w.update(ctx, object)
	return err
}
