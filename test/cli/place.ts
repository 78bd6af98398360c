import assert from 'node:assert/strict';
import { SendFailure, type Server } from '../../src/base/server.ts';
import type { Json, JsonObject } from '../../src/codec/json.ts';
import type { Cluster } from '../../src/kube/cluster.ts';
import type { Target } from '../../src/write/target.ts';
import { at, type RealServer, textAt } from '../write/realServer.ts';
import type { BundledCli } from '../write/runCli.ts';

/** A run of the command line: its exit code, what it said, and both in short, with the right that the server misses. */
export interface Ran {
  readonly code: number;
  readonly said: string;
  readonly told: string;
}

/** A namespace in which a user has some rights and no others. */
export class Place {
  readonly namespace: string;
  readonly alice: Cluster;
  private readonly real: RealServer;
  private readonly cli: BundledCli;
  private readonly kubeconfig: string;

  constructor(namespace: string, real: RealServer, cli: BundledCli, alice: Cluster, kubeconfig: string) {
    this.namespace = namespace;
    this.real = real;
    this.cli = cli;
    this.alice = alice;
    this.kubeconfig = kubeconfig;
  }

  configMap(name: string): Target {
    return { ...this.real.configMap(name), namespace: this.namespace };
  }

  /** An object that is there, made by somebody else. */
  async make(name: string, more: JsonObject = {}): Promise<{ target: Target; object: JsonObject }> {
    const target = this.configMap(name);
    return { target, object: await this.real.create(target, { data: { a: '1' }, ...more }) };
  }

  async deployment(): Promise<JsonObject> {
    const target = { ...this.real.target('apps', 'v1', 'deployments', 'Deployment', 'web'), namespace: this.namespace };
    const labels = { app: 'web' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'example.test/web' }] } };
    return this.real.create(target, { spec: { selector: { matchLabels: labels }, template } });
  }

  async other(target: Target, patch: JsonObject): Promise<void> {
    await this.real.patch(target, patch);
  }

  async value(target: Target): Promise<Json | undefined> {
    return at(await this.real.read(target), 'data', 'a');
  }

  /** What labs left behind. */
  async left(): Promise<number> {
    const list = await this.real.send('GET', `/api/v1/namespaces/${this.namespace}/configmaps`);
    return (list['items'] as JsonObject[]).filter((item) => textAt(item, 'metadata', 'name').startsWith('versions-'))
      .length;
  }

  /** A server of the user's whose first write is done, but not answered; `meanwhile` is what others do then. */
  cutting(meanwhile: () => Promise<void>): Server {
    let done = false;
    return {
      send: async (request, aborted) => {
        const reply = await this.alice.send(request, aborted);
        if (done || request.method === 'GET' || reply.status >= 300) return reply;
        done = true;
        await meanwhile();
        throw new SendFailure('The connection was cut.', 'maybe');
      },
    };
  }

  /** Runs the command line as the user: the exit code, and the right that the server says is missing. */
  async run(args: readonly string[], behind: readonly string[] = [], interruptAfterMs?: number): Promise<Ran> {
    const where = ['--kubeconfig', this.kubeconfig, '-n', this.namespace];
    const all = [
      ...args,
      ...where,
      ...(behind.length === 0 ? [] : ['--', process.execPath, this.cli.program, ...behind]),
    ];
    const { code, stdout, stderr } = await this.cli.run(
      all,
      interruptAfterMs === undefined ? {} : { interruptAfterMs },
    );
    const said = stdout + stderr;
    assert.doesNotMatch(said, /internal|\bat .*\.mjs:|Unhandled/, said);
    const missing = /cannot (\w+) resource "([^"]+)"/.exec(said);
    return { code, said, told: missing === null ? `${code}` : `${code} cannot ${missing[1]} ${missing[2]}` };
  }
}
