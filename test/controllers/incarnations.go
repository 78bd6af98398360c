package main

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// otherRecreates has the other actor delete the object and make another one of the same name.
func (w *world) otherRecreates(ctx context.Context) error {
	client := w.other.CoreV1().ConfigMaps(namespace)
	if err := client.Delete(ctx, w.name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err := client.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name}, Data: map[string]string{"new": "1"}}, metav1.CreateOptions{})
	return err
}

// A delete by name of what was read before, against one with the UID.
func staleDelete(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherRecreates(ctx); err != nil {
		return err
	}
	pause()
	options := metav1.DeleteOptions{}
	if !w.bug {
		options.Preconditions = &metav1.Preconditions{UID: &object.UID}
	}
	err = w.typed.CoreV1().ConfigMaps(namespace).Delete(ctx, w.name, options)
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// An update without UID and token that lands on the new object, against one that carries the UID.
func staleOverwrite(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherRecreates(ctx); err != nil {
		return err
	}
	pause()
	object.ResourceVersion = ""
	if w.bug {
		object.UID = types.UID("")
	}
	object.Data["x"] = "1"
	_, err = w.update(ctx, object)
	if !w.bug && apierrors.IsConflict(err) {
		return nil
	}
	return err
}
