package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// One answer is lost at a time: the way to the server is everybody's.
var line sync.Mutex

// relay tells the way to the server what to do: `drop` or `hold` the answer to the next write of a name; `held` waits for it.
func relay(path string) error {
	answer, err := http.Get(os.Getenv("RELAY") + "/" + path)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// An update whose answer is lost is sent again as it was, against a look at what was stored.
func lostUpdateAnswer(ctx context.Context, w *world) error {
	line.Lock()
	defer line.Unlock()
	object, err := w.get(ctx)
	if err != nil {
		return err
	}
	pause()
	object.Data["cyd"] = "1"
	if err := relay("drop/" + w.name); err != nil {
		return err
	}
	if _, err := w.update(ctx, object); err == nil {
		return fmt.Errorf("expected no answer")
	}
	if !w.bug {
		if object, err = w.get(ctx); err != nil || object.Data["cyd"] == "1" {
			return err
		}
		object.Data["cyd"] = "1"
	}
	_, err = w.update(ctx, object)
	if w.bug && !apierrors.IsConflict(err) {
		return fmt.Errorf("expected a conflict, got %v", err)
	}
	return nil
}

// A child whose answer is lost is made again, against a look for the one that may have been made.
func lostCreateAnswer(ctx context.Context, w *world) error {
	line.Lock()
	defer line.Unlock()
	return w.createTwice(ctx, func(make func(context.Context) error) error {
		if err := relay("drop/" + w.name); err != nil {
			return err
		}
		return make(ctx)
	})
}

// The same by a client that stops waiting for the answer, when the server has made the child.
func impatientCreate(ctx context.Context, w *world) error {
	line.Lock()
	defer line.Unlock()
	return w.createTwice(ctx, func(make func(context.Context) error) error {
		if err := relay("hold/" + w.name); err != nil {
			return err
		}
		impatient, giveUp := context.WithCancel(ctx)
		go func() {
			_ = relay("held")
			giveUp()
		}()
		return make(impatient)
	})
}

func (w *world) createTwice(ctx context.Context, lost func(func(context.Context) error) error) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	children := &corev1.ConfigMapList{}
	mine := client.MatchingLabels{"toy": w.name}
	look := func() error { return w.runtime.List(ctx, children, client.InNamespace(namespace), mine) }
	if err := look(); err != nil {
		return err
	}
	pause()
	make := func(ctx context.Context) error { return w.makeChild(ctx, ownedBy(toy), mine) }
	if err := lost(make); err == nil {
		return fmt.Errorf("expected no answer")
	}
	if !w.bug {
		if err := look(); err != nil || len(children.Items) > 0 {
			return err
		}
	}
	if err := make(ctx); err != nil {
		return err
	}
	// Too late for what was done, but the recording shows both, however late its own watch is.
	return look()
}
