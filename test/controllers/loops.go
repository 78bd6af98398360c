package main

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// A controller-runtime manager whose reconciler writes a time with every pass, against one that writes on a difference.
func updateLoop(ctx context.Context, w *world) error {
	log.SetLogger(zap.New(zap.UseDevMode(false)))
	manager, err := w.manager()
	if err != nil {
		return err
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		object := &corev1.ConfigMap{}
		if err := manager.GetClient().Get(ctx, request.NamespacedName, object); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if object.Annotations == nil {
			object.Annotations = map[string]string{}
		}
		value := "done"
		if w.bug {
			value = fmt.Sprint(time.Now().UnixNano())
		}
		if object.Annotations["seen"] == value {
			return reconcile.Result{}, nil
		}
		object.Annotations["seen"] = value
		err := manager.GetClient().Update(ctx, object)
		if apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: 50 * time.Millisecond}, nil
		}
		return reconcile.Result{}, err
	})
	only := predicate.NewPredicateFuncs(func(object client.Object) bool { return object.GetName() == w.name })
	if err := ctrl.NewControllerManagedBy(manager).Named("loop").For(&corev1.ConfigMap{}).WithEventFilter(only).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	return manager.Start(running)
}

// A client-go controller with a shared informer and a queue: sets a label where it is missing, correctly.
func informerController(ctx context.Context, w *world) error {
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	factory := informers.NewSharedInformerFactoryWithOptions(w.typed, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[string]())
	enqueue := func(object any) {
		if key, err := cache.MetaNamespaceKeyFunc(object); err == nil {
			queue.Add(key)
		}
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, object any) { enqueue(object) }}); err != nil {
		return err
	}
	factory.Start(running.Done())
	cache.WaitForCacheSync(running.Done(), informer.Informer().HasSynced)
	go func() {
		<-running.Done()
		queue.ShutDown()
	}()
	go func() {
		for round := range 5 {
			time.Sleep(200 * time.Millisecond)
			_ = w.otherSets(running, "round", fmt.Sprint(round))
		}
	}()
	for {
		key, done := queue.Get()
		if done {
			return nil
		}
		_, name, err := cache.SplitMetaNamespaceKey(key)
		if err == nil && name == w.name {
			object, err := informer.Lister().ConfigMaps(namespace).Get(name)
			if err == nil && object.Labels["round"] != object.Data["round"] {
				copied := object.DeepCopy()
				copied.Labels = map[string]string{"round": object.Data["round"]}
				if _, err := w.update(running, copied); err != nil {
					queue.AddRateLimited(key)
				}
			}
		}
		queue.Done(key)
	}
}

// Two candidates for one lease: losing a round is no finding.
func leaderElection(ctx context.Context, w *world) error {
	running, stop := context.WithTimeout(ctx, 4*time.Second)
	defer stop()
	finished := make(chan struct{}, 2)
	for _, identity := range []string{"one", "two"} {
		lock := &resourcelock.LeaseLock{
			LeaseMeta:  metav1.ObjectMeta{Namespace: namespace, Name: w.name},
			Client:     w.typed.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: identity},
		}
		go func() {
			leaderelection.RunOrDie(running, leaderelection.LeaderElectionConfig{
				Lock: lock, LeaseDuration: 2 * time.Second, RenewDeadline: time.Second, RetryPeriod: 200 * time.Millisecond,
				Callbacks: leaderelection.LeaderCallbacks{OnStartedLeading: func(context.Context) {}, OnStoppedLeading: func() {}},
			})
			finished <- struct{}{}
		}()
	}
	<-finished
	<-finished
	return nil
}
