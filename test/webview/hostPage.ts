import { Emitter } from '../../src/base/emitter.ts';
import { EventLog } from '../../src/core/eventLog.ts';
import type { TimelineFinding, TimelineModel } from '../../src/core/timeline/model.ts';
import { sharedModel } from '../../src/core/timeline/sharedModel.ts';
import { english } from '../../src/core/timeline/translate.ts';
import type { NewTraceEvent } from '../../src/core/traceEvent.ts';
import { timers } from '../../src/protocol/channel.ts';
import { TimelineSession } from '../../src/protocol/timelineSession.ts';

/**
 * The other end of the webview under test, in the same page: what VS Code's host is, with the real session over the real
 * log. Messages are cloned on their way, as `postMessage` does. Runs in the browser, before the bundle.
 */
export interface TestHost {
  readonly calls: { method: string; params: unknown }[];
  readonly problems: string[];
  readonly violations: string[];
  /** Messages of the view, by type. */
  readonly received: string[];
  kept: unknown;
  append(events: readonly NewTraceEvent[]): void;
  setFindings(findings: readonly TimelineFinding[]): void;
  reveal(event: number, finding?: string): void;
  setFilter(filter: string): void;
  /** Sends anything to the view, as a broken host would. */
  send(message: unknown): void;
  /** Lets the next message of the host to the view get lost. */
  loseNext(): void;
  /** Lets requests of this name fail. */
  fail(method: string): void;
  /** A whole model instead of a log: for benches. */
  showModel(model: TimelineModel): void;
}

declare global {
  interface Window {
    testHost: TestHost;
    acquireVsCodeApi: () => unknown;
    testOptions: {
      kept?: unknown;
      hasCluster?: boolean;
      translations?: Record<string, string>;
      withoutSession?: boolean;
    };
  }
}

/** Puts the host into the page. */
export function startTestHost(): void {
  const options = window.testOptions;
  const log = new EventLog();
  let findings: readonly TimelineFinding[] = [];
  const changed = new Emitter<void>(() => undefined);
  const fromView = new Set<(message: unknown) => void>();
  const failing = new Set<string>();
  let lost = 0;
  const host: TestHost = {
    calls: [],
    problems: [],
    violations: [],
    received: [],
    kept: options.kept,
    append: (events) => void log.appendAll(events),
    setFindings: (next) => {
      findings = next;
      changed.fire(undefined);
    },
    reveal: (event, finding) => session?.reveal(event, finding),
    setFilter: (filter) => session?.setFilter(filter),
    send: (message) => window.dispatchEvent(new MessageEvent('message', { data: structuredClone(message) })),
    loseNext: () => {
      lost += 1;
    },
    fail: (method) => void failing.add(method),
    showModel: (model) => {
      const settings = { timeZoneOffsetMin: 0, followMs: 8 * 60_000, hasCluster: false };
      host.send({ type: 'init', protocol: 1, translations: {}, settings });
      host.send({ type: 'snapshot', sequence: 1, model });
    },
  };
  window.testHost = host;
  document.addEventListener('securitypolicyviolation', (event) =>
    host.violations.push(`${event.violatedDirective} ${event.blockedURI}`),
  );
  window.acquireVsCodeApi = () => ({
    postMessage: (message: unknown) => {
      const type = (message as { type?: unknown }).type;
      host.received.push(typeof type === 'string' ? type : '');
      const copy: unknown = structuredClone(message);
      queueMicrotask(() => fromView.forEach((listener) => listener(copy)));
    },
    getState: () => host.kept,
    setState: (state: unknown) => {
      host.kept = structuredClone(state);
    },
  });
  const record = async (method: string, params: unknown): Promise<void> => {
    host.calls.push({ method, params });
    if (failing.has(method)) throw new Error(`${method} does not work today`);
  };
  const session =
    options.withoutSession === true
      ? undefined
      : new TimelineSession({
          port: {
            post: (message) => {
              if (lost > 0) lost -= 1;
              else setTimeout(() => host.send(message), 0);
            },
            onMessage: (listener) => {
              fromView.add(listener);
              return { dispose: () => void fromView.delete(listener) };
            },
          },
          source: log,
          findings: { all: () => findings, onDidChange: changed.event },
          actions: {
            openDiff: (params) => record('openDiff', params),
            revealInTree: (object) => record('revealInTree', object),
            safeEdit: (object) => record('safeEdit', object),
            showRelated: (object) => record('showRelated', object),
            openFinding: (id) => record('openFinding', id),
            copy: (text) => record('copy', text),
            scrub: (event) => record('scrub', event ?? null),
            exportTrace: async (shared) => {
              await record('exportTrace', shared);
              return true;
            },
            saveImage: async (params) => {
              await record('saveImage', params);
              return true;
            },
            sharedModel: async () => {
              await record('sharedModel', null);
              return sharedModel(log.eventsFrom(1), 'test', english);
            },
          },
          clusterLabel: () => 'kind-dev',
          settings: { timeZoneOffsetMin: 0, followMs: 8 * 60_000, hasCluster: options.hasCluster ?? true },
          translations: options.translations ?? {},
          schedule: timers,
          onProblem: (problem) => void host.problems.push(problem),
        });
}
