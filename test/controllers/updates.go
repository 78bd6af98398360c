package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
)

// The newest token on the content of an older read, against reading again and computing the change anew.
func tokenSwap(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	object.Data["cyd"] = "1"
	if _, err = w.update(ctx, object); !apierrors.IsConflict(err) {
		return fmt.Errorf("expected a conflict, got %v", err)
	}
	if w.bug {
		latest, err := w.get(ctx)
		if err != nil {
			return err
		}
		object.ResourceVersion = latest.ResourceVersion
		_, err = w.update(ctx, object)
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest, err := w.get(ctx)
		if err != nil {
			return err
		}
		latest.Data["cyd"] = "1"
		_, err = w.update(ctx, latest)
		return err
	})
}

// An update without a token, in JSON through the dynamic client, against one that carries it.
func unconditional(ctx context.Context, w *world) error {
	client := w.dynamic.Resource(configMaps).Namespace(namespace)
	object, err := client.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	pause()
	if err := w.otherSets(ctx, "bob", "1"); err != nil {
		return err
	}
	set := func(object *unstructured.Unstructured) error {
		return unstructured.SetNestedField(object.Object, "1", "data", "cyd")
	}
	if err := set(object); err != nil {
		return err
	}
	if w.bug {
		object.SetResourceVersion("")
		_, err = client.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		if _, err := client.Update(ctx, object, metav1.UpdateOptions{}); !apierrors.IsConflict(err) {
			return err
		}
		latest, err := client.Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if err := set(latest); err != nil {
			return err
		}
		_, err = client.Update(ctx, latest, metav1.UpdateOptions{})
		return err
	})
}

func (w *world) otherFinalizers(ctx context.Context, finalizers ...string) error {
	current, err := w.other.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	current.Finalizers = finalizers
	_, err = w.other.CoreV1().ConfigMaps(namespace).Update(ctx, current, metav1.UpdateOptions{})
	return err
}

// The whole list of finalizers from an older read, against adding one's own under the token.
func finalizer(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherFinalizers(ctx, "b.test/y"); err != nil {
		return err
	}
	if w.bug {
		patch := `{"metadata":{"finalizers":["a.test/x"]}}`
		_, err := w.dynamic.Resource(configMaps).Namespace(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		return err
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		object.Finalizers = append(object.Finalizers, "a.test/x")
		_, err := w.update(ctx, object)
		if apierrors.IsConflict(err) {
			latest, getErr := w.get(ctx)
			if getErr != nil {
				return getErr
			}
			object = latest
		}
		return err
	})
}

// Conditions replaced by a merge patch, against a strategic one that merges them by type.
func listClobber(ctx context.Context, w *world) error {
	deployments := w.typed.AppsV1().Deployments(namespace)
	labels := map[string]string{"app": w.name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}}
	if _, err := w.other.AppsV1().Deployments(namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	if _, err := deployments.Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	pause()
	current, err := w.other.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	current.Status.Conditions = append(current.Status.Conditions, appsv1.DeploymentCondition{Type: "Backup", Status: "True"})
	if _, err := w.other.AppsV1().Deployments(namespace).UpdateStatus(ctx, current, metav1.UpdateOptions{}); err != nil {
		return err
	}
	kind := types.StrategicMergePatchType
	if w.bug {
		kind = types.MergePatchType
	}
	patch := `{"status":{"conditions":[{"type":"Ready","status":"False"}]}}`
	_, err = deployments.Patch(ctx, w.name, kind, []byte(patch), metav1.PatchOptions{}, "status")
	return err
}

// A removal by position from an older read, against one that tests the item first.
func indexPatch(ctx context.Context, w *world) error {
	if err := w.otherFinalizers(ctx, "a.test/a", "b.test/b"); err != nil {
		return err
	}
	if _, err := w.get(ctx); err != nil {
		return err
	}
	pause()
	if err := w.otherFinalizers(ctx, "b.test/b", "c.test/c"); err != nil {
		return err
	}
	patch := `[{"op":"remove","path":"/metadata/finalizers/1"}]`
	if !w.bug {
		patch = `[{"op":"test","path":"/metadata/finalizers/1","value":"b.test/b"},{"op":"remove","path":"/metadata/finalizers/1"}]`
	}
	_, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
	if !w.bug && apierrors.IsInvalid(err) {
		return nil
	}
	return err
}

// One dead token again and again, against reading before each attempt.
func hotLoop(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	stale := object.DeepCopy()
	object.Data["a"] = "1"
	if _, err := w.update(ctx, object); err != nil {
		return err
	}
	if w.bug {
		for attempt := range 30 {
			stale.Data["a"] = strconv.Itoa(attempt)
			if _, err := w.update(ctx, stale); !apierrors.IsConflict(err) {
				return fmt.Errorf("expected a conflict, got %v", err)
			}
		}
		return nil
	}
	return retry.RetryOnConflict(retry.DefaultRetry, func() error {
		latest, err := w.get(ctx)
		if err != nil {
			return err
		}
		latest.Data["a"] = "2"
		_, err = w.update(ctx, latest)
		return err
	})
}

// A create that is refused again and again, against reading what is there.
func alreadyExists(ctx context.Context, w *world) error {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name}}
	attempts := 1
	if w.bug {
		attempts = 8
	}
	for range attempts {
		if _, err := w.typed.CoreV1().ConfigMaps(namespace).Create(ctx, object, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("expected AlreadyExists, got %v", err)
		}
	}
	_, err := w.get(ctx)
	return err
}

// Updates that change nothing, against comparing first.
func noOp(ctx context.Context, w *world) error {
	for range 7 {
		object, err := w.get(ctx)
		if err != nil {
			return err
		}
		if !w.bug && object.Data["ann"] == "1" {
			continue
		}
		object.Data["ann"] = "1"
		if _, err := w.update(ctx, object); err != nil {
			return err
		}
	}
	return nil
}

// A token that was counted up, against the one that was read.
func inventedToken(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	if w.bug {
		number, err := strconv.Atoi(object.ResourceVersion)
		if err != nil {
			return err
		}
		object.ResourceVersion = strconv.Itoa(number + 1)
	}
	object.Data["x"] = "1"
	if _, err = w.update(ctx, object); w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A status sent to the main endpoint, against one sent to /status.
func ignoredPart(ctx context.Context, w *world) error {
	labels := map[string]string{"app": w.name}
	template := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i"}}}}
	made := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Spec: appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: template}}
	deployments := w.typed.AppsV1().Deployments(namespace)
	if _, err := deployments.Create(ctx, made, metav1.CreateOptions{}); err != nil {
		return err
	}
	object, err := deployments.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	object.Status.Replicas = 3
	if w.bug {
		object.Annotations = map[string]string{"touched": "yes"}
		_, err = deployments.Update(ctx, object, metav1.UpdateOptions{})
		return err
	}
	_, err = deployments.UpdateStatus(ctx, object, metav1.UpdateOptions{})
	return err
}

// Many that count on one object at once, each correctly: conflicts, and nothing worse.
func contention(ctx context.Context, w *world) error {
	var group sync.WaitGroup
	failures := make(chan error, 8)
	for worker := range 4 {
		group.Add(1)
		go func() {
			defer group.Done()
			key := fmt.Sprintf("worker-%d", worker)
			for range 10 {
				err := retry.RetryOnConflict(patience, func() error {
					object, err := w.get(ctx)
					if err != nil {
						return err
					}
					number, _ := strconv.Atoi(object.Data[key])
					object.Data[key] = strconv.Itoa(number + 1)
					_, err = w.update(ctx, object)
					return err
				})
				if err != nil {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	close(failures)
	return errors.Join(<-failures)
}
