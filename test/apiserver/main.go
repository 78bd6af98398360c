// Command apiserver runs a real kube-apiserver over an etcd of its own, in one process, for tests.
//
// The one flag of its own is --etcd-dir; all others are kube-apiserver's.
// etcd listens on a loopback port that the kernel chooses and is handed to kube-apiserver here, so two servers never
// race for a port.
// The store's first versions are compacted before kube-apiserver sees it, as they are on any server that has run for
// some minutes: a request for version 1 is answered 410 from the start.
package main

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"strings"
	"time"

	"go.etcd.io/etcd/api/v3/etcdserverpb"
	"go.etcd.io/etcd/server/v3/embed"
	"k8s.io/component-base/cli"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
)

const compactedVersions = 4

func main() {
	dir, rest := takeFlag(os.Args[1:], "--etcd-dir")
	if dir == "" {
		fail("--etcd-dir=FOLDER is needed: where etcd keeps its files")
	}
	server, err := startEtcd(dir)
	if err != nil {
		fail(err.Error())
	}
	os.Args = append(append([]string{os.Args[0]}, rest...), "--etcd-servers=http://"+server.Clients[0].Addr().String())
	os.Exit(cli.Run(app.NewAPIServerCommand()))
}

// takeFlag removes name=value from the arguments and returns the value.
func takeFlag(args []string, name string) (value string, rest []string) {
	for _, arg := range args {
		if found, ok := strings.CutPrefix(arg, name+"="); ok {
			value = found
		} else {
			rest = append(rest, arg)
		}
	}
	return value, rest
}

func startEtcd(dir string) (*embed.Etcd, error) {
	anyPort := url.URL{Scheme: "http", Host: "127.0.0.1:0"}
	config := embed.NewConfig()
	config.Dir = dir
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	config.ListenClientUrls, config.AdvertiseClientUrls = []url.URL{anyPort}, []url.URL{anyPort}
	config.ListenPeerUrls = []url.URL{anyPort}
	server, err := embed.StartEtcd(config)
	if err != nil {
		return nil, fmt.Errorf("etcd did not start: %w", err)
	}
	select {
	case <-server.Server.ReadyNotify():
	case <-time.After(30 * time.Second):
		return nil, fmt.Errorf("etcd was not ready after 30 s")
	}
	return server, compactFirstVersions(server)
}

func compactFirstVersions(server *embed.Etcd) error {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	for range compactedVersions {
		if _, err := server.Server.Put(ctx, &etcdserverpb.PutRequest{Key: []byte("compacted"), Value: []byte("-")}); err != nil {
			return fmt.Errorf("etcd refused a write: %w", err)
		}
	}
	if _, err := server.Server.Compact(ctx, &etcdserverpb.CompactionRequest{Revision: compactedVersions, Physical: true}); err != nil {
		return fmt.Errorf("etcd refused to compact: %w", err)
	}
	return nil
}

func fail(message string) {
	fmt.Fprintln(os.Stderr, "apiserver: "+message)
	os.Exit(1)
}
