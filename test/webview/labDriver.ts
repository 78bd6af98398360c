import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { systemClock } from '../../src/base/clock.ts';
import { toDisposable } from '../../src/base/disposable.ts';
import { Emitter } from '../../src/base/emitter.ts';
import { english } from '../../src/core/timeline/translate.ts';
import { ContentionSession } from '../../src/editor/labs/contentionSession.ts';
import { LabPageHost } from '../../src/editor/labs/labPageHost.ts';
import type { LabPlaces, LabSession, LabSessionParts } from '../../src/editor/labs/labPlaces.ts';
import { LessonsSession } from '../../src/editor/labs/lessonsSession.ts';
import { ModularSession } from '../../src/editor/labs/modularSession.ts';
import { ReplaySession } from '../../src/editor/labs/replaySession.ts';
import { connectCluster, type Cluster } from '../../src/kube/cluster.ts';
import { discover } from '../../src/kube/discovery.ts';
import { loadKubeconfig } from '../../src/kube/kubeconfig.ts';
import type { Exchange } from '../../src/lab/labClient.ts';
import { builtInLessons, findLesson } from '../../src/lab/lessonFiles.ts';
import type { LessonReport } from '../../src/lab/lessonRun.ts';
import { timers, type RequestChecks } from '../../src/protocol/channel.ts';
import type { LabPage } from '../../src/protocol/labStates.ts';
import { startSandbox, type Sandbox } from '../../src/sandbox/server.ts';
import type { PageOptions, WebviewHarness } from './harness.ts';

const AXE = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const SCREENSHOTS = join(import.meta.dirname, '../../out/screenshots');

/** A sandbox for the labs, a connection to it, and what the labs did. */
export class LabGrounds {
  readonly exchanges: Exchange[] = [];
  readonly saved: { report: LessonReport; format: string }[] = [];
  readonly problems: unknown[] = [];
  readonly openedObjects: string[] = [];
  readonly told: string[] = [];
  /** Aborted and replaced where a test stops the server for the sessions. */
  private closing = new AbortController();
  private readonly changed = new Emitter<void>(() => undefined);
  readonly sandbox: Sandbox;
  readonly cluster: Cluster;

  private constructor(sandbox: Sandbox, cluster: Cluster) {
    this.sandbox = sandbox;
    this.cluster = cluster;
  }

  static async start(): Promise<LabGrounds> {
    const sandbox = await startSandbox({});
    const folder = await mkdtemp(join(tmpdir(), 'ov-labs-'));
    const file = join(folder, 'kubeconfig');
    await writeFile(file, sandbox.kubeconfig);
    const kubeconfig = loadKubeconfig({ paths: [file], env: {}, home: folder });
    await rm(folder, { recursive: true });
    return new LabGrounds(sandbox, connectCluster(kubeconfig, { userAgent: 'lab-test', clock: systemClock, env: {} }));
  }

  async stop(): Promise<void> {
    this.cluster.dispose();
    await this.sandbox.stop();
  }

  /** Tells the sessions that the connection is given up; the next lab gets a new one. */
  stopServer(): void {
    this.closing.abort();
    this.closing = new AbortController();
  }

  /** The names of the ConfigMaps that labs made and did not remove. */
  async left(): Promise<string[]> {
    const path = '/api/v1/namespaces/default/configmaps';
    const { body } = await this.cluster.send({ method: 'GET', path }, AbortSignal.timeout(5000));
    const { items } = JSON.parse(body) as { items: { metadata: { name: string } }[] };
    return items.map((item) => item.metadata.name).filter((name) => name !== 'kube-root-ca.crt');
  }

  session(page: LabPage): LabSession<LabPage, RequestChecks> {
    const { changed } = this;
    const places: LabPlaces = {
      onDidChange: changed.event,
      current: () => ({ label: 'sandbox', namespace: 'default', isSandbox: true }),
      choose: () => Promise.resolve(),
      open: async () => ({
        server: this.cluster,
        namespace: 'default',
        safeWriteLog: {},
        closing: this.closing.signal,
        resources: (signal) => discover(this.cluster, signal),
        onExchange: (exchange) => void this.exchanges.push(exchange),
      }),
    };
    const onError = (error: unknown): void => void this.problems.push(error);
    const watch = (): Promise<void> => Promise.resolve();
    const parts: LabSessionParts = { places, clock: systemClock, translate: english, watch, onError };
    const made = {
      modular: () => new ModularSession(parts),
      replay: () => new ReplaySession(parts),
      contention: () => new ContentionSession(parts),
      lessons: () =>
        new LessonsSession({
          ...parts,
          builtIn: () => Promise.resolve(builtInLessons()),
          chooseFile: () => Promise.resolve(findLesson('opaque-token')),
          openObject: async (object) => void this.openedObjects.push(`${object.resource}/${object.name}`),
          tell: (sentence) => void this.told.push(sentence),
          openTerminal: () => void this.openedObjects.push('terminal'),
          save: async (report, format) => void this.saved.push({ report, format }),
        }),
    }[page]();
    return made;
  }
}

/** One lab's page in a browser, with the real session and the real sandbox behind it. */
export class LabDriver {
  readonly page: Page & { pageErrors: string[] };
  readonly session: LabSession<LabPage, RequestChecks>;
  readonly opened: string[] = [];
  private readonly host: LabPageHost<LabPage, RequestChecks>;
  private readonly grounds: LabGrounds;
  private readonly listeners = new Set<(message: unknown) => void>();

  static async open(
    harness: WebviewHarness,
    grounds: LabGrounds,
    page: LabPage,
    options: PageOptions & { readonly translations?: Readonly<Record<string, string>> } = {},
  ): Promise<LabDriver> {
    const opened = await harness.open({
      webview: 'lab',
      pageScript: 'test/webview/labHostMain.ts',
      height: 900,
      ...options,
    });
    const driver = new LabDriver(opened, grounds, page, options.translations ?? {});
    await opened.exposeFunction('labToHost', (message: unknown) => driver.receive(message));
    const waiting = await opened.evaluate(() => window.labWaiting);
    for (const message of waiting) driver.receive(message);
    await opened.waitForSelector('h1');
    return driver;
  }

  private constructor(
    page: Page & { pageErrors: string[] },
    grounds: LabGrounds,
    which: LabPage,
    translations: Readonly<Record<string, string>>,
  ) {
    this.page = page;
    this.grounds = grounds;
    this.session = grounds.session(which);
    this.host = new LabPageHost({
      port: {
        post: (message) =>
          void page
            .evaluate((data) => window.dispatchEvent(new MessageEvent('message', { data })), message)
            .catch(() => undefined),
        onMessage: (listener) => {
          this.listeners.add(listener);
          return toDisposable(() => this.listeners.delete(listener));
        },
      },
      session: this.session,
      places: { onDidChange: new Emitter<void>(() => undefined).event } as LabPlaces,
      translations,
      schedule: timers,
      onProblem: (problem) => void grounds.problems.push(problem),
      openTimeline: () => void this.opened.push('timeline'),
      openPage: (other) => void this.opened.push(other),
    });
  }

  /** Closes the page as VS Code does: the host goes, and the session cleans up. */
  async close(): Promise<void> {
    this.host.dispose();
    this.session.dispose();
    await this.session.ended();
    await this.page.close();
  }

  private receive(message: unknown): void {
    for (const listener of this.listeners) listener(message);
  }

  async text(selector: string): Promise<string> {
    return (await this.page.locator(selector).allInnerTexts()).join('\n');
  }

  async press(...keys: string[]): Promise<void> {
    for (const key of keys) await this.page.keyboard.press(key);
  }

  /** Waits until a text is there. */
  async says(selector: string, wanted: RegExp): Promise<void> {
    await this.page.locator(selector).filter({ hasText: wanted }).first().waitFor({ timeout: 15_000 });
  }

  async screenshot(name: string): Promise<void> {
    await this.page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage: true });
  }

  /** Nothing went wrong that nobody asked about: no script error, no breach of the content policy, no odd message. */
  async assertClean(): Promise<void> {
    assert.deepEqual(this.page.pageErrors, []);
    assert.deepEqual(await this.page.evaluate(() => window.labViolations), []);
    assert.deepEqual(this.grounds.problems, []);
  }

  /** What axe finds, as lines: the rule and where. */
  async axe(): Promise<string[]> {
    await this.page.evaluate(await readFile(AXE, 'utf8'));
    return this.page.evaluate(async () => {
      const { axe } = window as unknown as {
        axe: {
          run(): Promise<{ violations: { id: string; nodes: { target: unknown; failureSummary?: string }[] }[] }>;
        };
      };
      const { violations } = await axe.run();
      return violations.flatMap(({ id, nodes }) =>
        nodes.map((node) => `${id} ${String(node.target)} ${node.failureSummary ?? ''}`),
      );
    });
  }
}
