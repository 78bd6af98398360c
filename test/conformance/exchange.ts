import { Agent, request as send } from 'node:https';

/** A server that cases are run against. */
export interface Subject {
  readonly url: string;
  readonly token: string;
  readonly userToken: string;
  readonly agent: Agent;
}

/** Connects to a server whose certificate need not be known: the tests are about what it answers. */
export function subjectOf(server: { url: string; token: string; userToken: string }): Subject {
  return {
    url: server.url,
    token: server.token,
    userToken: server.userToken,
    agent: new Agent({ keepAlive: true, rejectUnauthorized: false }),
  };
}

/** A watch of a step: how many events to wait for, how long, and which steps to run once `after` events have come. */
export interface WatchSpec {
  readonly events: number;
  readonly timeoutMs?: number;
  readonly after?: number;
  readonly during?: readonly Step[];
}

/** One request of a case. See the index of the cases for what each member means. */
export interface Step {
  readonly id: string;
  readonly as?: 'admin' | 'alice' | 'none';
  readonly method?: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  readonly bodyFrom?: { readonly step: string; readonly patch?: readonly PatchOp[] };
  readonly watch?: WatchSpec;
  readonly until?: Readonly<Record<string, unknown>>;
  readonly only?: readonly string[];
  readonly hide?: boolean;
  readonly keepListRV?: boolean;
}

/** An operation that turns an earlier answer into a body; missing parents are made. */
export interface PatchOp {
  readonly op: 'add' | 'remove' | 'replace';
  readonly path: string;
  readonly value?: unknown;
}

/** What came back: a body, or the events of a watch and how it ended. */
export interface Reply {
  status: number;
  headers: Record<string, unknown>;
  body?: unknown;
  end?: string;
}

/** A request ready to be sent. */
export interface Wire {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string | number>;
  readonly body: string | undefined;
  readonly watch: WatchSpec | undefined;
}

const REPLY_TIMEOUT_MS = 70_000;
const WATCH_TIMEOUT_MS = 3000;

/** Sends one request. `onOpen` runs once a watch has seen `after` events. */
export function exchange(subject: Subject, wire: Wire, onOpen: () => Promise<void>): Promise<Reply> {
  const { watch } = wire;
  return new Promise((resolve) => {
    const reply: Reply = { status: 0, headers: {} };
    let text = '';
    let events: unknown[] | undefined;
    let opened = false;
    let settled = false;
    const finish = (end: string): void => {
      if (settled) return;
      settled = true;
      clearTimeout(timer);
      if (events !== undefined) reply.end = end;
      if (events !== undefined || end === 'timeout') request.destroy();
      const body = events ?? (text === '' ? undefined : parsed(text));
      if (body !== undefined) reply.body = body;
      resolve(reply);
    };
    const timer = setTimeout(
      () => finish('timeout'),
      watch === undefined ? REPLY_TIMEOUT_MS : (watch.timeoutMs ?? WATCH_TIMEOUT_MS),
    );
    const connection =
      watch === undefined ? { agent: subject.agent } : { agent: false as const, rejectUnauthorized: false };
    const request = send(
      subject.url + wire.path,
      { method: wire.method, headers: wire.headers, ...connection },
      (response) => {
        reply.status = response.statusCode ?? 0;
        reply.headers = keptHeaders(response.headersDistinct);
        if (watch !== undefined && reply.status === 200) events = [];
        const open = (): void => {
          if (opened || watch === undefined || (events?.length ?? 0) < (watch.after ?? 0)) return;
          opened = true;
          void onOpen();
        };
        open();
        response.setEncoding('utf8');
        response.on('data', (chunk: string) => {
          text += chunk;
          if (watch !== undefined && events !== undefined) text = takeLines(text, events, watch.events);
          open();
          if (watch !== undefined && (events?.length ?? -1) >= watch.events) finish('count');
        });
        response.on('end', () => finish('server'));
        response.on('error', () => finish('server'));
      },
    );
    request.on('error', (error: NodeJS.ErrnoException) => {
      if (reply.status === 0) reply.headers['error'] = error.code ?? error.message;
      finish('error');
    });
    request.end(wire.body);
  });
}

/** Moves whole lines into events, up to so many; answers what is left of the text. */
function takeLines(text: string, events: unknown[], most: number): string {
  let rest = text;
  for (let end = rest.indexOf('\n'); end >= 0 && events.length < most; end = rest.indexOf('\n')) {
    events.push(parsed(rest.slice(0, end)));
    rest = rest.slice(end + 1);
  }
  return rest;
}

function keptHeaders(headers: NodeJS.Dict<string[]>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  const type = headers['content-type']?.[0];
  if (type !== undefined) kept['content-type'] = type.split(';')[0];
  for (const name of ['retry-after', 'warning']) if (headers[name] !== undefined) kept[name] = headers[name];
  return kept;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
