"""Small clients and controllers on the official Python client; the first argument says which."""
import sys
import threading
import time

from kubernetes import client, config, watch
from kubernetes.client.rest import ApiException

config.load_kube_config()
core = client.CoreV1Api()
apps = client.AppsV1Api()
NS = sys.argv[2]


def make(name, data):
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name), data=data)
    return core.create_namespaced_config_map(NS, body)


def other(name, key):
    """Somebody else adds a key, with an agent of its own."""
    api = client.CoreV1Api(client.ApiClient())
    api.api_client.user_agent = "neighbour/1.0"
    current = api.read_namespaced_config_map(name, NS)
    current.data[key] = "1"
    api.replace_namespaced_config_map(name, NS, current)


def use():
    """What people do; it prints the same with and without a recorder."""
    make("use", {"a": "1"})
    current = core.read_namespaced_config_map("use", NS)
    current.data["b"] = "2"
    stored = core.replace_namespaced_config_map("use", NS, current)
    print(sorted(stored.data.items()))
    try:
        core.replace_namespaced_config_map("use", NS, current)
    except ApiException as refused:
        print(refused.status, refused.reason)
    core.patch_namespaced_config_map("use", NS, {"data": {"c": "3"}})
    labels = [{"op": "add", "path": "/metadata/labels", "value": {"tier": "x"}}]
    print(core.patch_namespaced_config_map("use", NS, labels).metadata.labels)
    print([item.metadata.name for item in core.list_namespaced_config_map(NS, label_selector="tier=x").items])
    template = {"metadata": {"labels": {"app": "w"}}, "spec": {"containers": [{"name": "w", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "w"}}, "template": template}
    apps.create_namespaced_deployment(NS, {"metadata": {"name": "w"}, "spec": spec})
    print(apps.patch_namespaced_deployment_scale("w", NS, {"spec": {"replicas": 3}}).spec.replicas)
    seen = []
    stop = watch.Watch()

    def follow():
        for event in stop.stream(core.list_namespaced_config_map, NS, timeout_seconds=20):
            if event["object"].metadata.name == "seen":
                seen.append(event["type"])
                if event["type"] == "DELETED":
                    stop.stop()

    thread = threading.Thread(target=follow)
    thread.start()
    time.sleep(0.5)
    make("seen", {})
    core.delete_namespaced_config_map("seen", NS)
    thread.join()
    print(seen)
    for name in ("none", "../secrets"):
        try:
            core.read_namespaced_config_map(name, NS)
        except ApiException as refused:
            print(refused.status)
    core.delete_namespaced_config_map("use", NS)
    apps.delete_namespaced_deployment("w", NS)


def swap(good):
    """A retry that replaces only the token."""
    make("shared", {"a": "1"})
    mine = core.read_namespaced_config_map("shared", NS)
    mine.data["mine"] = "1"
    other("shared", "theirs")
    try:
        core.replace_namespaced_config_map("shared", NS, mine)
    except ApiException:
        fresh = core.read_namespaced_config_map("shared", NS)
        if good:
            fresh.data["mine"] = "1"
            mine = fresh
        else:
            mine.metadata.resource_version = fresh.metadata.resource_version
        core.replace_namespaced_config_map("shared", NS, mine)


def spin(good):
    """A retry without reading again."""
    make("spun", {"a": "1"})
    mine = core.read_namespaced_config_map("spun", NS)
    other("spun", "b")
    for attempt in range(30):
        mine.data["n"] = str(attempt)
        try:
            core.replace_namespaced_config_map("spun", NS, mine)
            return
        except ApiException:
            if good:
                mine = core.read_namespaced_config_map("spun", NS)


def blank(good):
    """The advice to blank the token."""
    make("blanked", {"a": "1"})
    mine = core.read_namespaced_config_map("blanked", NS)
    other("blanked", "theirs")
    if good:
        core.patch_namespaced_config_map("blanked", NS, {"data": {"mine": "1"}})
        return
    mine.metadata.resource_version = None
    mine.data["mine"] = "1"
    core.replace_namespaced_config_map("blanked", NS, mine)


def reborn(good):
    """A list of candidates, one of which was replaced meanwhile."""
    make("candidate", {"a": "1"})
    [found] = [item for item in core.list_namespaced_config_map(NS).items if item.metadata.name == "candidate"]
    api = client.CoreV1Api(client.ApiClient())
    api.api_client.user_agent = "neighbour/1.0"
    api.delete_namespaced_config_map("candidate", NS)
    api.create_namespaced_config_map(NS, client.V1ConfigMap(metadata=client.V1ObjectMeta(name="candidate")))
    options = client.V1DeleteOptions(preconditions=client.V1Preconditions(uid=found.metadata.uid) if good else None)
    try:
        core.delete_namespaced_config_map("candidate", NS, body=options)
    except ApiException as refused:
        print(refused.status)


def heartbeat(good):
    """A watcher that writes a time at each event of its own."""
    make("beat", {"beat": "0"})
    stop = watch.Watch()
    count = 0
    for event in stop.stream(core.list_namespaced_config_map, NS, timeout_seconds=3):
        found = event["object"]
        if found.metadata.name != "beat":
            continue
        count += 1
        if count > 25 or (good and found.data["beat"] != "0"):
            stop.stop()
            break
        found.data["beat"] = str(time.time())
        core.replace_namespaced_config_map("beat", NS, found)


SCENARIOS = {"swap": swap, "spin": spin, "blank": blank, "reborn": reborn, "heartbeat": heartbeat}
if sys.argv[1] == "use":
    use()
else:
    SCENARIOS[sys.argv[1]](sys.argv[3] == "good")
