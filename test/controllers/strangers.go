package main

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	acv1 "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/util/retry"
)

var (
	batchJobs     = schema.GroupVersionResource{Group: "batch", Version: "v1", Resource: "jobs"}
	ingresses     = schema.GroupVersionResource{Group: "networking.k8s.io", Version: "v1", Resource: "ingresses"}
	statefulSets  = schema.GroupVersionResource{Group: "apps", Version: "v1", Resource: "statefulsets"}
	autoscalersV2 = schema.GroupVersionResource{Group: "autoscaling", Version: "v2", Resource: "horizontalpodautoscalers"}
	claims        = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumeclaims"}
	volumes       = schema.GroupVersionResource{Version: "v1", Resource: "persistentvolumes"}
)

// others is a resource as the other actor sees it.
func (w *world) others(resource schema.GroupVersionResource) (dynamic.ResourceInterface, error) {
	client, err := dynamic.NewForConfig(w.direct)
	if err != nil {
		return nil, err
	}
	if resource == volumes {
		return client.Resource(resource), nil
	}
	return client.Resource(resource).Namespace(namespace), nil
}

// otherMakes has the other actor make an object of this JSON, in which %[1]s is its name.
func (w *world) otherMakes(ctx context.Context, resource schema.GroupVersionResource, text string, more ...any) (*unstructured.Unstructured, error) {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(fmt.Appendf(nil, text, append([]any{w.name}, more...)...)); err != nil {
		return nil, err
	}
	others, err := w.others(resource)
	if err != nil {
		return nil, err
	}
	return others.Create(ctx, object, metav1.CreateOptions{})
}

// otherPatches has the other actor send a patch, and waits until that is everywhere.
func (w *world) otherPatches(ctx context.Context, resource schema.GroupVersionResource, kind types.PatchType, patch string) error {
	others, err := w.others(resource)
	if err != nil {
		return err
	}
	_, err = others.Patch(ctx, w.name, kind, []byte(patch), metav1.PatchOptions{})
	pause()
	return err
}

// The last finalizers of a Job that is being deleted are taken away, another's with them, against just its own by a checked patch.
func finalizersNull(ctx context.Context, w *world) error {
	if _, err := w.otherMakes(ctx, batchJobs, `{"apiVersion":"batch/v1","kind":"Job","metadata":{"name":"%[1]s","finalizers":["a.test/mine"]},
		"spec":{"suspend":true,"template":{"spec":{"restartPolicy":"Never","containers":[{"name":"c","image":"i"}]}}}}`); err != nil {
		return err
	}
	jobs := w.typed.BatchV1().Jobs(namespace)
	if _, err := jobs.Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	if err := w.otherPatches(ctx, batchJobs, types.MergePatchType, `{"metadata":{"finalizers":["a.test/mine","b.test/backup"]}}`); err != nil {
		return err
	}
	background := metav1.DeletePropagationBackground
	if err := w.other.BatchV1().Jobs(namespace).Delete(ctx, w.name, metav1.DeleteOptions{PropagationPolicy: &background}); err != nil {
		return err
	}
	pause()
	patch := `{"metadata":{"finalizers":null}}`
	if !w.bug {
		job, err := jobs.Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		patch = fmt.Sprintf(`{"metadata":{"finalizers":["b.test/backup"],"resourceVersion":"%s"}}`, job.ResourceVersion)
	}
	_, err := jobs.Patch(ctx, w.name, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	if err != nil || w.bug {
		return err
	}
	return w.otherPatches(ctx, batchJobs, types.MergePatchType, `{"metadata":{"finalizers":null}}`)
}

// A rule of an Ingress, which has no key, is removed by its position after another one went, against a test before and additions at the end.
func indexRule(ctx context.Context, w *world) error {
	if _, err := w.otherMakes(ctx, ingresses, `{"apiVersion":"networking.k8s.io/v1","kind":"Ingress","metadata":{"name":"%[1]s"},
		"spec":{"rules":[{"host":"a.test"},{"host":"b.test"},{"host":"c.test"}]}}`); err != nil {
		return err
	}
	api := w.typed.NetworkingV1().Ingresses(namespace)
	read, err := api.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	if err := w.otherPatches(ctx, ingresses, types.JSONPatchType, `[{"op":"remove","path":"/spec/rules/0"}]`); err != nil {
		return err
	}
	if w.bug {
		_, err = api.Patch(ctx, w.name, types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/rules/1"}]`), metav1.PatchOptions{})
		return err
	}
	tested := fmt.Sprintf(`[{"op":"test","path":"/spec/rules/1/host","value":"%s"},{"op":"remove","path":"/spec/rules/1"}]`, read.Spec.Rules[1].Host)
	if _, err := api.Patch(ctx, w.name, types.JSONPatchType, []byte(tested), metav1.PatchOptions{}); !apierrors.IsInvalid(err) {
		return fmt.Errorf("the test should not hold: %w", err)
	}
	for i := range 3 {
		added := fmt.Appendf(nil, `[{"op":"add","path":"/spec/rules/-","value":{"host":"n%d.test"}}]`, i)
		if _, err := api.Patch(ctx, w.name, types.JSONPatchType, added, metav1.PatchOptions{}); err != nil {
			return err
		}
		if err := w.otherPatches(ctx, ingresses, types.JSONPatchType, fmt.Sprintf(`[{"op":"add","path":"/spec/rules/0","value":{"host":"o%d.test"}}]`, i)); err != nil {
			return err
		}
	}
	return nil
}

// A scale is written back without its token, against one that carries it and is computed anew.
func scaleBlank(ctx context.Context, w *world) error {
	if _, err := w.otherMakes(ctx, statefulSets, `{"apiVersion":"apps/v1","kind":"StatefulSet","metadata":{"name":"%[1]s"},"spec":{"serviceName":"s","replicas":2,
		"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"app","image":"app:1"}]}}}}`); err != nil {
		return err
	}
	api := w.typed.AppsV1().StatefulSets(namespace)
	isFirst := true
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		scale, err := api.GetScale(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if isFirst {
			isFirst = false
			if err := w.otherPatches(ctx, statefulSets, types.MergePatchType, `{"spec":{"replicas":6}}`); err != nil {
				return err
			}
		}
		if w.bug {
			scale.ResourceVersion = ""
		}
		scale.Spec.Replicas = max(scale.Spec.Replicas, 2)
		_, err = api.UpdateScale(ctx, w.name, scale, metav1.UpdateOptions{})
		return err
	})
}

// Two workers of one program have the whole map in memory: the second borrows the token, against computing anew.
func workersMap(ctx context.Context, w *world) error {
	one, err := w.get(ctx)
	if err != nil {
		return err
	}
	two := one.DeepCopy()
	one.Data["w0"] = "1"
	if _, err := w.update(ctx, one); err != nil {
		return err
	}
	two.Data["w1"] = "1"
	if _, err := w.update(ctx, two); !apierrors.IsConflict(err) {
		return fmt.Errorf("there should be a conflict: %w", err)
	}
	fresh, err := w.get(ctx)
	if err != nil {
		return err
	}
	if w.bug {
		two.ResourceVersion = fresh.ResourceVersion
	} else {
		fresh.Data["w1"] = "1"
		two = fresh
	}
	_, err = w.update(ctx, two)
	return err
}

// Fields that another actor set are applied with force, against its own of the time before it applied.
func ownTakeover(ctx context.Context, w *world) error {
	name, api := w.name, w.typed.CoreV1().ConfigMaps(namespace)
	if !w.bug {
		name += "-own"
		if _, err := api.Create(ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name}, Data: map[string]string{"mode": "0"}}, metav1.CreateOptions{}); err != nil {
			return err
		}
	} else if _, err := w.get(ctx); err != nil {
		return err
	}
	for i := range 3 {
		desired := acv1.ConfigMap(name, namespace).WithData(map[string]string{"mode": fmt.Sprint(i + 1)})
		if _, err := api.Apply(ctx, desired, metav1.ApplyOptions{FieldManager: "op", Force: true}); err != nil {
			return err
		}
	}
	return nil
}

// A volume keeps pointing at the claim that was there before, against taking out its UID.
func claimRepaired(ctx context.Context, w *world) error {
	const claim = `{"apiVersion":"v1","kind":"PersistentVolumeClaim","metadata":{"name":"%[1]s"},
		"spec":{"accessModes":["ReadWriteOnce"],"resources":{"requests":{"storage":"1Gi"}}}}`
	made, err := w.otherMakes(ctx, claims, claim)
	if err != nil {
		return err
	}
	if _, err := w.otherMakes(ctx, volumes, `{"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"%[1]s"},"spec":{"capacity":{"storage":"1Gi"},
		"accessModes":["ReadWriteOnce"],"persistentVolumeReclaimPolicy":"Retain","hostPath":{"path":"/x"},
		"claimRef":{"kind":"PersistentVolumeClaim","namespace":"default","name":"%[1]s","uid":"%[2]s"}}}`, made.GetUID()); err != nil {
		return err
	}
	if _, err := w.typed.CoreV1().PersistentVolumeClaims(namespace).Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	api := w.typed.CoreV1().PersistentVolumes()
	if _, err := api.Get(ctx, w.name, metav1.GetOptions{}); err != nil {
		return err
	}
	pause()
	if err := w.other.CoreV1().PersistentVolumeClaims(namespace).Delete(ctx, w.name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	if err := w.otherPatches(ctx, claims, types.MergePatchType, `{"metadata":{"finalizers":null}}`); err != nil && !apierrors.IsNotFound(err) {
		return err
	}
	if _, err := w.otherMakes(ctx, claims, claim); err != nil {
		return err
	}
	volume, err := api.Get(ctx, w.name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	volume.Labels = map[string]string{"seen": "1"}
	if !w.bug {
		volume.Spec.ClaimRef.UID, volume.Spec.ClaimRef.ResourceVersion = "", ""
	}
	_, err = api.Update(ctx, volume, metav1.UpdateOptions{})
	pause()
	return err
}

// Threads of one program want the same child and change the same object at the same time; each reads what is there. Nothing is wrong.
func manyThreads(ctx context.Context, w *world) error {
	var group sync.WaitGroup
	failures := make(chan error, 20)
	for i := range 10 {
		group.Go(func() {
			_, err := w.typed.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: w.name}}, metav1.CreateOptions{})
			if apierrors.IsAlreadyExists(err) {
				_, err = w.typed.CoreV1().Secrets(namespace).Get(ctx, w.name, metav1.GetOptions{})
			}
			failures <- err
			failures <- retry.RetryOnConflict(patience, func() error {
				object, err := w.get(ctx)
				if err != nil {
					return err
				}
				object.Data[fmt.Sprint("w", i)] = "1"
				_, err = w.update(ctx, object)
				return err
			})
		})
	}
	group.Wait()
	close(failures)
	for err := range failures {
		if err != nil {
			return err
		}
	}
	return nil
}

// One works with an autoscaler by its old API version, and by the new one, in which others set metrics. Nothing is wrong.
func apiVersions(ctx context.Context, w *world) error {
	if _, err := w.otherMakes(ctx, autoscalersV2, `{"apiVersion":"autoscaling/v2","kind":"HorizontalPodAutoscaler","metadata":{"name":"%[1]s"},"spec":{"maxReplicas":5,
		"scaleTargetRef":{"apiVersion":"apps/v1","kind":"Deployment","name":"x"},
		"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":60}}}]}}`); err != nil {
		return err
	}
	for i := range int32(3) {
		patch := fmt.Sprintf(`{"spec":{"metrics":[{"type":"Resource","resource":{"name":"memory","target":{"type":"Utilization","averageUtilization":%d}}}]}}`, 61+i)
		if err := w.otherPatches(ctx, autoscalersV2, types.MergePatchType, patch); err != nil {
			return err
		}
		one, err := w.typed.AutoscalingV1().HorizontalPodAutoscalers(namespace).Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		one.Spec.MaxReplicas = 6 + i
		if _, err := w.typed.AutoscalingV1().HorizontalPodAutoscalers(namespace).Update(ctx, one, metav1.UpdateOptions{}); err != nil {
			return err
		}
		two, err := w.typed.AutoscalingV2().HorizontalPodAutoscalers(namespace).Get(ctx, w.name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		least := 1 + i%2
		two.Spec.MinReplicas = &least
		if _, err := w.typed.AutoscalingV2().HorizontalPodAutoscalers(namespace).Update(ctx, two, metav1.UpdateOptions{}); err != nil {
			return err
		}
	}
	return nil
}

// A request in a label is answered and taken out of a content that was read before it came, against out of what was just read.
func labelRequest(ctx context.Context, w *world) error {
	held, err := w.get(ctx)
	if err != nil {
		return err
	}
	for round := range 4 {
		if err := w.otherPatches(ctx, configMaps, types.MergePatchType, `{"metadata":{"labels":{"needs-work":"true"}}}`); err != nil {
			return err
		}
		fresh, err := w.get(ctx)
		if err != nil {
			return err
		}
		if w.bug {
			held.ResourceVersion = fresh.ResourceVersion
			fresh = held
		}
		delete(fresh.Labels, "needs-work")
		metav1.SetMetaDataAnnotation(&fresh.ObjectMeta, "example.test/done", fmt.Sprint(round))
		if _, err := w.update(ctx, fresh); err != nil || w.bug {
			return err
		}
	}
	return nil
}
