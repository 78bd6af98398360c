// Small clients and controllers on @kubernetes/client-node; the first argument says which, the second the namespace.
import { CoreV1Api, KubeConfig, Watch, makeInformer, type V1ConfigMap } from '@kubernetes/client-node';

const config = new KubeConfig();
config.loadFromDefault();
const core = config.makeApiClient(CoreV1Api);
const [, , scenario = '', namespace = '', variant = ''] = process.argv;
const good = variant === 'good';

const say = (value: unknown): void => void process.stdout.write(`${JSON.stringify(value)}\n`);
const make = (name: string, data: Record<string, string>): Promise<V1ConfigMap> =>
  core.createNamespacedConfigMap({ namespace, body: { metadata: { name }, data } });
const read = (name: string): Promise<V1ConfigMap> => core.readNamespacedConfigMap({ namespace, name });
const replace = (name: string, body: V1ConfigMap): Promise<V1ConfigMap> =>
  core.replaceNamespacedConfigMap({ namespace, name, body });
const codeOf = (error: unknown): number => (error as { code?: number }).code ?? 0;

/** Somebody else, who goes past the recorder's client: the same API, a field manager of its own. */
async function neighbour(name: string, key: string): Promise<void> {
  const current = await read(name);
  current.data = { ...current.data, [key]: '1' };
  await core.replaceNamespacedConfigMap({ namespace, name, body: current, fieldManager: 'neighbour' });
}

async function use(): Promise<void> {
  await make('use', { a: '1' });
  const current = await read('use');
  current.data = { ...current.data, b: '2' };
  const stored = await replace('use', current);
  say(stored.data);
  say(await replace('use', current).catch(codeOf));
  say(
    (await core.listNamespacedConfigMap({ namespace })).items
      .map((item) => item.metadata?.name)
      .filter((name) => name !== 'kube-root-ca.crt'),
  );
  say(await read('none').catch(codeOf));
  const seen: string[] = [];
  const gone = Promise.withResolvers<void>();
  const following = await new Watch(config).watch(
    `/api/v1/namespaces/${namespace}/configmaps`,
    {},
    (type: string, object: V1ConfigMap) => {
      if (object.metadata?.name === 'seen') seen.push(type);
      if (type === 'DELETED') gone.resolve();
    },
    () => gone.resolve(),
  );
  await make('seen', {});
  await core.deleteNamespacedConfigMap({ namespace, name: 'seen' });
  await gone.promise;
  following.abort();
  say(seen);
  const informer = makeInformer(config, `/api/v1/namespaces/${namespace}/configmaps`, () =>
    core.listNamespacedConfigMap({ namespace }),
  );
  const added = new Promise<string>((resolve) => {
    informer.on('add', (object) => (object.metadata?.name === 'use' ? resolve('use') : undefined));
  });
  await informer.start();
  say(await added);
  await informer.stop();
  await core.deleteNamespacedConfigMap({ namespace, name: 'use' });
}

/** A retry that replaces only the token. */
async function swap(): Promise<void> {
  await make('shared', { a: '1' });
  const mine = await read('shared');
  mine.data = { ...mine.data, mine: '1' };
  await neighbour('shared', 'theirs');
  const code = await replace('shared', mine).then(() => 200, codeOf);
  if (code !== 409) throw new Error(`expected a conflict, not ${code}`);
  const fresh = await read('shared');
  if (good) fresh.data = { ...fresh.data, mine: '1' };
  else if (mine.metadata !== undefined) mine.metadata.resourceVersion = fresh.metadata?.resourceVersion ?? '';
  await replace('shared', good ? fresh : mine);
}

/** Creates what is there already, again and again. */
async function exists(): Promise<void> {
  await make('there', { a: '1' });
  for (let attempt = 0; attempt < 8; attempt += 1) {
    await make('there', { a: '1' }).catch(codeOf);
    if (good) {
      await read('there');
      return;
    }
  }
}

/** Writes what is stored already, again and again. */
async function nothing(): Promise<void> {
  await make('same', { a: '1' });
  for (let pass = 0; pass < 12; pass += 1) {
    const current = await read('same');
    if (!good) await replace('same', current);
  }
}

const scenarios: Readonly<Record<string, () => Promise<void>>> = { use, swap, exists, nothing };
await scenarios[scenario]?.();
process.exit(0);
