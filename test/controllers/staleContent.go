package main

import (
	"context"
	"encoding/json"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A second read just before the write, only for its token, with no refusal before; against content and token of one read.
func borrowedToken(ctx context.Context, w *world) error {
	client := w.dynamic.Resource(configMaps).Namespace(namespace)
	object, err := client.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	pause()
	newest, err := client.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if w.bug {
		object.SetResourceVersion(newest.GetResourceVersion())
	} else {
		object = newest
	}
	if err := unstructured.SetNestedField(object.Object, "1", "data", "cyd"); err != nil {
		return err
	}
	_, err = client.Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// RetryOnConflict around a change that was computed before it, against one that is computed inside.
func retryOutside(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	if err := w.otherChangesToy(ctx, func(toy *Toy) { toy.Spec.Color = "red"; toy.Labels = map[string]string{"paint": "fresh"} }); err != nil {
		return err
	}
	toy.Spec.Size = 2
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := w.runtime.Update(ctx, toy)
		if !apierrors.IsConflict(err) {
			return err
		}
		latest := &Toy{}
		if getErr := w.runtime.Get(ctx, w.key(), latest); getErr != nil {
			return getErr
		}
		if w.bug {
			toy.ResourceVersion = latest.ResourceVersion
		} else {
			toy = latest
			toy.Spec.Size = 2
		}
		return err
	})
}

// Status of a stale copy under the newest token, against the condition set on the newest status.
func statusSwap(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	other := &Toy{}
	if err := w.otherRuntime.Get(ctx, w.key(), other); err != nil {
		return err
	}
	other.Status.Conditions = []metav1.Condition{{Type: "Backup", Status: "True", Reason: "Done", LastTransitionTime: metav1.Now()}}
	if err := w.otherRuntime.Status().Update(ctx, other); err != nil {
		return err
	}
	pause()
	newest := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), newest); err != nil {
		return err
	}
	if w.bug {
		toy.ResourceVersion = newest.ResourceVersion
	} else {
		toy = newest
	}
	toy.Status.Phase = "Ready"
	toy.Status.Conditions = append(toy.Status.Conditions, metav1.Condition{Type: "Ready", Status: "True", Reason: "Ok", LastTransitionTime: metav1.Now()})
	return w.runtime.Status().Update(ctx, toy)
}

// MergeFrom of a whole list without the token, against one with the optimistic lock.
func mergeFromList(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Parts: []Part{{Name: "wheel", Weight: 1}}}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	if err := w.otherChangesToy(ctx, func(toy *Toy) { toy.Spec.Parts = append(toy.Spec.Parts, Part{Name: "door", Weight: 2}) }); err != nil {
		return err
	}
	add := func(toy *Toy) { toy.Spec.Parts = append(toy.Spec.Parts, Part{Name: "roof", Weight: 3}) }
	base := toy.clone()
	add(toy)
	if w.bug {
		return w.runtime.Patch(ctx, toy, client.MergeFrom(base))
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		err := w.runtime.Patch(ctx, toy, client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{}))
		if apierrors.IsConflict(err) {
			toy = &Toy{}
			if getErr := w.runtime.Get(ctx, w.key(), toy); getErr != nil {
				return getErr
			}
			base = toy.clone()
			add(toy)
		}
		return err
	})
}

// A finalizer taken away by MergeFrom of the whole list, against a patch under the token.
func mergeFromFinalizer(ctx context.Context, w *world) error {
	if err := w.otherFinalizers(ctx, "a.test/own"); err != nil {
		return err
	}
	object := &corev1.ConfigMap{}
	if err := w.runtime.Get(ctx, w.key(), object); err != nil {
		return err
	}
	pause()
	if err := w.otherFinalizers(ctx, "a.test/own", "b.test/others"); err != nil {
		return err
	}
	base := object.DeepCopy()
	object.Finalizers = nil
	patch := client.MergeFrom(base)
	if !w.bug {
		patch = client.MergeFromWithOptions(base, client.MergeFromWithOptimisticLock{})
	}
	err := w.runtime.Patch(ctx, object, patch)
	if w.bug || !apierrors.IsConflict(err) {
		return err
	}
	if err := w.runtime.Get(ctx, w.key(), object); err != nil {
		return err
	}
	object.Finalizers = []string{"b.test/others"}
	return w.runtime.Update(ctx, object)
}

// A JSON Patch that replaces a whole map, against one that tests the token first.
func mapReplace(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	for {
		object.Data["cyd"] = "1"
		operations := []map[string]any{{"op": "replace", "path": "/data", "value": object.Data}}
		if !w.bug {
			operations = append([]map[string]any{{"op": "test", "path": "/metadata/resourceVersion", "value": object.ResourceVersion}}, operations...)
		}
		patch, err := json.Marshal(operations)
		if err != nil {
			return err
		}
		_, err = w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.JSONPatchType, patch, metav1.PatchOptions{})
		if w.bug || !apierrors.IsInvalid(err) {
			return err
		}
		pause()
		if object, err = w.get(ctx); err != nil {
			return err
		}
	}
}

// The image of the first container by its position, against one that tests its name.
func indexImage(ctx context.Context, w *world) error {
	deployment, err := w.makeDeployment(ctx, "app")
	if err != nil {
		return err
	}
	if _, err := w.typed.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	pause()
	pod := &deployment.Spec.Template.Spec
	pod.Containers = append([]corev1.Container{{Name: "proxy", Image: "proxy:1"}}, pod.Containers...)
	if _, err := w.other.AppsV1().Deployments(namespace).Update(ctx, deployment, metav1.UpdateOptions{}); err != nil {
		return err
	}
	replace := `{"op":"replace","path":"/spec/template/spec/containers/0/image","value":"app:2"}`
	patch := "[" + replace + "]"
	if !w.bug {
		patch = `[{"op":"test","path":"/spec/template/spec/containers/0/name","value":"app"},` + replace + "]"
	}
	_, err = w.typed.AppsV1().Deployments(namespace).Patch(ctx, w.name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if !w.bug && apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// makeDeployment has the other actor make a Deployment.
func (w *world) makeDeployment(ctx context.Context, container string) (*appsv1.Deployment, error) {
	labels := map[string]string{"app": w.name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: container, Image: container + ":1"}}}}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}}
	return w.other.AppsV1().Deployments(namespace).Create(ctx, made, metav1.CreateOptions{})
}

// The token blanked to get past a conflict, in protobuf, against reading again.
func blankedToken(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	deployments := w.typed.AppsV1().Deployments(namespace)
	object, err := deployments.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pause()
	other, err := w.other.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	replicas := int32(5)
	other.Spec.Replicas = &replicas
	if _, err := w.other.AppsV1().Deployments(namespace).Update(ctx, other, metav1.UpdateOptions{}); err != nil {
		return err
	}
	object.Spec.Template.Spec.Containers[0].Image = "app:2"
	if _, err := deployments.Update(ctx, object, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
		return fmt.Errorf("expected a conflict, got %v", err)
	}
	if w.bug {
		object.ResourceVersion = ""
	} else {
		if object, err = deployments.Get(ctx, w.name, metav1.GetOptions{}); err != nil {
			return err
		}
		object.Spec.Template.Spec.Containers[0].Image = "app:2"
	}
	_, err = deployments.Update(ctx, object, metav1.UpdateOptions{})
	return err
}

// An update of a whole object by a program whose types miss a field, against a patch of its own field.
func droppedFields(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	if err := w.otherChangesToy(ctx, func(toy *Toy) { toy.Spec.Color = "red" }); err != nil {
		return err
	}
	pause()
	old, err := client.New(w.config, client.Options{Scheme: toyScheme(&OldToy{}, &OldToyList{})})
	if err != nil {
		return err
	}
	toy := &OldToy{}
	if err := old.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	base := copied(toy, &OldToy{})
	toy.Spec.Size = 2
	if w.bug {
		return old.Update(ctx, toy)
	}
	return old.Patch(ctx, toy, client.MergeFrom(base))
}

// The same for a field within the items of a list, which were there from the start.
func droppedItemFields(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1, Parts: []Part{{Name: "wheel", Weight: 4}}}); err != nil {
		return err
	}
	pause()
	old, err := client.New(w.config, client.Options{Scheme: toyScheme(&OldToy{}, &OldToyList{})})
	if err != nil {
		return err
	}
	if w.bug {
		toy := &OldToy{}
		if err := old.Get(ctx, w.key(), toy); err != nil {
			return err
		}
		toy.Labels = map[string]string{"seen": "yes"}
		return old.Update(ctx, toy)
	}
	toy, err := w.toys.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	toy.SetLabels(map[string]string{"seen": "yes"})
	_, err = w.toys.Update(ctx, toy, metav1.UpdateOptions{})
	return err
}
