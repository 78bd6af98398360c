package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// One line is broken at a time: it is everybody's.
var line sync.Mutex

// breakLine has what the server answers from now on lost, and shortly after the connections break.
func breakLine() error {
	answer, err := http.Get(os.Getenv("RELAY"))
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
	if err := breakLine(); err != nil {
		return err
	}
	if _, err := w.update(ctx, object); err == nil {
		return fmt.Errorf("expected no answer")
	}
	time.Sleep(300 * time.Millisecond)
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
		if err := breakLine(); err != nil {
			return err
		}
		return make(ctx)
	})
}

// The same by a client that stops waiting for the answer.
func impatientCreate(ctx context.Context, w *world) error {
	line.Lock()
	defer line.Unlock()
	return w.createTwice(ctx, func(make func(context.Context) error) error {
		if err := breakLine(); err != nil {
			return err
		}
		short, stop := context.WithTimeout(ctx, 400*time.Millisecond)
		defer stop()
		return make(short)
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
	if err := w.runtime.List(ctx, children, client.InNamespace(namespace), mine); err != nil {
		return err
	}
	pause()
	make := func(ctx context.Context) error { return w.makeChild(ctx, ownedBy(toy), mine) }
	if err := lost(make); err == nil {
		return fmt.Errorf("expected no answer")
	}
	time.Sleep(500 * time.Millisecond)
	if !w.bug {
		if err := w.runtime.List(ctx, children, client.InNamespace(namespace), mine); err != nil || len(children.Items) > 0 {
			return err
		}
	}
	if err := make(ctx); err != nil {
		return err
	}
	// The recorder's own watch comes back, too.
	time.Sleep(1500 * time.Millisecond)
	return nil
}
