import { message } from '../base/message.ts';
import { AppError, isAppError } from '../base/appError.ts';
import { throwIfAborted } from '../base/clock.ts';
import type { Disposable } from '../base/disposable.ts';
import type { GapEvent, Token } from '../core/traceEvent.ts';
import { appErrorOf } from './answers.ts';
import { Backoff } from './backoff.ts';
import type { Cluster } from './cluster.ts';
import { after } from './limits.ts';
import { defaultPageSize, listPages } from './list.ts';
import type { Bodies } from './selection.ts';
import { Sharing } from './sharing.ts';
import type { WatchOptions, WatchSink, WatchState, WatchTarget } from './watch.ts';
import { usableToken, WatchFeed, type Seen } from './watchFeed.ts';
import { runWatch, type WatchEnd, type WatchMessage } from './watchStream.ts';

const IDLE_MS = 75_000;
/** Up to so many objects, `auto` reads them whole. */
const SMALL = 2000;
/** With more than this still to come, whole objects are streamed instead of paged, where the server offers it. */
const STREAM_FROM = 5000;
const WATCH_SECONDS = 300;
/** A watch that lived this long did its work: the next one starts at once. */
const HEALTHY_MS = 5000;
/** After so long the waits begin small again. */
const LONG_LIFE_MS = 60_000;
/** After an opened watch stayed so long without refusal, its token was good. */
const RESUMED_MS = 2000;
const STATE_EVERY_MS = 1000;
const REFUSALS_BEFORE_RELIST = 3;
const SILENCES_BEFORE_RELIST = 2;
const PERSON_NEEDED = [
  'unauthenticated',
  'forbidden',
  'not-found',
  'tls-untrusted',
  'credentials-failed',
  'kubeconfig-malformed',
  'unknown-resource',
  'invalid-request',
] as const;

/** The life of one watch: list, watch, and what to do when either ends. */
export class Watcher {
  private readonly cluster: Cluster;
  private readonly target: WatchTarget;
  private readonly sink: WatchSink;
  private readonly options: WatchOptions;
  private readonly signal: AbortSignal;
  private readonly feed: WatchFeed;
  private readonly backoff: Backoff;
  private bodies: Bodies;
  private token: Token | undefined;
  private streamInitial = false;
  private streamingRefused = false;
  private lastHeardAt: number | undefined;
  private lastStateAt = Number.NEGATIVE_INFINITY;
  private isLive = false;
  private inRow = { refused: 0, expired: 0, silent: 0 };

  constructor(cluster: Cluster, target: WatchTarget, sink: WatchSink, options: WatchOptions, signal: AbortSignal) {
    this.cluster = cluster;
    this.target = target;
    this.sink = sink;
    this.options = options;
    this.signal = signal;
    this.feed = new WatchFeed(cluster, target, sink, options, signal);
    this.backoff = new Backoff(cluster.clock);
    this.bodies = target.bodies === 'metadata' ? 'metadata' : 'whole';
  }

  async run(): Promise<void> {
    try {
      for (;;) {
        throwIfAborted(this.signal);
        if (this.token === undefined && !this.streamInitial) await this.list();
        if (this.token !== undefined || this.streamInitial) await this.watch();
      }
    } catch (error) {
      if (!this.signal.aborted) throw error;
    }
  }

  private async list(): Promise<void> {
    this.tell({ phase: 'listing', listed: 0 });
    try {
      await this.feed.identify();
      while (!(await this.readPages())) this.bodies = 'metadata';
    } catch (error) {
      throwIfAborted(this.signal);
      await this.waitAfter(appErrorOf(error));
    }
  }

  /** False where there are too many objects to read them whole: then nothing was taken, and metadata is to be read. */
  private async readPages(): Promise<boolean> {
    let seen: Seen[] = [];
    let token: Token | undefined;
    const sharing = new Sharing();
    this.feed.beginStream();
    for await (const page of listPages(this.cluster, this.target, this.bodies, this.signal, this.options.pageSize)) {
      this.heard();
      if (page.page === 0) seen = [];
      const expected = seen.length + page.items.length + (page.remaining ?? 0);
      if (this.target.bodies === 'auto' && this.bodies === 'whole' && expected > SMALL) return false;
      if (this.bodies === 'whole' && (page.remaining ?? 0) > STREAM_FROM && !this.streamingRefused) {
        this.streamInitial = true;
        return true;
      }
      for (const event of this.feed.listed(page.items)) {
        sharing.share(event);
        seen.push(event);
      }
      this.tell({ phase: 'listing', listed: seen.length });
      token = page.token;
    }
    await this.feed.replaceAll(seen);
    this.token = token === undefined ? undefined : usableToken(token);
    return true;
  }

  private async watch(): Promise<void> {
    const { clock } = this.cluster;
    const initial: Seen[] | undefined = this.streamInitial ? [] : undefined;
    const life = { openedAt: undefined as number | undefined, progressed: false, listing: initial };
    let resumed: Disposable | undefined;
    const settle = (): void => {
      resumed?.dispose();
      if (life.listing === undefined)
        this.feed.closeGap(life.openedAt ?? clock.now(), {
          detail: 'resumed: nothing was missed, only late',
          resumed: true,
        });
    };
    const end = await runWatch(
      {
        cluster: this.cluster,
        selection: this.target,
        bodies: this.bodies,
        token: this.token,
        timeoutSeconds: Math.round(WATCH_SECONDS * (1 + clock.random())),
        idleMs: this.options.idleMs ?? IDLE_MS,
      },
      {
        opened: () => {
          life.openedAt = clock.now();
          if (initial !== undefined) return;
          this.tell({ phase: 'live' });
          if (this.feed.isInGap) resumed = after(clock, RESUMED_MS, settle);
        },
        heard: () => {
          this.heard();
          this.inRow.silent = life.openedAt === undefined ? this.inRow.silent : 0;
        },
        message: async (message) => {
          if (this.feed.isInGap) settle();
          if (message.type !== 'BOOKMARK') life.progressed = true;
          if (life.listing === undefined) await this.take(message);
          else if (await this.takeInitial(message, life.listing)) life.listing = undefined;
        },
      },
      this.signal,
    ).finally(() => resumed?.dispose());
    this.isLive = false;
    const livedMs = life.openedAt === undefined ? 0 : clock.now() - life.openedAt;
    if (life.progressed) this.inRow = { refused: 0, expired: 0, silent: 0 };
    if (life.progressed || livedMs >= LONG_LIFE_MS) this.backoff.reset();
    if (life.listing !== undefined) await this.streamingFailed(end);
    else await this.ended(end, livedMs);
  }

  private async take(message: WatchMessage): Promise<void> {
    if (message.type !== 'BOOKMARK') await this.feed.changed(message.type, message.object);
    this.token = usableToken(message.token) ?? this.token;
  }

  /** Collects a streaming list; true at its end, when everything that is there has come. */
  private async takeInitial(message: WatchMessage, seen: Seen[]): Promise<boolean> {
    if (message.type !== 'BOOKMARK') {
      if (message.type !== 'DELETED') seen.push(...this.feed.listed([message.object]));
      if (seen.length % defaultPageSize.whole === 0) this.tell({ phase: 'listing', listed: seen.length });
      return false;
    }
    if (!message.isInitialEnd) return false;
    await this.feed.replaceAll(seen);
    this.token = usableToken(message.token);
    this.streamInitial = false;
    this.tell({ phase: 'live' });
    return true;
  }

  /** The list is paged from now on. */
  private async streamingFailed(end: WatchEnd): Promise<void> {
    this.streamInitial = false;
    this.streamingRefused = true;
    if ('error' in end && end.kind !== 'refused') await this.waitAfter(end.error);
  }

  private async ended(end: WatchEnd, livedMs: number): Promise<void> {
    switch (end.kind) {
      case 'closed':
        if (livedMs < HEALTHY_MS)
          await this.waitInGap('connection-lost', 'the server closed the watch early', this.backoff.next());
        return;
      case 'idle':
        this.feed.openGap('idle', this.lastHeardAt, 'not a byte came for too long');
        this.inRow.silent += 1;
        if (this.inRow.silent >= SILENCES_BEFORE_RELIST) this.token = undefined;
        return;
      case 'expired':
        this.feed.openGap('expired', this.lastHeardAt, 'the server no longer has the changes since the last one seen');
        this.token = undefined;
        this.inRow.expired += 1;
        if (this.inRow.expired > 1) await this.waitAfter(end.error);
        return;
      case 'garbled':
        this.feed.openGap('error', this.lastHeardAt, end.error.message);
        this.token = undefined;
        await this.waitAfter(end.error);
        return;
      case 'lost':
        this.feed.openGap('connection-lost', this.lastHeardAt, end.error.message);
        await this.waitAfter(end.error);
        return;
      case 'refused':
      case 'error':
        this.feed.openGap('error', this.lastHeardAt, end.error.message);
        this.inRow.refused += 1;
        if (this.inRow.refused >= REFUSALS_BEFORE_RELIST) this.token = undefined;
        await this.waitAfter(end.error, end.retryAfterMs);
    }
  }

  private async waitInGap(cause: GapEvent['cause'], detail: string, ms: number): Promise<void> {
    this.feed.openGap(cause, this.lastHeardAt, detail);
    await this.wait(ms);
  }

  private async waitAfter(error: AppError, retryAfterMs?: number): Promise<void> {
    const asked = retryAfterMs ?? error.details['retryAfterMs'];
    await this.wait(this.backoff.next(typeof asked === 'number' ? asked : 0), error);
  }

  private async wait(ms: number, error?: AppError): Promise<void> {
    const phase = error !== undefined && isAppError(error, ...PERSON_NEEDED) ? 'failed' : 'waiting';
    this.tell({ phase, retryAt: this.cluster.clock.now() + ms, ...(error === undefined ? {} : { error }) });
    await this.cluster.clock.delay(ms, this.signal);
  }

  private heard(): void {
    const now = this.cluster.clock.now();
    this.lastHeardAt = now;
    if (this.isLive && now - this.lastStateAt >= STATE_EVERY_MS) this.tell({ phase: 'live' });
  }

  private tell(state: Omit<WatchState, 'lastHeardAt' | 'known'>): void {
    this.isLive = state.phase === 'live';
    this.lastStateAt = this.cluster.clock.now();
    const whole: WatchState = {
      ...state,
      known: this.feed.known.size,
      ...(this.lastHeardAt === undefined ? {} : { lastHeardAt: this.lastHeardAt }),
    };
    try {
      this.sink.state(whole);
    } catch (error) {
      this.options.onProblem?.(
        new AppError('internal', message`What shows the state of a watch failed.`, {
          advice: message`The watch goes on.`,
          cause: error,
        }),
      );
    }
  }
}
