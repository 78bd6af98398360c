import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';

import { Canon, type CanonicalStep } from './canon.ts';
import { exchange, type Reply, type Step, type Subject } from './exchange.ts';
import { editDocument, isRecord, lookup } from './pointer.ts';

/** A request sequence. */
export interface Case {
  readonly name: string;
  readonly area: string;
  readonly teaches: string;
  readonly steps: readonly Step[];
}

interface Run {
  readonly subject: Subject;
  readonly namespace: string;
  readonly id: string;
  readonly results: Map<string, unknown>;
  gaveUp: boolean;
}

const UNTIL_MS = 10_000;
const POLL_MS = 60;
const LETTERS = 'bcdfghjklmnpqrstvwxz';

const randomName = (): string => [...randomBytes(9)].map((byte) => LETTERS[byte % LETTERS.length] ?? 'b').join('');

/** Runs a case in a namespace of its own and answers its canonical replies. `source` is the case's text. */
export async function runCase(subject: Subject, source: string): Promise<CanonicalStep[]> {
  const sequence = JSON.parse(source) as Case;
  const run: Run = {
    subject,
    namespace: `ns${randomName()}`,
    id: `q${randomName()}`,
    results: new Map(),
    gaveUp: false,
  };
  const canon = new Canon(source, { [run.namespace]: '{ns}', [run.id]: '{id}' });
  const namespaced = source.includes('{ns}');
  if (namespaced)
    await runStep(run, {
      id: 'ns',
      method: 'POST',
      path: '/api/v1/namespaces',
      body: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: run.namespace } },
    });
  const replies: CanonicalStep[] = [];
  const garbage: string[] = [];
  for (const step of sequence.steps) {
    const reply = await runStep(run, step);
    run.results.set(step.id, reply.body);
    if (reply.status === 201 && !step.path.includes('/namespaces/')) garbage.push(pathOf(step, reply));
    if (step.hide !== true) replies.push(canon.reply(reply, step));
  }
  for (const path of garbage.reverse()) await runStep(run, { id: 'clean', method: 'DELETE', path });
  if (source.includes('/services'))
    await runStep(run, { id: 'clean', method: 'DELETE', path: `/api/v1/namespaces/${run.namespace}/services` });
  if (namespaced) await runStep(run, { id: 'clean', method: 'DELETE', path: `/api/v1/namespaces/${run.namespace}` });
  // As a recording holds them: an absent member and a list's hole are what JSON makes of them.
  return JSON.parse(JSON.stringify(replies)) as CanonicalStep[];
}

function pathOf(step: Step, reply: Reply): string {
  return step.method === 'POST' ? `${step.path}/${String(lookup(reply.body, '/metadata/name'))}` : step.path;
}

async function runStep(run: Run, given: Step): Promise<Reply> {
  const step = fill({ ...given, only: undefined }, run) as Step;
  const tokens = { admin: run.subject.token, alice: run.subject.userToken, none: undefined };
  const token = tokens[step.as ?? 'admin'];
  const headers: Record<string, string | number> = { 'user-agent': 'conform/1.0', accept: 'application/json' };
  if (token !== undefined) headers['authorization'] = `Bearer ${token}`;
  const body = bodyOf(run, step);
  if (body !== undefined)
    Object.assign(headers, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
  for (const [name, value] of Object.entries(step.headers ?? {})) {
    if (value === null) delete headers[name.toLowerCase()];
    else headers[name.toLowerCase()] = value;
  }
  const query = step.query === undefined ? '' : `?${new URLSearchParams(step.query).toString()}`;
  const wire = { method: step.method ?? 'GET', path: step.path + query, headers, body, watch: step.watch };
  const during = async (): Promise<void> => {
    for (const inner of given.watch?.during ?? []) run.results.set(inner.id, (await runStep(run, inner)).body);
  };
  const deadline = Date.now() + (run.gaveUp ? 0 : UNTIL_MS);
  for (;;) {
    const reply = await exchange(run.subject, wire, during);
    const met = isMet(step, reply);
    if (!met && Date.now() > deadline) run.gaveUp = true;
    if (met || run.gaveUp) return reply;
    await delay(POLL_MS);
  }
}

function isMet(step: Step, reply: Reply): boolean {
  return Object.entries(step.until ?? {}).every(([path, wanted]) => {
    const found = path === 'status' ? reply.status : lookup(reply.body, path);
    return JSON.stringify(found) === JSON.stringify(wanted);
  });
}

function bodyOf(run: Run, step: Step): string | undefined {
  if (step.bodyFrom !== undefined) {
    const source = run.results.get(step.bodyFrom.step);
    return JSON.stringify(editDocument(isRecord(source) ? structuredClone(source) : {}, step.bodyFrom.patch ?? []));
  }
  if (step.body === undefined) return undefined;
  return typeof step.body === 'string' ? step.body : JSON.stringify(step.body);
}

/** Fills {ns}, {id}, {pad:N} and ${step.path.to.field} in every string. */
function fill(value: unknown, run: Run): unknown {
  if (typeof value === 'string') {
    return value
      .replaceAll('{ns}', run.namespace)
      .replaceAll('{id}', run.id)
      .replace(/\{pad:(\d+)\}/g, (_all, count: string) => 'x'.repeat(Number(count)))
      .replace(/\$\{([^}]+)\}/g, (_all, expression: string) => {
        const [step = '', ...keys] = expression.split('.');
        const found = keys.reduce<unknown>(
          (object, key) => (isRecord(object) ? object[key] : undefined),
          run.results.get(step),
        );
        return found === undefined
          ? `missing:${expression}`
          : typeof found === 'string'
            ? found
            : JSON.stringify(found);
      });
  }
  if (Array.isArray(value)) return value.map((item) => fill(item, run));
  return isRecord(value)
    ? Object.fromEntries(Object.entries(value).map(([key, item]) => [String(fill(key, run)), fill(item, run)]))
    : value;
}
