import type { ApiRequest } from './apiRequest.ts';
import { EventStream } from './eventStream.ts';
import type { Feed } from './feed.ts';
import { faultStatus, meets, mutateObject, type FaultMatch, type Faults, type FaultSubject } from './faults.ts';
import { Heartbeats } from './heartbeats.ts';
import type { Exchange } from './http.ts';
import { isWatch, refusal, route, type Address, type WatchAnswer } from './router.ts';
import type { ApiState } from './state.ts';
import { Watch, type WatchSink } from './watch.ts';

/** An open watch and whose it is. */
interface OpenWatch {
  readonly watch: Watch;
  readonly subject: FaultSubject;
  cut(): void;
}

/** Answers exchanges: faults, then the API, then the feed. Holds the open watches. */
export class RequestServer {
  private readonly state: ApiState;
  private readonly faults: Faults;
  private readonly feed: Feed;
  private readonly watches = new Set<OpenWatch>();
  private readonly heartbeats: Heartbeats;
  private readonly stopped = new AbortController();
  private readonly onRequest: () => void;

  constructor(state: ApiState, faults: Faults, feed: Feed, onRequest: () => void) {
    this.onRequest = onRequest;
    this.state = state;
    this.heartbeats = new Heartbeats(state.clock);
    this.faults = faults;
    this.feed = feed;
  }

  /** Answers one request. */
  async handle(exchange: Exchange, address: Address): Promise<void> {
    const { request } = exchange;
    this.onRequest();
    const subject = subjectOf(request);
    const startedAt = this.state.clock.now();
    for (const { ms } of this.faults.take('latency', subject)) await this.state.clock.delay(ms, this.stopped.signal);
    const [refusing] = [...this.faults.take('throttle', subject), ...this.faults.take('error', subject)];
    if (refusing !== undefined) {
      const answer = refusal(request, faultStatus(refusing), []);
      this.feed.answered(request, answer, { startedAt, stored: false, lost: false });
      exchange.answer(answer);
      return;
    }
    const before = this.state.store.revision;
    const answer = await this.routed(request, subject, address);
    if (isWatch(answer)) {
      this.open(exchange, answer, subject);
      return;
    }
    const lost = this.faults.take('lost-answer', subject).length > 0;
    this.feed.answered(request, answer, { startedAt, stored: this.state.store.revision !== before, lost });
    if (lost) exchange.drop();
    else exchange.answer(answer);
  }

  /** Routes a request with the changes of mutating webhooks that meet it. */
  private async routed(request: ApiRequest, subject: FaultSubject, address: Address): ReturnType<typeof route> {
    const patches = ['create', 'update', 'patch'].includes(request.info.verb)
      ? this.faults.take('mutate', subject)
      : [];
    if (patches.length === 0) return route(this.state, request, address);
    const mutating: ApiState = {
      ...this.state,
      mutate: (object) => {
        for (const { patch } of patches) mutateObject(object, patch);
      },
    };
    return route(mutating, request, address);
  }

  private open(exchange: Exchange, answer: WatchAnswer, subject: FaultSubject): void {
    const { request, response } = exchange;
    const stream = new EventStream(response, answer.contentType);
    const sink: WatchSink = {
      write: (line) => {
        stream.write(line);
        this.feed.delivered(request, line);
      },
      end: () => {
        stream.end();
      },
      get backlog() {
        return stream.backlog;
      },
    };
    const watch = new Watch(this.state, answer.watch, sink, this.heartbeats);
    const open: OpenWatch = { watch, subject, cut: () => exchange.drop() };
    this.watches.add(open);
    response.on('close', () => {
      watch.stop();
      this.watches.delete(open);
    });
    stream.start(() => watch.start(answer.from));
  }

  /** Cuts the connection of matching watches without an end; answers how many. */
  cutWatches(match: FaultMatch): number {
    return this.eachWatch(match, (open) => open.cut());
  }

  /** Ends matching watches with the event of an expired version; answers how many. */
  expireWatches(match: FaultMatch): number {
    return this.eachWatch(match, (open) => open.watch.expire());
  }

  /** How many watches are open. */
  get watchCount(): number {
    return this.watches.size;
  }

  /** Ends all watches and waits no longer for anything. */
  stop(): void {
    this.stopped.abort();
    for (const open of this.watches) open.watch.stop();
    this.watches.clear();
  }

  private eachWatch(match: FaultMatch, act: (open: OpenWatch) => void): number {
    const found = [...this.watches].filter((open) => meets(match, open.subject));
    for (const open of found) act(open);
    return found.length;
  }
}

function subjectOf(request: ApiRequest): FaultSubject {
  return { info: request.info, user: request.user.name, agent: request.userAgent.split('/')[0] ?? '' };
}
