import { isJsonObject, type Json, type JsonObject } from '../codec/json.ts';
import { releases } from '../core/endingWrite.ts';
import { deletedFrom } from '../core/observe.ts';
import { hideSecrets, isSecretResource } from '../core/secrets.ts';
import { withoutSecretWords } from '../core/secretRefusal.ts';
import type { Actor, NewTraceEvent, ObjectName, WriteEvent } from '../core/traceEvent.ts';
import { readBody, type BodyRead } from './bodyText.ts';
import type { GivenObject } from './given.ts';
import { answerOf, type Answer } from './outcome.ts';
import type { Recording } from './recording.ts';
import { nameOf, type RequestInfo } from './requestInfo.ts';
import type { Ending } from './tap.ts';
import { patchTypeOf, writeRequest, type WriteRequest } from './writeRequest.ts';

const MAX_GIVEN = 500;
/** What is known of a write whose answer did not come. */
const BROKEN_OFF = {
  complete: 'failed',
  'client-gone': 'cancelled',
  'server-gone': 'uncertain',
  unsent: 'unavailable',
} as const;

/** Turns one exchange into events: `read` and `observed` for what was given, `write` and `observed` for what was written. */
export class ExchangeRecord {
  private readonly recording: Recording;
  private readonly info: RequestInfo;
  private readonly actor: Actor;
  private readonly contentType: string | undefined;
  private readonly startedAt: number;
  private readonly stream: string | undefined;
  private status = 0;
  private total = 0;
  private write: WriteRequest | undefined;
  private body: BodyRead | undefined;
  private base: Pick<WriteEvent, 'basedOn' | 'paths'> = {};

  constructor(
    recording: Recording,
    info: RequestInfo,
    actor: Actor,
    contentType: string | undefined,
    startedAt: number,
  ) {
    this.recording = recording;
    this.info = info;
    this.actor = actor;
    this.contentType = contentType;
    this.startedAt = startedAt;
    this.stream = info.verb === 'watch' ? recording.nextStream() : undefined;
    recording.touched(info);
  }

  /** The request's body is complete (or too large to be kept). */
  requested(bytes: Buffer | undefined, size: number): void {
    const patchType = this.info.verb === 'patch' ? patchTypeOf(this.contentType ?? '') : undefined;
    this.body =
      bytes === undefined
        ? { notAnalysed: `${this.contentType ?? 'no media type'}, ${size} bytes` }
        : readBody(bytes, this.contentType ?? 'application/json', this.recording.parseYaml);
    this.write = writeRequest(this.info, patchType, this.body.value);
    if (this.write === undefined) return;
    const sent = isJsonObject(this.body.value) && !('notAnalysed' in this.body) ? this.body.value : undefined;
    const whole = this.write.verb === 'replace' ? sent : undefined;
    const uid = this.write.preconditions?.uid ?? this.recording.uidGiven(this.actor, nameOf(this.info));
    if (this.write.verb !== 'create')
      this.base = this.recording.baseOf(this.actor, uid, this.write.preconditions?.token, whole);
  }

  answered(status: number): void {
    this.status = status;
  }

  /** Objects that the answer gave, as they came. */
  gave(objects: readonly GivenObject[]): void {
    const { info, recording } = this;
    if (info.verb !== 'get' && info.verb !== 'list' && info.verb !== 'watch') return;
    if (
      this.status < 200 ||
      this.status >= 300 ||
      (info.subresource !== undefined && info.subresource !== 'status' && info.subresource !== 'scale')
    )
      return;
    for (const item of objects) {
      this.observe(item);
      if (item.notAnalysed !== undefined) recording.notAnalysed('reads', item.notAnalysed);
    }
    for (let at = 0; at < objects.length; at += MAX_GIVEN) {
      this.total += objects.length;
      const given = objects.slice(at, at + MAX_GIVEN).map((item) => item.given);
      recording.add(this.readEvent(info.verb, given));
      for (const item of given) recording.give(this.actor, true, { ...nameOf(info), ...item }, item.uid, item.token);
    }
  }

  /** The exchange is over. `lost`: why its answer could not be read. */
  ended(ending: Ending, answer: BodyRead | undefined, lost: string | undefined): void {
    const { info, recording } = this;
    const complete = ending === 'complete';
    if (lost !== undefined && (complete || info.verb === 'watch')) recording.lost(info, this.startedAt, lost);
    if (this.write !== undefined) this.endWrite(this.write, ending, answer);
    else if (info.verb === 'get' || info.verb === 'list') {
      if (this.total === 0 && complete && this.status !== 0)
        recording.add({ ...this.readEvent(info.verb, []), ...(this.status === 200 ? {} : { code: this.status }) });
      if (info.verb === 'get' && this.status === 404 && info.subresource === undefined && isMissing(answer)) {
        recording.add({
          type: 'absent',
          at: recording.now(),
          via: 'recorder',
          cluster: recording.cluster,
          name: nameOf(info),
          how: '404',
        });
      }
      if (answer !== undefined && 'notAnalysed' in answer) recording.notAnalysed('reads', answer.notAnalysed);
    }
  }

  private readEvent(verb: 'get' | 'list' | 'watch', given: GivenObject['given'][]): NewTraceEvent {
    const { info, recording } = this;
    const version = info.query.get('resourceVersion') ?? '';
    const exact = info.query.get('resourceVersionMatch') === 'Exact';
    return {
      type: 'read',
      at: recording.now(),
      via: 'recorder',
      cluster: recording.cluster,
      actor: this.actor,
      verb,
      scope: {
        group: info.group,
        resource: info.resource,
        ...(info.namespace === '' ? {} : { namespace: info.namespace }),
        ...(info.name === '' ? {} : { name: info.name }),
        ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
      },
      given,
      cacheAllowed: verb === 'watch' || (version !== '' && !exact),
      request: `${verb} ${info.resource}`,
    };
  }

  private observe(item: GivenObject): void {
    const { info, recording } = this;
    const { uid, token } = item.given;
    if (!item.whole || info.subresource === 'scale') return;
    const covered = recording.isFollowed(info, item.given.namespace);
    const selective = info.query.has('labelSelector') || info.query.has('fieldSelector');
    const stream = covered || selective || this.stream === undefined ? undefined : this.stream;
    const name: ObjectName = {
      group: info.group,
      resource: info.resource,
      namespace: item.given.namespace,
      name: item.given.name,
    };
    if (item.change === 'DELETED') {
      if (stream !== undefined) this.addDeleted(item.object, name, stream);
      return;
    }
    if (!recording.isNew(uid, token, stream !== undefined)) return;
    recording.observe(item.object, {
      resource: info,
      ...(stream === undefined ? {} : { stream, ...(item.change === undefined ? {} : { change: item.change }) }),
    });
  }

  private addDeleted(object: JsonObject, name: ObjectName, stream: string): void {
    const { recording, info } = this;
    const event = deletedFrom(object, recording.context({ resource: info, stream }));
    if (event !== undefined && name.name !== '') recording.add(event);
  }

  private endWrite(write: WriteRequest, ending: Ending, answer: BodyRead | undefined): void {
    const { recording, info } = this;
    if (write.verb === 'create' && (isReview(info.resource) || (info.name !== '' && info.subresource !== 'status')))
      return;
    const complete = ending === 'complete';
    const unread = answer === undefined || 'notAnalysed' in answer;
    const said: Answer =
      complete || (ending === 'client-gone' && this.status !== 0)
        ? hidden(answerOf(write.verb, this.status, answer?.value), info)
        : { outcome: BROKEN_OFF[ending], code: this.status };
    const dryRun = write.dryRun === true;
    const stored = complete && !dryRun && said.outcome === 'accepted';
    const whole = stored && !unread && isJsonObject(answer.value) ? answer.value : undefined;
    const name = writtenName(info, answer?.value, this.body?.value);
    const result = dryRun ? undefined : said.result;
    const unchanged =
      stored &&
      result !== undefined &&
      write.verb !== 'create' &&
      write.verb !== 'delete' &&
      result.token !== '' &&
      this.isNoOp(result.token, result.uid, write, whole);
    const note = this.body !== undefined && 'notAnalysed' in this.body ? this.body.notAnalysed : undefined;
    if (note !== undefined) recording.notAnalysed('writes', note);
    const { manager, ...rest } = write;
    recording.add({
      type: 'write',
      at: recording.now(),
      via: 'recorder',
      cluster: recording.cluster,
      actor: { ...this.actor, ...(manager === undefined ? {} : { manager }) },
      name,
      ...(info.subresource === undefined ? {} : { subresource: info.subresource }),
      ...rest,
      ...this.base,
      ...(note === undefined ? {} : { notAnalysed: note }),
      ...this.sentBody(note),
      startedAt: this.startedAt,
      ...said,
      ...(unchanged ? { outcome: 'unchanged' } : {}),
      ...(result === undefined ? {} : { result }),
    });
    if (result !== undefined && result.token !== '' && stored && write.verb !== 'delete')
      recording.give(this.actor, false, name, result.uid, result.token);
    const parent = info.subresource === undefined || info.subresource === 'status';
    if (
      whole !== undefined &&
      parent &&
      write.verb !== 'delete' &&
      write.verb !== 'deletecollection' &&
      !releases(write.verb, whole)
    ) {
      if (result !== undefined && recording.isNew(result.uid, result.token, false))
        recording.observe(whole, { resource: info });
    }
  }

  /** The answer has the token that was known as the current one before. */
  private isNoOp(token: string, uid: string, write: WriteRequest, whole: JsonObject | undefined): boolean {
    if (releases(write.verb, whole)) return false;
    return token === write.preconditions?.token || this.recording.wasKnown(uid, token, this.startedAt);
  }

  private sentBody(note: string | undefined): { body?: Json } {
    const value = this.body?.value;
    if (value === undefined || value === null || note !== undefined || !this.recording.keepBodies) return {};
    return { body: isSecretResource(this.info) ? hideSecrets(value, this.recording.secretKey) : value };
  }
}

/** Of a Secret, without the words that may repeat it. */
function hidden(said: Answer, info: RequestInfo): Answer {
  return isSecretResource(info) ? withoutSecretWords(said) : said;
}

function isReview(resource: string): boolean {
  return resource.endsWith('reviews');
}

function isMissing(answer: BodyRead | undefined): boolean {
  return (
    isJsonObject(answer?.value) &&
    isJsonObject(answer.value['details']) &&
    typeof answer.value['details']['name'] === 'string'
  );
}

/** A create is named by its answer, or by its body where that was refused. */
function writtenName(info: RequestInfo, answer: Json | undefined, sent: Json | undefined): ObjectName {
  if (info.name !== '') return nameOf(info);
  const named = (value: Json | undefined): string => {
    const metadata = isJsonObject(value) && value['kind'] !== 'Status' ? value['metadata'] : undefined;
    return isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  };
  return { ...nameOf(info), name: named(answer) || named(sent) };
}
