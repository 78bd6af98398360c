import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ApiServerUnavailable, builtProgram } from '../apiserver/binary.ts';
import { needKubectl } from '../apiserver/kubectl.ts';
import { plainKubeconfig, recorderBefore, type Recorded } from './standIn.ts';

const STREAMS = {
  name: 'streams',
  what: 'the stand-in whose pods echo',
  source: fileURLToPath(new URL('../clients/streams/', import.meta.url)),
  files: ['go.mod', 'go.sum', 'main.go'],
  package: '.',
};
const WAYS = ['WebSocket', 'SPDY'] as const;
type Way = (typeof WAYS)[number];

interface Ran {
  readonly code: number | null;
  readonly out: Buffer;
  readonly err: string;
}

function kubectl(kubeconfig: string, way: Way, args: readonly string[]): ChildProcess {
  const webSockets = String(way === 'WebSocket');
  return spawn('kubectl', ['--kubeconfig', kubeconfig, '-n', 'lab', ...args], {
    env: {
      ...process.env,
      KUBECTL_REMOTE_COMMAND_WEBSOCKETS: webSockets,
      KUBECTL_PORT_FORWARD_WEBSOCKETS: webSockets,
    },
  });
}

function runKubectl(kubeconfig: string, way: Way, args: readonly string[], input: Buffer): Promise<Ran> {
  return new Promise((resolve, reject) => {
    const child = kubectl(kubeconfig, way, args);
    const out: Buffer[] = [];
    let err = '';
    child.stdout?.on('data', (chunk: Buffer) => out.push(chunk));
    child.stderr?.on('data', (chunk: Buffer) => (err += String(chunk)));
    child.once('error', reject);
    child.once('close', (code) => resolve({ code, out: Buffer.concat(out), err }));
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}

/** What comes back of bytes that are sent through `kubectl port-forward`, over several connections at once. */
async function throughPortForward(kubeconfig: string, way: Way, inputs: readonly Buffer[]): Promise<Buffer[]> {
  const child = kubectl(kubeconfig, way, ['port-forward', 'p', ':80']);
  try {
    const port = await new Promise<number>((resolve, reject) => {
      let said = '';
      const look = (chunk: Buffer): void => {
        said += String(chunk);
        const found = /127\.0\.0\.1:(\d+) ->/.exec(said)?.[1];
        if (found !== undefined) resolve(Number(found));
      };
      child.stdout?.on('data', look);
      child.stderr?.on('data', look);
      child.once('error', reject);
      child.once('close', () => reject(new Error(`kubectl port-forward ended: ${said}`)));
    });
    return await Promise.all(inputs.map((input) => sendAndRead(port, input)));
  } finally {
    child.kill('SIGTERM');
    if (child.exitCode === null) await new Promise((resolve) => child.once('close', resolve));
  }
}

function sendAndRead(port: number, input: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, '127.0.0.1', () => socket.end(input));
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.once('error', reject);
    socket.once('close', () => resolve(Buffer.concat(chunks)));
  });
}

const large = Buffer.from(Array.from({ length: 300_000 }, (_item, index) => (index * 7) % 256));

describe('kubectl exec, attach and port-forward through the recorder, against a stand-in that echoes', function () {
  this.timeout(120_000);
  let server: ChildProcess | undefined;
  let recorded: Recorded | undefined;
  let folder = '';
  let direct = '';
  let through = '';
  /** Which way each client came, as the server saw it. */
  const ways: string[] = [];

  before(async function () {
    await needKubectl(this);
    this.timeout(1_200_000);
    const program = await builtProgram(STREAMS).catch((error: unknown) => {
      if (!(error instanceof ApiServerUnavailable) || process.env['CI'] === 'true') throw error;
      process.stderr.write(`exec: kubectl's upgrades did NOT run through the recorder. ${error.message}\n`);
      return this.skip();
    });
    const child = spawn(program, { stdio: ['ignore', 'pipe', 'inherit'] });
    server = child;
    const lines = createInterface({ input: child.stdout });
    const port = await new Promise<number>((resolve) => lines.once('line', (line) => resolve(Number(line))));
    lines.on('line', (line) => ways.push(line));
    folder = await mkdtemp(join(tmpdir(), 'exec-test-'));
    recorded = await recorderBefore(port);
    [direct, through] = [join(folder, 'direct'), join(folder, 'through')];
    await writeFile(direct, plainKubeconfig(port));
    await writeFile(through, recorded.recorder.kubeconfig('exec'));
  });
  after(async () => {
    await recorded?.stop();
    server?.kill('SIGTERM');
    if (folder !== '') await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    assert.deepEqual(recorded?.problems, []);
    ways.length = 0;
  });

  for (const way of WAYS) {
    for (const [verb, args] of [
      ['exec', ['exec', '-i', 'p', '--', 'cat']],
      ['attach', ['attach', '-i', 'p']],
    ] as const) {
      it(`${verb} over ${way}: every byte comes back, small or large, as without it`, async () => {
        for (const input of [Buffer.from('ping\n'), large]) {
          const plain = await runKubectl(direct, way, args, input);
          const ran = await runKubectl(through, way, args, input);
          assert.deepEqual([ran.code, ran.err], [plain.code, plain.err]);
          assert.equal(ran.code, 0, ran.err);
          assert.ok(plain.out.equals(input));
          assert.ok(ran.out.equals(input));
        }
        assert.deepEqual(
          ways,
          Array.from({ length: 4 }, () => `${verb} ${way}`),
        );
      });
    }

    it(`port-forward over ${way}: several connections at once, every byte comes back, as without it`, async () => {
      const inputs = [Buffer.from('a'), large, Buffer.from('ping'), large.subarray(1_000)];
      for (const kubeconfig of [direct, through]) {
        const out = await throughPortForward(kubeconfig, way, inputs);
        for (const [index, input] of inputs.entries()) assert.ok(out[index]?.equals(input), `${index} ${kubeconfig}`);
      }
      assert.deepEqual(ways, [`portforward ${way}`, `portforward ${way}`]);
    });
  }
});
