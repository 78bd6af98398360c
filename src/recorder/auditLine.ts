import { DEEPEST, isJsonObject, isTooDeep, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import { HOLE, HOLE_TEXT, LastTexts } from './lastTexts.ts';

const REQUEST = ',"requestObject":';
const RESPONSE = ',"responseObject":';
const RECEIVED = ',"requestReceivedTimestamp":"';
const OWNERS = ',"managedFields":';
const SPEC = ',"spec":';
const STATUS = ',"status":';
/** How many levels lie above a part of a body at most: the event, the body, its metadata. */
const ABOVE = 3;

type Part = 'managedFields' | 'spec' | 'status';

/** A part of a text: the member whose value it is, the member that holds it, if any, and where the value begins and ends. */
interface Cut<Member extends string> {
  readonly within?: string;
  readonly member: Member;
  readonly start: number;
  readonly end: number;
}

/**
 * Parses the lines of an audit log. Most of what they hold was said of the same object just before, letter by letter, and is
 * not parsed again: values are shared between events and not to be changed.
 */
export class AuditLines {
  private readonly last: Readonly<Record<Part, LastTexts>> = {
    managedFields: new LastTexts(shallow),
    spec: new LastTexts(shallow),
    status: new LastTexts(shallow),
  };

  /**
   * The event of a line; undefined where it is nested too deeply.
   * @throws AppError `invalid-json`
   */
  parse(line: string): Json | undefined {
    const event = joined(line, bodiesOf(line), (text, _member, envelope) => {
      const place = placeOf(envelope['objectRef']);
      return place === undefined ? shallow(text) : this.body(place, text);
    });
    if (event !== undefined) return event;
    const value = parseJson(line);
    return isTooDeep(value) ? undefined : value;
  }

  private body(place: string, text: string): Json | undefined {
    return joined(text, partsOf(text), (part, member) => this.last[member].get(place, part));
  }
}

/** What names one object, nearly: two that share it only cost time. Undefined for a list, or where there is no name yet. */
function placeOf(ref: Json | undefined): string | undefined {
  if (!isJsonObject(ref)) return undefined;
  const { resource, namespace = '', name } = ref;
  return typeof resource === 'string' && typeof namespace === 'string' && typeof name === 'string'
    ? `${resource} ${namespace} ${name}`
    : undefined;
}

/**
 * The object that a text is, its parts parsed each by itself. Undefined where that cannot be: an API server writes in one
 * order, others need not. A part that is JSON, in a text that is JSON with something else at the part's place and has that
 * where the part is expected, is what the whole text has there.
 */
function joined<Member extends string>(
  text: string,
  cuts: readonly Cut<Member>[],
  read: (part: string, member: Member, rest: JsonObject) => Json | undefined,
): JsonObject | undefined {
  let rest = '';
  let at = 0;
  for (const { start, end } of cuts) {
    if (end < start) return undefined;
    rest += text.slice(at, start) + HOLE_TEXT;
    at = end;
  }
  const whole = shallow(rest + text.slice(at));
  if (!isJsonObject(whole)) return undefined;
  for (const { within, member, start, end } of cuts) {
    const holder = within === undefined ? whole : whole[within];
    if (!isJsonObject(holder) || holder[member] !== HOLE) return undefined;
    const part = read(text.slice(start, end), member, whole);
    if (part === undefined) return undefined;
    holder[member] = part;
  }
  return whole;
}

/** The value of a text, which is nowhere so deep that it would be too deep as a part of an event; undefined where it has none. */
export function shallow(text: string): Json | undefined {
  let value: Json;
  try {
    value = parseJson(text);
  } catch {
    // It was cut where it does not end: the line is written in another order.
    return undefined;
  }
  return isTooDeep(value, DEEPEST - ABOVE) ? undefined : value;
}

/** The bodies stand between what was asked and when it was. */
function bodiesOf(line: string): Cut<'requestObject' | 'responseObject'>[] {
  const request = line.indexOf(REQUEST);
  const response = line.indexOf(RESPONSE, Math.max(request, 0));
  const first = request < 0 ? response : request;
  const end = first < 0 ? -1 : line.lastIndexOf(RECEIVED);
  if (end < first || first < 0) return [];
  const cuts: Cut<'requestObject' | 'responseObject'>[] = [];
  if (request >= 0)
    cuts.push({ member: 'requestObject', start: request + REQUEST.length, end: response < 0 ? end : response });
  if (response >= 0) cuts.push({ member: 'responseObject', start: response + RESPONSE.length, end });
  return cuts;
}

/** The parts of an object that are the same in many of its versions. */
function partsOf(body: string): Cut<Part>[] {
  const cuts: Cut<Part>[] = [];
  const owners = body.indexOf(OWNERS);
  const spec = body.indexOf(SPEC, owners);
  if (owners >= 0) {
    const start = owners + OWNERS.length;
    // Mostly they are the last of the metadata, after which the desired state comes.
    const end = body.startsWith('}]}', spec - 3) ? spec - 1 : body.indexOf('}]', start) + 2;
    cuts.push({ within: 'metadata', member: 'managedFields', start, end });
  }
  if (spec < 0) return cuts;
  const status = body.lastIndexOf(`${STATUS}{`);
  const last = body.length - 1;
  cuts.push({ member: 'spec', start: spec + SPEC.length, end: status > spec ? status : last });
  if (status > spec) cuts.push({ member: 'status', start: status + STATUS.length, end: last });
  return cuts;
}
