package main

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// A status without a token, in protobuf, against one that was just read.
func statusBlank(ctx context.Context, w *world) error {
	d, err := w.makeDeployment(ctx, "app")
	if err != nil {
		return err
	}
	mine, err := w.typed.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	d.Status.Conditions = []appsv1.DeploymentCondition{{Type: "Backup", Status: "True"}}
	d.Status.ReadyReplicas, d.Status.Replicas = 1, 1
	if _, err := w.other.AppsV1().Deployments(namespace).UpdateStatus(ctx, d, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if w.bug {
		mine.ResourceVersion = ""
	} else if mine, err = w.typed.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	mine.Status.Conditions = append(mine.Status.Conditions, appsv1.DeploymentCondition{Type: "Mine", Status: "True"})
	_, err = w.typed.AppsV1().Deployments(namespace).UpdateStatus(ctx, mine, metav1.UpdateOptions{})
	return err
}

// A Secret without a token, against one with it.
func secretBlank(ctx context.Context, w *world) error {
	made, err := w.other.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: w.name}, StringData: map[string]string{"a": "hunter1"}}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	mine, err := w.typed.CoreV1().Secrets(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	made.Data["b"] = []byte("hunter2")
	if _, err := w.other.CoreV1().Secrets(namespace).Update(ctx, made, metav1.UpdateOptions{}); err != nil {
		return err
	}
	mine.Data["c"] = []byte("hunter3")
	if w.bug {
		mine.ResourceVersion = ""
	}
	_, err = w.typed.CoreV1().Secrets(namespace).Update(ctx, mine, metav1.UpdateOptions{})
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A number counted up from an older read by a patch, against one with the token.
func counterBack(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	for _, n := range []string{"1", "2"} {
		if err := w.otherSets(ctx, "mode", n); err != nil {
			return err
		}
	}
	n, err := strconv.Atoi(object.Data["mode"])
	if err != nil {
		return err
	}
	patch := map[string]any{"data": map[string]string{"mode": strconv.Itoa(n + 1)}}
	if !w.bug {
		patch["metadata"] = map[string]string{"resourceVersion": object.ResourceVersion}
	}
	body, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	_, err = w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, body, metav1.PatchOptions{})
	if apierrors.IsConflict(err) {
		object, err = w.get(ctx)
		if err != nil {
			return err
		}
		object.Data["mode"] = "3"
		_, err = w.update(ctx, object)
	}
	return err
}

// The token of a list on one of its objects, against the object's own.
func listToken(ctx context.Context, w *world) error {
	list, err := w.typed.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + w.name})
	if err != nil {
		return err
	}
	object := list.Items[0]
	pause()
	if _, err := w.makeToy(ctx, ToySpec{}); err != nil {
		return err
	}
	if list, err = w.typed.CoreV1().ConfigMaps(namespace).List(ctx, metav1.ListOptions{FieldSelector: "metadata.name=" + w.name}); err != nil {
		return err
	}
	if w.bug {
		object.ResourceVersion = list.ResourceVersion
	}
	object.Data["x"] = "1"
	_, err = w.update(ctx, &object)
	if w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// A whole spec compared with one that the server has filled in, against comparing what is wanted.
func defaulted(ctx context.Context, w *world) error {
	labels := map[string]string{"app": w.name}
	desired := appsv1.DeploymentSpec{Selector: &metav1.LabelSelector{MatchLabels: labels}, Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "i:1", Ports: []corev1.ContainerPort{{ContainerPort: 80}}}}}}}
	for range 8 {
		existing := &appsv1.Deployment{}
		err := w.runtime.Get(ctx, w.key(), existing)
		if apierrors.IsNotFound(err) {
			if err := w.runtime.Create(ctx, &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}, Spec: desired}); err != nil {
				return err
			}
			continue
		}
		if err != nil {
			return err
		}
		same := equality.Semantic.DeepEqual(existing.Spec, desired)
		if !w.bug {
			same = equality.Semantic.DeepDerivative(desired, existing.Spec)
		}
		if !same {
			existing.Spec = *desired.DeepCopy()
			if err := w.runtime.Update(ctx, existing); err != nil {
				return err
			}
		}
		time.Sleep(30 * time.Millisecond)
	}
	return nil
}
