package main

import (
	"context"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	ctrlcache "sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

var skipNameValidation = true

// manager makes a controller-runtime manager that sees this scenario's objects only.
func (w *world) manager() (ctrl.Manager, error) {
	own := ctrlcache.ByObject{Field: fields.OneTermEqualSelector("metadata.name", w.name)}
	return ctrl.NewManager(w.config, ctrl.Options{
		Scheme:     toyScheme(&Toy{}, &ToyList{}),
		Metrics:    server.Options{BindAddress: "0"},
		Controller: ctrlConfig(),
		Cache: ctrlcache.Options{
			DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}},
			ByObject:          map[client.Object]ctrlcache.ByObject{&Toy{}: own, &corev1.ConfigMap{}: own},
		},
	})
}

// A status that holds the time of each pass, watched by the controller itself, against one that ignores its own status writes.
func statusLoop(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		toy := &Toy{}
		if err := manager.GetClient().Get(ctx, request.NamespacedName, toy); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		toy.Status.ObservedGeneration = toy.Generation
		toy.Status.CheckedAt = time.Now().Format(time.RFC3339Nano)
		return reconcile.Result{}, manager.GetClient().Status().Update(ctx, toy)
	})
	var options []builder.ForOption
	if !w.bug {
		options = append(options, builder.WithPredicates(predicate.GenerationChangedPredicate{}))
	}
	if err := ctrl.NewControllerManagedBy(manager).Named("status-loop").For(&Toy{}, options...).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	go func() {
		for size := int64(2); size < 5; size++ {
			time.Sleep(400 * time.Millisecond)
			_ = w.otherChangesToy(running, func(toy *Toy) { toy.Spec.Size = size })
		}
	}()
	return manager.Start(running)
}

// A reconciler that keeps the first copy it ever read and asks to be called again at once, against one that reads each time.
func hotRequeue(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	manager, err := w.manager()
	if err != nil {
		return err
	}
	var kept *Toy
	reconciler := reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		toy := &Toy{}
		if err := manager.GetClient().Get(ctx, request.NamespacedName, toy); err != nil {
			return reconcile.Result{}, client.IgnoreNotFound(err)
		}
		if kept == nil || !w.bug {
			kept = toy
		}
		if toy.Labels["size"] == fmt.Sprint(toy.Spec.Size) {
			return reconcile.Result{}, nil
		}
		changed := kept.clone()
		changed.Labels = map[string]string{"size": fmt.Sprint(toy.Spec.Size)}
		err := manager.GetClient().Update(ctx, changed)
		if apierrors.IsConflict(err) {
			return reconcile.Result{RequeueAfter: 20 * time.Millisecond}, nil
		}
		return reconcile.Result{}, err
	})
	if err := ctrl.NewControllerManagedBy(manager).Named("hot-requeue").For(&Toy{}).Complete(reconciler); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	go func() {
		time.Sleep(800 * time.Millisecond)
		_ = w.otherChangesToy(running, func(toy *Toy) { toy.Spec.Size = 2 })
	}()
	return manager.Start(running)
}

// A status and then the spec from one copy, again and again, against taking over the answer of the first.
func selfConflict(ctx context.Context, w *world) error {
	if _, err := w.makeToy(ctx, ToySpec{Size: 1}); err != nil {
		return err
	}
	toy := &Toy{}
	if err := w.runtime.Get(ctx, w.key(), toy); err != nil {
		return err
	}
	status := toy.clone()
	status.Status.Phase = "Ready"
	if err := w.runtime.Status().Update(ctx, status); err != nil {
		return err
	}
	if !w.bug {
		toy = status
	}
	for range 6 {
		toy.Spec.Size = 2
		err := w.runtime.Update(ctx, toy)
		if !apierrors.IsConflict(err) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// An apply that is refused for another's field at every pass, against leaving the field out after the first.
func applyLoop(ctx context.Context, w *world) error {
	fields := `"mode":"mine","own":"1"`
	for range 30 {
		body := fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":%q},"data":{%s}}`, w.name, fields)
		_, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.ApplyPatchType, []byte(body), metav1.PatchOptions{FieldManager: "op"})
		if !apierrors.IsConflict(err) {
			return err
		}
		if !w.bug {
			fields = `"own":"1"`
		}
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// A resync that writes what is there, against one that compares.
func resyncNoOp(ctx context.Context, w *world) error {
	running, stop := context.WithTimeout(ctx, 9*time.Second)
	defer stop()
	only := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.FieldSelector = "metadata.name=" + w.name })
	factory := informers.NewSharedInformerFactoryWithOptions(w.typed, time.Second, informers.WithNamespace(namespace), only)
	informer := factory.Core().V1().ConfigMaps()
	sync := func(found any) {
		object, ok := found.(*corev1.ConfigMap)
		if !ok || (!w.bug && object.Labels["managed"] == "yes") {
			return
		}
		changed := object.DeepCopy()
		changed.Labels = map[string]string{"managed": "yes"}
		_, _ = w.update(running, changed)
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: sync, UpdateFunc: func(_, object any) { sync(object) }}); err != nil {
		return err
	}
	factory.Start(running.Done())
	<-running.Done()
	factory.Shutdown()
	return nil
}

// A quantity that the server stores in another spelling, so that a comparison never comes out equal, against comparing values.
func respelled(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	deployments := &appsv1.Deployment{}
	wanted := resource.MustParse("1000m")
	for range 7 {
		if err := w.runtime.Get(ctx, w.key(), deployments); err != nil {
			return err
		}
		container := &deployments.Spec.Template.Spec.Containers[0]
		stored, there := container.Resources.Limits[corev1.ResourceCPU]
		if w.bug && there && stored.String() == "1000m" || !w.bug && there && stored.Cmp(wanted) == 0 {
			continue
		}
		patch := `{"spec":{"template":{"spec":{"containers":[{"name":"app","resources":{"limits":{"cpu":"1000m"}}}]}}}}`
		if err := w.runtime.Patch(ctx, deployments, client.RawPatch(types.StrategicMergePatchType, []byte(patch))); err != nil {
			return err
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// A controller that sets the number of replicas with every pass beside an autoscaler, against one that leaves it alone.
func replicasFight(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	scaler := rest.CopyConfig(w.config)
	scaler.UserAgent = w.config.UserAgent + "-scaler"
	autoscaler, err := kubernetes.NewForConfig(scaler)
	if err != nil {
		return err
	}
	for round := range int32(5) {
		scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: w.name, Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 3 + round}}
		if _, err := autoscaler.AppsV1().Deployments(namespace).UpdateScale(ctx, w.name, scale, metav1.UpdateOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
		deployment, err := w.typed.AppsV1().Deployments(namespace).Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		deployment.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("app:%d", round+2)
		if w.bug {
			replicas := int32(1)
			deployment.Spec.Replicas = &replicas
		}
		if _, err := w.typed.AppsV1().Deployments(namespace).Update(ctx, deployment, metav1.UpdateOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}

// An annotation that a controller and somebody past the recorder each set to their own value, against one each.
func annotationFight(ctx context.Context, w *world) error {
	for round := range 5 {
		patch := `{"metadata":{"annotations":{"example.test/mode":"fast"}}}`
		if _, err := w.typed.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
		key, value := "example.test/mode", "slow"
		if !w.bug {
			key, value = "example.test/note", fmt.Sprint(round)
		}
		patch = fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value)
		if _, err := w.other.CoreV1().ConfigMaps(namespace).Patch(ctx, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			return err
		}
		time.Sleep(60 * time.Millisecond)
	}
	return nil
}

// Two objects of one controller that wake each other, against one that copies on a difference.
func pingPong(ctx context.Context, w *world) error {
	first, peer := w.name+"-one", w.name+"-two"
	configs := w.typed.CoreV1().ConfigMaps(namespace)
	for _, name := range []string{first, peer} {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"pair": w.name}}}
		if _, err := w.other.CoreV1().ConfigMaps(namespace).Create(ctx, made, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	own := informers.WithTweakListOptions(func(options *metav1.ListOptions) { options.LabelSelector = "pair=" + w.name })
	running, stop := context.WithTimeout(ctx, loopTime)
	defer stop()
	factory := informers.NewSharedInformerFactoryWithOptions(w.typed, 0, informers.WithNamespace(namespace), own)
	informer := factory.Core().V1().ConfigMaps()
	react := func(found any) {
		object, ok := found.(*corev1.ConfigMap)
		if !ok {
			return
		}
		target := map[string]string{first: peer, peer: first}[object.Name]
		value := object.ResourceVersion
		if !w.bug {
			value = "linked"
		}
		current, err := informer.Lister().ConfigMaps(namespace).Get(target)
		if err != nil || current.Annotations["peer"] == value {
			return
		}
		patch := fmt.Sprintf(`{"metadata":{"annotations":{"peer":%q}}}`, value)
		_, _ = configs.Patch(running, target, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	}
	if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: react, UpdateFunc: func(_, object any) { react(object) }}); err != nil {
		return err
	}
	factory.Start(running.Done())
	<-running.Done()
	factory.Shutdown()
	return nil
}

// A controller whose cache is restricted by a label looks for a child without it, against one that reads what is there.
func hiddenChild(ctx context.Context, w *world) error {
	child := w.name + "-child"
	if _, err := w.other.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: child}}, metav1.CreateOptions{}); err != nil {
		return err
	}
	running, stop := context.WithTimeout(ctx, 20*time.Second)
	defer stop()
	cached, err := ctrlcache.New(w.config, ctrlcache.Options{DefaultLabelSelector: labelled("app", w.name), DefaultNamespaces: map[string]ctrlcache.Config{namespace: {}}})
	if err != nil {
		return err
	}
	go func() { _ = cached.Start(running) }()
	if !cached.WaitForCacheSync(running) {
		return fmt.Errorf("the cache does not start")
	}
	for range 8 {
		found := &corev1.ConfigMap{}
		if err := cached.Get(running, client.ObjectKey{Namespace: namespace, Name: child}, found); !apierrors.IsNotFound(err) {
			return fmt.Errorf("expected the cache not to know it, got %v", err)
		}
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: child, Namespace: namespace, Labels: map[string]string{"app": w.name}}}
		if err := w.runtime.Create(running, made); !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("expected AlreadyExists, got %v", err)
		}
		if !w.bug {
			if err := w.runtime.Get(running, client.ObjectKeyFromObject(made), found); err != nil {
				return err
			}
			found.Labels = map[string]string{"app": w.name}
			return w.runtime.Update(running, found)
		}
		time.Sleep(50 * time.Millisecond)
	}
	return nil
}

// controller-runtime's apply with forced ownership of a field that somebody else set, against its own field.
func standingForce(ctx context.Context, w *world) error {
	if _, err := w.makeDeployment(ctx, "app"); err != nil {
		return err
	}
	spec := map[string]any{"paused": false, "minReadySeconds": 5}
	if w.bug {
		spec["replicas"] = 2
	}
	return w.apply(ctx, "apps/v1", "Deployment", map[string]any{"spec": spec}, client.ForceOwnership)
}
