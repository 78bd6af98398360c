import { AppError, isAppError } from '../../base/appError.ts';
import { Emitter } from '../../base/emitter.ts';
import { AttemptSeries } from '../../lab/attemptSeries.ts';
import type { Handlers } from '../../protocol/channel.ts';
import { CONTENTION_REQUESTS } from '../../protocol/lab.ts';
import type { ContentionRunOptions, StateOf } from '../../protocol/labStates.ts';
import { throttle } from '../app/throttle.ts';
import { reasonOf, type LabGround, type LabSession, type LabSessionParts } from './labPlaces.ts';

type Run = { -readonly [K in keyof StateOf<'contention'>['runs'][number]]: StateOf<'contention'>['runs'][number][K] };

/** How often the page is told of counts, at most, in ms. */
const NEWS_MS = 100;
/** The bounds of what the page may ask for, so that a slip of the finger does not load a cluster. */
const BOUNDS = {
  actors: [1, 50],
  updates: [1, 500],
  thinkMs: [0, 10_000],
  maxAttempts: [1, 1000],
  seed: [0, 2 ** 31 - 1],
} as const;

/** The contention lab behind its page: one run, or two on the same server one after the other, to be compared. */
export class ContentionSession implements LabSession<'contention', typeof CONTENTION_REQUESTS> {
  readonly page = 'contention';
  readonly requests = CONTENTION_REQUESTS;
  readonly handlers: Handlers<typeof CONTENTION_REQUESTS> = {
    contentionStart: async ({ runs }, signal) => this.start(runs, signal),
    contentionCancel: async () => this.cancel(),
  };
  private readonly parts: LabSessionParts;
  private readonly changed: Emitter<void>;
  private readonly news = throttle(NEWS_MS, () => this.changed.fire());
  private controller = new AbortController();
  private running: Promise<void> | undefined;
  private runs: Run[] = [];

  constructor(parts: LabSessionParts) {
    this.parts = parts;
    this.changed = new Emitter(parts.onError);
  }

  get onDidChange(): Emitter<void>['event'] {
    return this.changed.event;
  }

  state(): StateOf<'contention'> {
    return {
      page: 'contention',
      place: this.parts.places.current(),
      running: this.running !== undefined,
      runs: this.runs.map((run) => ({ ...run })),
    };
  }

  dispose(): void {
    this.controller.abort();
    this.news.dispose();
    this.changed.dispose();
  }

  async ended(): Promise<void> {
    await this.running;
  }

  private async start(runs: readonly ContentionRunOptions[], signal: AbortSignal): Promise<null> {
    this.check(runs);
    if (this.running !== undefined) throw new AppError('usage', this.parts.translate('A run goes on already.'));
    const ground = await this.parts.places.open(signal);
    if (this.parts.places.current().isSandbox) await this.parts.watch(['configmaps'], ground.namespace, signal);
    this.controller = new AbortController();
    this.runs = [];
    this.running = this.runAll(runs, ground, AbortSignal.any([this.controller.signal, ground.closing])).finally(() => {
      this.running = undefined;
      this.changed.fire();
    });
    this.changed.fire();
    return null;
  }

  private check(runs: readonly ContentionRunOptions[]): void {
    const { translate } = this.parts;
    if (runs.length < 1 || runs.length > 2) throw new AppError('usage', translate('One run or two can be started.'));
    const words = {
      actors: translate('Actors'),
      updates: translate('Updates of each'),
      thinkMs: translate('Think time, ms'),
      maxAttempts: translate('Attempts at most'),
      seed: translate('Seed'),
    };
    for (const key of ['actors', 'updates', 'thinkMs', 'maxAttempts', 'seed'] as const) {
      const [least, most] = BOUNDS[key];
      if (runs.some((run) => run[key] < least || run[key] > most))
        throw new AppError(
          'usage',
          translate('{0}: a whole number from {1} to {2} is needed.', words[key], least, most),
        );
    }
  }

  private async runAll(all: readonly ContentionRunOptions[], ground: LabGround, signal: AbortSignal): Promise<void> {
    for (const options of all) {
      if (signal.aborted) return;
      await this.runOne(options, ground, signal);
    }
  }

  private async runOne(options: ContentionRunOptions, ground: LabGround, signal: AbortSignal): Promise<void> {
    const { clock, onError } = this.parts;
    const { runContention } = await import('../../lab/contention.ts');
    const { randomSuffix } = await import('../../lab/replay.ts');
    const startedAt = clock.now();
    const series = new AttemptSeries(startedAt);
    const run = newRun(options);
    this.runs.push(run);
    const show = (): void => {
      const { binMs, accepted, refused } = series;
      Object.assign(run, { binMs, acceptedBins: [...accepted], refusedBins: [...refused] });
      this.news.request();
    };
    try {
      const result = await runContention({
        ...options,
        server: ground.server,
        namespace: ground.namespace,
        clock,
        signal,
        suffix: randomSuffix(() => clock.random()),
        safeWriteLog: ground.safeWriteLog,
        onExchange: (exchange) => ground.onExchange(exchange),
        onLost: (atLeast) => {
          run.lost = Math.max(run.lost, atLeast);
        },
        onAttempt: ({ at, accepted }) => {
          series.add(at, accepted);
          run.attempts += 1;
          if (accepted) run.accepted += 1;
          else run.refused += 1;
          run.seconds = (clock.now() - startedAt) / 1000;
          show();
        },
        onProgress: ({ retried, gaveUp }) => Object.assign(run, { retried, gaveUp }),
      });
      const { accepted, refused, retried, attempts, gaveUp, lost, seconds } = result;
      Object.assign(run, {
        accepted,
        refused,
        retried,
        attempts,
        gaveUp,
        lost,
        seconds,
        lostIsFinal: true,
        phase: 'done',
      });
    } catch (error) {
      run.phase = isAppError(error, 'cancelled') && !ground.closing.aborted ? 'cancelled' : 'failed';
      if (run.phase === 'failed') {
        run.problem = reasonOf(error, ground, this.parts.translate);
        if (!isAppError(error, 'cancelled')) onError(error);
      }
    }
    show();
  }

  private async cancel(): Promise<null> {
    this.controller.abort();
    await this.running;
    return null;
  }
}

function newRun(options: ContentionRunOptions): Run {
  return {
    options,
    phase: 'running',
    accepted: 0,
    refused: 0,
    retried: 0,
    attempts: 0,
    gaveUp: 0,
    lost: 0,
    lostIsFinal: false,
    seconds: 0,
    binMs: 0,
    acceptedBins: [],
    refusedBins: [],
  };
}
