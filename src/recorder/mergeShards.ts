import { message } from '../base/message.ts';
import { readFile } from 'node:fs/promises';
import { AppError, wordsOf } from '../base/appError.ts';
import { isJsonObject, parseJson, type Json, type JsonObject } from '../codec/json.ts';
import type { Finding } from '../core/findings/finding.ts';
import type { Mark } from '../core/findings/report/mark.ts';
import { inOrder } from './findingOrder.ts';
import { mergeMarks } from './marks.ts';

/** What all shards found together. */
export interface MergedFindings {
  readonly findings: Finding[];
  readonly events: number;
  readonly notAnalysed: Record<string, unknown>;
  readonly notes: string[];
  /** What a report shows of events. */
  readonly marks: Mark[];
}

/**
 * Puts the JSON of all shards of one analysis together. Every shard has seen all events and tells what it found of its own
 * objects, so that nothing is told twice and nothing lies between them.
 * @throws AppError `trace-unreadable` where a file is no shard's JSON, `usage` where shards are missing, come twice, or are of
 * different logs
 */
export async function mergeShards(files: readonly string[], signal: AbortSignal): Promise<MergedFindings> {
  const shards = await Promise.all(files.map((file) => readShard(file, signal)));
  checkComplete(shards);
  const [first = {}] = shards;
  const findings = inOrder(shards.flatMap((shard) => listOf<Finding>(shard['findings'])));
  return {
    findings,
    events: Number(first['events'] ?? 0),
    notAnalysed: countsOf(shards),
    notes: [...new Set(shards.flatMap((shard) => listOf<string>(shard['notes'])))],
    marks: mergeMarks(shards.map((shard) => listOf<Mark>(shard['marks']))),
  };
}

/** A shard need not read a line of another one to its end, so that one of them may have counted more that is unreadable. */
function countsOf(shards: readonly JsonObject[]): Record<string, unknown> {
  const counts: Record<string, unknown> = {};
  for (const shard of shards)
    for (const [what, value] of Object.entries(isJsonObject(shard['notAnalysed']) ? shard['notAnalysed'] : {})) {
      if (typeof value === 'number') counts[what] = Math.max(value, Number(counts[what] ?? 0));
      else counts[what] ??= value;
    }
  return counts;
}

function listOf<T>(value: Json | undefined): T[] {
  return Array.isArray(value) ? (value as unknown as T[]) : [];
}

async function readShard(file: string, signal: AbortSignal): Promise<JsonObject> {
  try {
    const value = parseJson(await readFile(file, { encoding: 'utf8', signal }));
    if (isShardJson(value)) return value;
  } catch (error) {
    throw new AppError('trace-unreadable', message`${file} cannot be read: ${wordsOf(error)}`, { cause: error });
  }
  throw new AppError('trace-unreadable', message`${file} is not the JSON of a shard.`, {
    advice: message`Give what \`analyze --shard i/n --format json\` printed.`,
  });
}

/** Whether a value is what a shard prints: what is read of it has the types that it is read as. */
function isShardJson(value: Json): value is JsonObject {
  if (!isJsonObject(value) || !isJsonObject(value['shard'])) return false;
  const { findings, marks = [], notes = [] } = value;
  return (
    isListOf(findings, isFinding) && isListOf(marks, isMark) && isListOf(notes, (note) => typeof note === 'string')
  );
}

function isListOf(value: Json | undefined, isItem: (item: Json) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem);
}

function isFinding(value: Json): boolean {
  return (
    isJsonObject(value) &&
    isJsonObject(value['object']) &&
    hasTexts(value['object'], ['group', 'resource', 'namespace', 'name', 'uid']) &&
    hasTexts(value, ['id', 'cluster', 'severity', 'sureness', 'explanation', 'remedy']) &&
    ['firstAt', 'lastAt', 'count'].every((field) => typeof value[field] === 'number') &&
    ['actors', 'fields', 'events'].every((field) => Array.isArray(value[field]))
  );
}

function isMark(value: Json): boolean {
  return (
    isJsonObject(value) &&
    hasTexts(value, ['object', 'uid', 'actor', 'kind']) &&
    ['seq', 'at'].every((field) => typeof value[field] === 'number') &&
    isListOf(value['text'], (part) => typeof part === 'string' || (isJsonObject(part) && hasTexts(part, ['token'])))
  );
}

function hasTexts(value: JsonObject, fields: readonly string[]): boolean {
  return fields.every((field) => typeof value[field] === 'string');
}

function checkComplete(shards: readonly JsonObject[]): void {
  const parts = shards.map((shard) => shard['shard'] as JsonObject);
  const count = Number(parts[0]?.['count'] ?? 0);
  const indexes = new Set(parts.map((part) => Number(part['index'])));
  if (parts.some((part) => Number(part['count']) !== count) || indexes.size !== count || parts.length !== count)
    throw new AppError('usage', message`These are not all ${count} shards of one analysis, each once.`);
  if (shards.some((shard) => Number(shard['events']) !== Number(shards[0]?.['events'])))
    throw new AppError('usage', message`These shards are not of the same files: they saw different numbers of events.`);
}
