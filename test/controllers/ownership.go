package main

import (
	"context"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// An apply with force on another's field, against one of its own fields only.
func forceTakeover(ctx context.Context, w *world) error {
	if _, err := w.get(ctx); err != nil {
		return err
	}
	pause()
	key, force := "own", false
	if w.bug {
		key, force = "mode", true
	}
	body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%q:"a"}}`, w.name, key)
	_, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: "op", Force: &force})
	return err
}

// Two recorded actors that set the same field to their own value, against two that have a field each.
func fight(ctx context.Context, w *world) error {
	second := rest.CopyConfig(w.config)
	second.UserAgent = "controller-c"
	rival, err := kubernetes.NewForConfig(second)
	if err != nil {
		return err
	}
	clients := []kubernetes.Interface{w.typed, rival}
	for round := range 8 {
		client := clients[round%2].CoreV1().ConfigMaps(namespace)
		object, err := client.Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		key, value := "mode", fmt.Sprintf("of-%d", round%2)
		if !w.bug {
			key, value = fmt.Sprintf("mode-%d", round%2), fmt.Sprint(round)
		}
		object.Data[key] = value
		if _, err := client.Update(ctx, object, metav1.UpdateOptions{}); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}
