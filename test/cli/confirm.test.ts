import assert from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { Command } from 'commander';
import { systemClock } from '../../src/base/clock.ts';
import { registerDelete } from '../../src/cli/delete.ts';
import { registerModify } from '../../src/cli/modify.ts';
import { parseJson, type JsonObject } from '../../src/codec/json.ts';
import { at, RealServer, serverKinds, textAt } from '../write/realServer.ts';

interface Ran {
  readonly out: string;
  readonly err: string;
  readonly code: number;
}

/** A person at a terminal who answers each question when it is put; before an answer, others may act. */
interface Person {
  readonly answers: readonly string[];
  readonly before?: (asked: number) => Promise<void>;
}

for (const on of serverKinds) {
  describe(`what a person at the terminal is asked on the ${on}`, function () {
    this.timeout(60_000);
    let real: RealServer;
    before(async function () {
      real = await RealServer.start(this, on);
    });
    after(async () => real?.stop());

    async function run(args: readonly string[], person?: Person, env: Record<string, string> = {}): Promise<Ran> {
      const ran = { out: '', err: '', code: 0 };
      const stdin = Object.assign(new PassThrough(), { isTTY: person !== undefined });
      let asked = 0;
      const io = {
        stdout: (text: string) => void (ran.out += text),
        stderr: (text: string) => {
          ran.err += text;
          const answer = person?.answers[asked];
          if (!text.includes('[yes/no]') || answer === undefined) return;
          asked += 1;
          void (async () => {
            await person?.before?.(asked);
            stdin.write(`${answer}\n`);
          })();
        },
        stdin,
        env: { HOME: '/nowhere', ...env },
        clock: systemClock,
        signal: AbortSignal.timeout(30_000),
        exit: (code: number) => void (ran.code = code),
      };
      const program = new Command('object-versions').exitOverride();
      registerModify(program, io);
      registerDelete(program, io);
      const all = [...args, '--kubeconfig', real.kubeconfig, '-n', real.namespace];
      await program.parseAsync(all, { from: 'user' });
      return ran;
    }

    const context = (): string => real.cluster.context;
    const guarded = (): Record<string, string> => ({
      OBJECT_VERSIONS_PROTECTED_CONTEXTS: `other, ${context().slice(0, 2)}*`,
    });

    describe('about a delete of a busy object', () => {
      const made = async (name: string): Promise<{ args: string[]; name: string }> => {
        const object = await real.create(real.configMap(name), { data: { a: '1' } });
        const [uid, token] = [textAt(object, 'metadata', 'uid'), textAt(object, 'metadata', 'resourceVersion')];
        await real.patch(real.configMap(name), { data: { a: '2', fresh: 'x' } });
        return { args: ['delete', 'cm', name, '--uid', uid, '--token', token], name };
      };

      it('the newest version is shown with what changed, and deleted after a yes', async () => {
        const { args, name } = await made('busy');
        const ran = await run(args, { answers: ['yes'] });
        assert.equal(ran.code, 0, ran.err);
        assert.match(ran.err, /configmaps \S+\/busy changed since that version, by b:/);
        assert.match(ran.err, /\.data\.a: "1" → "2"\n {2}\.data\.fresh: nothing → "x"/);
        await assert.rejects(real.read(real.configMap(name)), /404/);
      });

      it('each further change is asked about anew: a yes is to one version', async () => {
        const { args, name } = await made('busier');
        const before = async (asked: number): Promise<void> => {
          if (asked === 1) await real.patch(real.configMap(name), { data: { a: '3' } });
        };
        const ran = await run(args, { answers: ['y', 'no'], before });
        assert.equal(ran.code, 3);
        assert.match(ran.err, /\.data\.a: "2" → "3"/);
        assert.match(ran.out, /needs-decision/);
        assert.equal(textAt(await real.read(real.configMap(name)), 'data', 'a'), '3');
      });

      it('nobody is asked where nobody is there, or the answer is anything else', async () => {
        const { args, name } = await made('alone');
        const alone = await run([...args, '-o', 'json']);
        assert.equal(alone.code, 3);
        const report = parseJson(alone.out) as JsonObject;
        assert.deepEqual(at(report, 'conflicts', '0'), { path: '.data.a', base: '1', theirs: '2' });
        assert.equal((await run(args, { answers: ['perhaps'] })).code, 3);
        assert.equal(textAt(await real.read(real.configMap(name)), 'data', 'a'), '2');
      });
    });

    describe('about a protected context', () => {
      it('a write shows what the server would store, defaults included, and is stored after a yes', async () => {
        const target = real.target('apps', 'v1', 'deployments', 'Deployment', 'guarded');
        const labels = { app: 'guarded' };
        const containers = [{ name: 'c', image: 'i' }];
        await real.create(target, {
          spec: {
            replicas: 100,
            selector: { matchLabels: labels },
            template: { metadata: { labels }, spec: { containers } },
          },
        });
        const args = ['modify', 'deploy/guarded', '--remove', 'spec.replicas'];
        const refused = await run(args, { answers: ['no'] }, guarded());
        assert.equal(refused.code, 130);
        assert.equal(at(await real.read(target), 'spec', 'replicas'), 100);
        const stored = await run(args, { answers: ['yes'] }, guarded());
        assert.equal(stored.code, 0, stored.err);
        assert.match(stored.err, new RegExp(`The context ${context()} is protected\\.`));
        assert.match(stored.err, /\.spec\.replicas: 100 → 1\n {2}This changes the desired state\.\n/);
        assert.equal(at(await real.read(target), 'spec', 'replicas'), 1);
        const labelled = await run(
          ['modify', 'deploy/guarded', '--set', 'metadata.labels.tier="front"'],
          { answers: ['no'] },
          guarded(),
        );
        assert.match(labelled.err, /labels: .+\n {2}This does not change the desired state\.\n/);
      });

      it('an entry of a list that gets another key is said to be replaced', async () => {
        const target = real.target('', 'v1', 'services', 'Service', 'keyed');
        await real.create(target, { spec: { ports: [{ name: 'web', port: 80, targetPort: 8080 }] } });
        const args = ['modify', 'svc/keyed', '--set', 'spec.ports[port=80,protocol="TCP"].port=81'];
        const { code, err } = await run(args, { answers: ['yes'] }, guarded());
        assert.equal(code, 0, err);
        assert.match(err, /keyed\n {2}\.spec\.ports: replaces entry 80\/TCP by 81\/TCP\nW/);
        const ports = at(await real.read(target), 'spec', 'ports') as JsonObject[];
        assert.deepEqual(
          ports.map(({ port }) => port),
          [81],
        );
      });

      it('without anybody to ask nothing is written, unless the command line says yes', async () => {
        await real.create(real.configMap('unattended'), { data: { a: '1' } });
        const args = ['modify', 'cm', 'unattended', '--set', 'data.a="2"'];
        const refused = await run(args, undefined, guarded());
        assert.equal(refused.code, 2);
        assert.match(refused.err, /\.data\.a: "1" → "2"/);
        assert.match(refused.err, /--yes/);
        assert.equal(textAt(await real.read(real.configMap('unattended')), 'data', 'a'), '1');
        assert.equal((await run([...args, '--dry-run'], undefined, guarded())).code, 0);
        assert.equal((await run([...args, '--yes'], undefined, guarded())).code, 0);
        assert.equal(textAt(await real.read(real.configMap('unattended')), 'data', 'a'), '2');
        assert.equal((await run(args, undefined, guarded())).code, 0, 'nothing to change, nothing to ask');
      });

      it('a yes is to what was shown: what others changed since is shown and asked about anew', async () => {
        await real.create(real.configMap('overtaken'), { data: { a: '1', other: '1' } });
        const before = async (asked: number): Promise<void> => {
          await real.patch(real.configMap('overtaken'), { data: asked === 1 ? { a: 'theirs' } : { other: '2' } });
        };
        const args = ['modify', 'cm', 'overtaken', '--set', 'data.a="mine"'];
        const ran = await run(args, { answers: ['yes', 'yes'], before }, guarded());
        assert.equal(ran.code, 0, ran.err);
        assert.match(ran.err, /\.data\.a: "1" → "mine"[^]*changed it in the meantime[^]*\.data\.a: "theirs" → "mine"/);
        const { data } = await real.read(real.configMap('overtaken'));
        assert.deepEqual(data, { a: 'mine', other: '2' }, 'what was not asked about may change');
      });

      it('a yes is to the incarnation that was shown', async () => {
        const target = real.configMap('reborn');
        const old = await real.create(target, { data: { a: '1' } });
        const before = async (): Promise<void> => {
          await real.delete(target);
          await real.create(target, { data: { a: 'new life' } });
        };
        const args = ['modify', 'cm', 'reborn', '--set', 'data.a="mine"', '-o', 'json'];
        const ran = await run(args, { answers: ['yes'], before }, guarded());
        assert.deepEqual([ran.code, at(parseJson(ran.out) as JsonObject, 'outcome')], [8, 'recreated'], ran.err);
        assert.equal(textAt(await real.read(target), 'data', 'a'), 'new life');
        assert.notEqual(textAt(await real.read(target), 'metadata', 'uid'), textAt(old, 'metadata', 'uid'));
      });

      it('a write whose dry run fails is asked about all the same', async () => {
        await real.create(real.configMap('untold'), { data: { a: '1' } });
        const args = ['modify', 'cm', 'untold', '--set', 'data.a=1'];
        const refused = await run(args, { answers: ['no'] }, guarded());
        assert.equal(refused.code, 130);
        assert.match(refused.err, /what would be stored is not known, the dry run was refused/);
      });

      it('a write that would store nothing anyway ends as it would, and nobody is asked', async () => {
        const args = ['modify', 'cm', 'never-there', '--set', 'data.a="1"'];
        const ran = await run(args, { answers: ['yes'] }, guarded());
        assert.deepEqual([ran.code, ran.err.includes('[yes/no]')], [8, false]);
      });

      it('a delete asks with what a dry run says, and is done after a yes', async () => {
        const target = real.configMap('held');
        const held = await real.create(target, { metadata: { finalizers: ['write.example/hold'] } });
        const args = ['delete', 'cm', 'held', '--uid', textAt(held, 'metadata', 'uid')];
        assert.equal((await run(args, { answers: ['no'] }, guarded())).code, 130);
        assert.equal(at(await real.read(target), 'metadata', 'deletionTimestamp'), undefined);
        const done = await run(args, { answers: ['yes'] }, guarded());
        assert.equal(done.code, 0);
        assert.match(done.err, /a dry run says: .*write\.example\/hold/);
        assert.notEqual(at(await real.read(target), 'metadata', 'deletionTimestamp'), undefined);
        await real.patch(target, { metadata: { finalizers: null } });
      });
    });
  });
}
