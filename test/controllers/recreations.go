package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// recreateToy has the other actor delete the Toy and make another one of its name, more than a second later.
func (w *world) recreateToy(ctx context.Context, spec ToySpec) (*Toy, error) {
	if err := w.otherToys.Delete(ctx, w.name, metav1.DeleteOptions{}); err != nil {
		return nil, err
	}
	time.Sleep(1200 * time.Millisecond)
	return w.makeToy(ctx, spec)
}

// What was made for an object is remembered by its name, against by its UID: the new one gets the old one's volume.
func carriedValue(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	made := map[string]string{}
	reconcile := func(round int) error {
		toy := &Toy{}
		if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
			return err
		}
		key := toy.Name
		if !w.bug {
			key = string(toy.UID)
		}
		if made[key] == "" {
			made[key] = fmt.Sprintf("vol-%d-%d", round, time.Now().UnixNano())
		}
		toy.Status.ExternalID = made[key]
		return w.runtime.Status().Update(ctx, toy)
	}
	if err := reconcile(1); err != nil {
		return err
	}
	pause()
	if _, err := w.recreateToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	pause()
	return reconcile(2)
}

// A child made for an owner that was read before it was recreated, against one for the owner that is there.
func staleOwner(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	if _, err := w.recreateToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	pause()
	if !w.bug {
		if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
			return err
		}
	}
	child := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name + "-child", Namespace: namespace, OwnerReferences: []metav1.OwnerReference{ownedBy(toy)}}}
	return w.runtime.Create(ctx, child)
}

func ownedBy(toy *Toy) metav1.OwnerReference {
	return metav1.OwnerReference{APIVersion: toyGroup.String(), Kind: "Toy", Name: toy.Name, UID: toy.UID}
}

// A registry of external things that keeps the UID of a dead object, against one that follows.
func staleRegistry(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	if _, err := w.recreateToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	pause()
	if !w.bug {
		if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
			return err
		}
	}
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	object.Data["lb-1"] = "toy-uid=" + string(toy.UID)
	_, err = w.update(ctx, object)
	return err
}

// The volume of a running object is deleted for the death of the one before, against checking whose it is.
func oldDeathSentence(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	pause()
	next, err := w.recreateToy(ctx, ToySpec{Size: 1})
	if err != nil {
		return err
	}
	volume := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: w.name + "-data-0", Namespace: namespace, Labels: map[string]string{"toy": w.name}, OwnerReferences: []metav1.OwnerReference{ownedBy(next)}}}
	if err := w.otherRuntime.Create(ctx, volume); err != nil {
		return err
	}
	pause()
	volumes := &corev1.ConfigMapList{}
	if err := w.runtime.List(ctx, volumes, client.InNamespace(namespace), client.MatchingLabels{"toy": w.name}); err != nil {
		return err
	}
	for _, item := range volumes.Items {
		if !w.bug && (len(item.OwnerReferences) == 0 || item.OwnerReferences[0].UID != toy.UID) {
			continue
		}
		if err := w.runtime.Delete(ctx, &item); err != nil {
			return err
		}
	}
	return nil
}

// A merge patch by name for the object that was read before, against one that carries its UID.
func patchedByName(ctx context.Context, w *world) error {
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	if err := w.otherRecreates(ctx); err != nil {
		return err
	}
	pause()
	patch := `{"metadata":{"annotations":{"checked":"yes"}}}`
	if !w.bug {
		patch = fmt.Sprintf(`{"metadata":{"uid":%q,"annotations":{"checked":"yes"}}}`, object.UID)
	}
	_, err = w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if !w.bug && (apierrors.IsConflict(err) || apierrors.IsInvalid(err)) {
		return nil
	}
	return err
}
