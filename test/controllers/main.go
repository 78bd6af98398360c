// Command controllers runs small controllers, each with one planted bug and a correct twin, for the recorder's tests.
//
// Usage: controllers SCENARIO bug|good
// KUBECONFIG is the recorder's; DIRECT_KUBECONFIG leads past it, for the other actor of a scenario.
package main

import (
	"context"
	"fmt"
	"os"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// world is what a scenario works with: its own clients, which are recorded, and those of the other actor, which are not.
type world struct {
	config  *rest.Config
	typed   kubernetes.Interface
	dynamic dynamic.Interface
	other   kubernetes.Interface
	name    string
	bug     bool
}

const namespace = "default"

var scenarios = map[string]func(context.Context, *world) error{
	"token-swap":          tokenSwap,
	"unconditional":       unconditional,
	"finalizer":           finalizer,
	"list-clobber":        listClobber,
	"index-patch":         indexPatch,
	"hot-loop":            hotLoop,
	"already-exists":      alreadyExists,
	"force-takeover":      forceTakeover,
	"fight":               fight,
	"update-loop":         updateLoop,
	"no-op":               noOp,
	"stale-delete":        staleDelete,
	"stale-overwrite":     staleOverwrite,
	"invented-token":      inventedToken,
	"ignored-part":        ignoredPart,
	"leader-election":     leaderElection,
	"contention":          contention,
	"informer-controller": informerController,
}

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: controllers SCENARIO bug|good"))
	}
	run, known := scenarios[os.Args[1]]
	if !known {
		fail(fmt.Errorf("no scenario %q", os.Args[1]))
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	w, err := newWorld(os.Args[1], os.Args[2] == "bug")
	if err == nil {
		err = w.setUp(ctx)
	}
	if err == nil {
		err = run(ctx, w)
	}
	if err != nil {
		fail(err)
	}
}

func newWorld(scenario string, bug bool) (*world, error) {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	config.UserAgent = "controller-a"
	config.QPS, config.Burst = 1000, 1000
	direct, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DIRECT_KUBECONFIG"))
	if err != nil {
		return nil, err
	}
	direct.UserAgent = "controller-b"
	binary := rest.CopyConfig(config)
	binary.ContentType = "application/vnd.kubernetes.protobuf"
	binary.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	w := &world{config: config, bug: bug, name: fmt.Sprintf("%s-%d", scenario, time.Now().UnixNano()%1e9)}
	if w.typed, err = kubernetes.NewForConfig(binary); err != nil {
		return nil, err
	}
	if w.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	w.other, err = kubernetes.NewForConfig(direct)
	return w, err
}

// setUp makes the ConfigMap that most scenarios are about, by the other actor.
func (w *world) setUp(ctx context.Context) error {
	_, err := w.other.CoreV1().ConfigMaps(namespace).Create(ctx, &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: w.name, Finalizers: []string{}},
		Data:       map[string]string{"ann": "1", "mode": "0"},
	}, metav1.CreateOptions{})
	return err
}

func (w *world) get(ctx context.Context) (*corev1.ConfigMap, error) {
	return w.typed.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
}

func (w *world) update(ctx context.Context, object *corev1.ConfigMap) (*corev1.ConfigMap, error) {
	return w.typed.CoreV1().ConfigMaps(namespace).Update(ctx, object, metav1.UpdateOptions{})
}

// otherSets has the other actor set a key, as a correct client does.
func (w *world) otherSets(ctx context.Context, key, value string) error {
	current, err := w.other.CoreV1().ConfigMaps(namespace).Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	current.Data[key] = value
	_, err = w.other.CoreV1().ConfigMaps(namespace).Update(ctx, current, metav1.UpdateOptions{})
	return err
}

func pause() { time.Sleep(150 * time.Millisecond) }

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
