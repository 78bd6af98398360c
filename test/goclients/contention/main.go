// Command contention is client-go's own answer to many writers of one counter: retry.RetryOnConflict around a read, an
// increment and an update. It is what the safe write's contention benchmark is measured against.
//
// It prints one JSON object: writers, accepted updates, requests sent, seconds, and the counter at the end.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/util/retry"
)

type counting struct {
	next     http.RoundTripper
	requests *atomic.Int64
}

func (c counting) RoundTrip(request *http.Request) (*http.Response, error) {
	c.requests.Add(1)
	return c.next.RoundTrip(request)
}

type result struct {
	Writers  int     `json:"writers"`
	Accepted int64   `json:"accepted"`
	Requests int64   `json:"requests"`
	Seconds  float64 `json:"seconds"`
	Counter  int     `json:"counter"`
}

func main() {
	kubeconfig := flag.String("kubeconfig", "", "kubeconfig file")
	namespace := flag.String("namespace", "default", "namespace of the ConfigMap")
	name := flag.String("name", "counter", "name of the ConfigMap")
	writers := flag.Int("writers", 32, "writers at once")
	updates := flag.Int("updates", 20, "updates of each writer")
	flag.Parse()
	outcome, err := run(*kubeconfig, *namespace, *name, *writers, *updates)
	if err != nil {
		fmt.Fprintln(os.Stderr, "contention:", err)
		os.Exit(1)
	}
	if err := json.NewEncoder(os.Stdout).Encode(outcome); err != nil {
		os.Exit(1)
	}
}

func run(kubeconfig, namespace, name string, writers, updates int) (result, error) {
	var requests, accepted atomic.Int64
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return result{}, err
	}
	// No limit of client-go's own: the server's answers alone set the pace, as they do for the other side.
	config.QPS = -1
	config.UserAgent = "goclients-contention"
	// JSON, as the other side sends it; the ConfigMap is small either way.
	config.ContentType = "application/json"
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { return counting{next, &requests} })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return result{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	configMaps := client.CoreV1().ConfigMaps(namespace)
	if _, err := configMaps.Get(ctx, name, metav1.GetOptions{}); err != nil {
		return result{}, err
	}
	requests.Store(0)

	addOne := func() error {
		current, err := configMaps.Get(ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		count, err := strconv.Atoi(current.Data["count"])
		if err != nil {
			return err
		}
		current.Data["count"] = strconv.Itoa(count + 1)
		_, err = configMaps.Update(ctx, current, metav1.UpdateOptions{FieldManager: "goclients"})
		return err
	}

	failures := make(chan error, writers)
	var group sync.WaitGroup
	begin := time.Now()
	for range writers {
		group.Add(1)
		go func() {
			defer group.Done()
			for done := 0; done < updates; {
				// DefaultRetry gives up after five attempts; the work is done when it is done, so it is asked again.
				err := retry.RetryOnConflict(retry.DefaultRetry, addOne)
				if err == nil {
					done++
					accepted.Add(1)
				} else if ctx.Err() != nil || !isConflict(err) {
					failures <- err
					return
				}
			}
		}()
	}
	group.Wait()
	seconds := time.Since(begin).Seconds()
	close(failures)
	if err := <-failures; err != nil {
		return result{}, err
	}
	sent := requests.Load()
	last, err := configMaps.Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return result{}, err
	}
	counter, err := strconv.Atoi(last.Data["count"])
	return result{writers, accepted.Load(), sent, seconds, counter}, err
}

func isConflict(err error) bool {
	return errors.IsConflict(err)
}
