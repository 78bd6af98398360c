// Command controllers runs small controllers, each with one planted bug and a correct twin, for the recorder's tests.
//
// Usage: controllers bug|good|both SCENARIO...
// Each of them runs at the same time as the others, as an actor of its own (its user agent) on objects of its own, whose
// names begin with SCENARIO-bug or SCENARIO-good.
// KUBECONFIG is the recorder's; DIRECT_KUBECONFIG leads past it, for the other actor of a scenario.
package main

import (
	"context"
	"fmt"
	"os"
	"sync"
	"time"

	"k8s.io/client-go/tools/clientcmd"
)

var scenarios = map[string]func(context.Context, *world) error{
	"token-swap":              tokenSwap,
	"unconditional":           unconditional,
	"finalizer":               finalizer,
	"list-clobber":            listClobber,
	"index-patch":             indexPatch,
	"hot-loop":                hotLoop,
	"already-exists":          alreadyExists,
	"force-takeover":          forceTakeover,
	"fight":                   fight,
	"update-loop":             updateLoop,
	"no-op":                   noOp,
	"stale-delete":            staleDelete,
	"stale-overwrite":         staleOverwrite,
	"invented-token":          inventedToken,
	"ignored-part":            ignoredPart,
	"leader-election":         leaderElection,
	"contention":              contention,
	"lost-update-answer":      lostUpdateAnswer,
	"lost-create-answer":      lostCreateAnswer,
	"impatient-create":        impatientCreate,
	"cr-contention":           crContention,
	"ssa-items":               ssaItems,
	"adopt":                   adopt,
	"interleaved":             interleaved,
	"defaulted":               defaulted,
	"list-token":              listToken,
	"counter-back":            counterBack,
	"status-blank":            statusBlank,
	"secret-blank":            secretBlank,
	"lister-blank-late":       listerBlankLate,
	"strategic-replace":       strategicReplace,
	"hpa-past":                hpaPast,
	"json-finalizers":         jsonFinalizers,
	"ssa-force-fight":         ssaForceFight,
	"owners-clobber":          ownersClobber,
	"status-conditions-patch": statusConditionsPatch,
	"drift-twice":             driftTwice,
	"two-instances":           twoInstances,
	"informer-controller":     informerController,
	"borrowed-token":          borrowedToken,
	"retry-outside":           retryOutside,
	"status-swap":             statusSwap,
	"merge-from-list":         mergeFromList,
	"merge-from-finalizer":    mergeFromFinalizer,
	"map-replace":             mapReplace,
	"index-image":             indexImage,
	"blanked-token":           blankedToken,
	"dropped-fields":          droppedFields,
	"dropped-item-fields":     droppedItemFields,
	"status-loop":             statusLoop,
	"hot-requeue":             hotRequeue,
	"self-conflict":           selfConflict,
	"apply-loop":              applyLoop,
	"resync-no-op":            resyncNoOp,
	"respelled":               respelled,
	"replicas-fight":          replicasFight,
	"annotation-fight":        annotationFight,
	"ping-pong":               pingPong,
	"hidden-child":            hiddenChild,
	"standing-force":          standingForce,
	"carried-value":           carriedValue,
	"stale-owner":             staleOwner,
	"stale-registry":          staleRegistry,
	"old-death-sentence":      oldDeathSentence,
	"patched-by-name":         patchedByName,
	"unseen-children":         unseenChildren,
	"unsynced-children":       unsyncedChildren,
	"own-item-lost":           ownItemLost,
	"burst":                   burst,
	"handshake":               handshake,
	"whole-operator":          wholeOperator,
	"progress":                progress,
	"repeated-apply":          repeatedApply,
	"finalizers-null":         finalizersNull,
	"index-rule":              indexRule,
	"scale-blank":             scaleBlank,
	"workers-map":             workersMap,
	"own-takeover":            ownTakeover,
	"claim-repaired":          claimRepaired,
	"many-threads":            manyThreads,
	"api-versions":            apiVersions,
	"label-request":           labelRequest,
	"uid-loop":                uidLoop,
	"test-loop":               testLoop,
	"criss-cross":             crissCross,
	"dry-runs":                dryRuns,
	"status-retry":            statusRetry,
	"tolerations-patch":       tolerationsPatch,
	"finalizers-nil":          finalizersNil,
	"lock-by-hand":            lockByHand,
	"child-heartbeat":         childHeartbeat,
	"zero-token":              zeroToken,
	"scale-fight":             scaleFight,
	"sidecar-fight":           sidecarFight,
	"map-order":               mapOrder,
	"shared-manager":          sharedManager,
	"declared-retry":          declaredRetry,
	"built-anew":              builtAnew,
}

func main() {
	if len(os.Args) < 3 {
		fail(fmt.Errorf("usage: controllers bug|good|both SCENARIO"))
	}
	variants := []string{os.Args[1]}
	if os.Args[1] == "both" {
		variants = []string{"bug", "good"}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 60*time.Second)
	defer cancel()
	var group sync.WaitGroup
	failures := make(chan error, len(os.Args)*len(variants))
	for _, name := range os.Args[2:] {
		for _, variant := range variants {
			group.Go(func() {
				if err := runScenario(ctx, name, variant); err != nil {
					failures <- fmt.Errorf("%s %s: %w", name, variant, err)
				}
			})
		}
	}
	group.Wait()
	close(failures)
	for err := range failures {
		defer os.Exit(1)
		fmt.Fprintln(os.Stderr, err)
	}
}

var install = sync.OnceValue(func() error {
	direct, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DIRECT_KUBECONFIG"))
	if err != nil {
		return err
	}
	return installToys(context.Background(), direct)
})

func runScenario(ctx context.Context, name, variant string) error {
	run, known := scenarios[name]
	if !known {
		return fmt.Errorf("no such scenario")
	}
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	direct, err := clientcmd.BuildConfigFromFlags("", os.Getenv("DIRECT_KUBECONFIG"))
	if err != nil {
		return err
	}
	if err := install(); err != nil {
		return err
	}
	w, err := newWorld(config, direct, name, variant, fmt.Sprintf("%s-%s", name, variant))
	if err == nil {
		err = w.setUp(ctx)
	}
	if err == nil {
		err = run(ctx, w)
	}
	return err
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
