// Command goclient uses a server as client-go programs do: typed clients (protobuf), retry on conflict, an informer, a
// server-side apply, leader election's lease, and a watch that survives being cut. It prints one line a check and exits
// with 1 at the first that fails.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1apply "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

const namespace = "default"

func main() {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	check("kubeconfig", err)
	config.QPS, config.Burst = 500, 500
	client, err := kubernetes.NewForConfig(config)
	check("client", err)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	retryOnConflict(ctx, client)
	informer(ctx, client)
	apply(ctx, client)
	lease(ctx, client)
	remove(ctx, client)
}

func retryOnConflict(ctx context.Context, client kubernetes.Interface) {
	maps := client.CoreV1().ConfigMaps(namespace)
	_, err := maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}, Data: map[string]string{"n": "0"}}, metav1.CreateOptions{})
	check("create in protobuf", err)
	_, err = maps.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "counter"}}, metav1.CreateOptions{})
	expect("AlreadyExists is recognised", apierrors.IsAlreadyExists(err))
	const writers, rounds = 4, 5
	backoff := retry.DefaultBackoff
	backoff.Steps = 50
	var group sync.WaitGroup
	for range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			for range rounds {
				check("increment", retry.RetryOnConflict(backoff, func() error {
					current, err := maps.Get(ctx, "counter", metav1.GetOptions{})
					if err != nil {
						return err
					}
					var n int
					if _, err := fmt.Sscan(current.Data["n"], &n); err != nil {
						return err
					}
					current.Data["n"] = fmt.Sprint(n + 1)
					_, err = maps.Update(ctx, current, metav1.UpdateOptions{})
					return err
				}))
			}
		}()
	}
	group.Wait()
	result, err := maps.Get(ctx, "counter", metav1.GetOptions{})
	check("read", err)
	expect("no increment is lost: "+result.Data["n"], result.Data["n"] == fmt.Sprint(writers*rounds))
}

func informer(ctx context.Context, client kubernetes.Interface) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	maps := factory.Core().V1().ConfigMaps()
	events := make(chan string, 100)
	_, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(object any) { events <- "add " + object.(*corev1.ConfigMap).Name },
		UpdateFunc: func(_, object any) { events <- "update " + object.(*corev1.ConfigMap).Name },
		DeleteFunc: func(object any) {
			if gone, ok := object.(*corev1.ConfigMap); ok {
				events <- "delete " + gone.Name
			}
		},
	})
	check("handler", err)
	factory.Start(ctx.Done())
	expect("the informer syncs", cache.WaitForCacheSync(ctx.Done(), maps.Informer().HasSynced))
	wait(events, "add counter")
	api := client.CoreV1().ConfigMaps(namespace)
	_, err = api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "watched"}}, metav1.CreateOptions{})
	check("create", err)
	wait(events, "add watched")
	_, err = api.Patch(ctx, "watched", "application/merge-patch+json", []byte(`{"data":{"a":"b"}}`), metav1.PatchOptions{})
	check("patch", err)
	wait(events, "update watched")
	check("delete", api.Delete(ctx, "watched", metav1.DeleteOptions{}))
	wait(events, "delete watched")
	_, err = maps.Lister().ConfigMaps(namespace).Get("watched")
	expect("the cache forgets", apierrors.IsNotFound(err))
}

func apply(ctx context.Context, client kubernetes.Interface) {
	api := client.CoreV1().ConfigMaps(namespace)
	wanted := corev1apply.ConfigMap("applied", namespace).WithData(map[string]string{"k": "one"})
	_, err := api.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "first"})
	check("apply creates", err)
	wanted.WithData(map[string]string{"k": "two"})
	_, err = api.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "second"})
	expect("a field conflict is a Conflict", apierrors.IsConflict(err) && apierrors.HasStatusCause(err, metav1.CauseTypeFieldManagerConflict))
	_, err = api.Apply(ctx, wanted, metav1.ApplyOptions{FieldManager: "second", Force: true})
	check("force takes it", err)
}

func lease(ctx context.Context, client kubernetes.Interface) {
	api := client.CoordinationV1().Leases(namespace)
	holder, now := "a", metav1.NowMicro()
	created, err := api.Create(ctx, &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Name: "election"},
		Spec:       coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &now},
	}, metav1.CreateOptions{})
	check("lease", err)
	stale := created.DeepCopy()
	renewed, err := api.Update(ctx, created, metav1.UpdateOptions{})
	check("a renewal that changes nothing", err)
	expect("keeps its version", renewed.ResourceVersion == stale.ResourceVersion)
	other := "b"
	renewed.Spec.HolderIdentity = &other
	_, err = api.Update(ctx, renewed, metav1.UpdateOptions{})
	check("another takes it", err)
	stale.Spec.HolderIdentity = &holder
	later := metav1.NowMicro()
	stale.Spec.RenewTime = &later
	_, err = api.Update(ctx, stale, metav1.UpdateOptions{})
	expect("the loser gets a conflict", apierrors.IsConflict(err))
}

func remove(ctx context.Context, client kubernetes.Interface) {
	api := client.CoreV1().ConfigMaps(namespace)
	found, err := api.Get(ctx, "applied", metav1.GetOptions{})
	check("read", err)
	wrong := found.UID + "x"
	err = api.Delete(ctx, "applied", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	expect("delete options in protobuf are read", apierrors.IsConflict(err))
	check("delete with the right uid", api.Delete(ctx, "applied", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &found.UID}}))
	check("delete the rest", api.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}))
}

func wait(events <-chan string, wanted string) {
	deadline := time.After(10 * time.Second)
	for {
		select {
		case event := <-events:
			if event == wanted {
				fmt.Println("ok: informer: " + wanted)
				return
			}
		case <-deadline:
			fail("informer: no " + wanted)
		}
	}
}

func check(what string, err error) {
	if err != nil {
		fail(what + ": " + err.Error())
	}
	fmt.Println("ok: " + what)
}

func expect(what string, holds bool) {
	if !holds {
		fail(what)
	}
	fmt.Println("ok: " + what)
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, "failed: "+what)
	os.Exit(1)
}
