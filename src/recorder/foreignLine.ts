import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';

const REQUEST = ',"requestObject":';
const RESPONSE = ',"responseObject":';
const RECEIVED = ',"requestReceivedTimestamp":"';
const UPDATE = '"verb":"update"';
const METADATA = '"metadata":{';
const OWNERS = ',"managedFields":[';
const SPEC = '},"spec":{';
const STATUS = '},"status":{';
const PLAIN_MEMBERS = /^\{(?:"\w+":"[^"\\]*",)*$/;
const NUMBER = /(?<!\\)":(\d+)(?=[,}])/g;
const REF = /"objectRef":(\{[^{}]*\})/;
const FAR = 300;

/** What is asked of a line's object before its contents are left out. */
interface Foreign {
  /** Whether the object that `objectRef` names is one whose contents are not needed. */
  isForeign(ref: JsonObject): boolean;
  /** Whether an incarnation was seen in full before. */
  isSeen(uid: string): boolean;
}

/**
 * The audit event of an update in a line as API servers write them, without most of its two bodies, where the object is one
 * whose contents are not needed: what is left out is not even parsed, which is most of the work. Of a body remain what comes
 * before the managed fields in its metadata, and the whole numbers of its spec. Undefined where the line is any other, or
 * written in another order: then it is to be read in full.
 */
export function foreignUpdate(line: string, foreign: Foreign): JsonObject | undefined {
  const request = line.indexOf(REQUEST);
  const received = line.lastIndexOf(RECEIVED);
  if (request < 0 || received < request) return undefined;
  const head = line.slice(0, request);
  if (!head.includes(UPDATE)) return undefined;
  const text = REF.exec(head)?.[1];
  const named = text === undefined ? undefined : objectOf(text);
  if (named === undefined || !foreign.isForeign(named)) return undefined;
  const event = objectOf(head + line.slice(received));
  const ref = event?.['objectRef'];
  if (event === undefined || event['verb'] !== 'update' || !isJsonObject(ref) || ref['name'] !== named['name'])
    return undefined;
  if (ref['subresource'] !== undefined && ref['subresource'] !== 'status') return undefined;
  const response = line.indexOf(RESPONSE, request);
  const sent = slimBody(line.slice(request + REQUEST.length, response < 0 ? received : response), response < 0);
  if (sent === undefined || !foreign.isSeen(sent.uid)) return undefined;
  if (response < 0) return { ...event, requestObject: sent.body };
  const answer = slimBody(line.slice(response + RESPONSE.length, received), true);
  if (answer === undefined || answer.uid !== sent.uid) return undefined;
  const { resourceVersion: _other, ...place } = ref;
  const checked = sent.token === '' ? {} : { resourceVersion: sent.token };
  // Where the answer shows what is stored, the request need not say it: what it is checked by stands in the reference too.
  return { ...event, objectRef: { ...place, uid: sent.uid, ...checked }, responseObject: answer.body };
}

/** A body as typed objects are printed: kind and version, metadata with the managed fields last, spec, status. */
function slimBody(text: string, withNumbers: boolean): { body: JsonObject; uid: string; token: string } | undefined {
  const start = text.indexOf(METADATA);
  if (start < 0 || start > FAR || !PLAIN_MEMBERS.test(text.slice(0, start))) return undefined;
  const spec = text.indexOf(SPEC, start);
  const owners = text.indexOf(OWNERS, start);
  const end = owners >= 0 && owners < spec ? owners : spec;
  if (end < 0) return undefined;
  const body = objectOf(`${text.slice(0, end)}}}`);
  const metadata = body?.['metadata'];
  if (body === undefined || !isJsonObject(metadata)) return undefined;
  const { uid, resourceVersion } = metadata;
  if (typeof uid !== 'string' || typeof resourceVersion !== 'string') return undefined;
  if (!withNumbers) return { body, uid, token: resourceVersion };
  const status = text.lastIndexOf(STATUS);
  const desired = text.slice(spec, status < spec ? text.length : status);
  const numbers = [...new Set([...desired.matchAll(NUMBER)].map(([, digits]) => Number(digits)))];
  body['spec'] = Object.fromEntries(numbers.map((value, index) => [`n${index}`, value]));
  return { body, uid, token: resourceVersion };
}

/** The object that a text is; undefined where it is none. */
function objectOf(text: string): JsonObject | undefined {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    // It was cut where it does not end: the line is written in another order.
    return undefined;
  }
  return isJsonObject(value) ? value : undefined;
}
