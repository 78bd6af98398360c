import { message } from '../base/message.ts';
import { readFile } from 'node:fs/promises';
import { AppError, wordsOf } from '../base/appError.ts';
import { isJsonObject, parseJson, type JsonObject } from '../codec/json.ts';
import type { Finding } from '../core/findings/finding.ts';
import { crossFindings, type Facts } from './crossFacts.ts';

/** What all shards found together. */
export interface MergedFindings {
  readonly findings: Finding[];
  readonly events: number;
  readonly notAnalysed: Record<string, unknown>;
  readonly notes: string[];
}

const BETWEEN =
  'Between objects of different shards only references are looked at: children created twice for one owner (stale-read/duplicate-create) and acting on what belongs to a new parent (stale-incarnation-write) are found where both are in one shard, or without --shard.';

/**
 * Puts the JSON of all shards of one analysis together, and looks at what lies between objects of different shards.
 * @throws AppError `trace-unreadable` where a file is no shard's JSON, `usage` where shards are missing or come twice
 */
export async function mergeShards(files: readonly string[], signal: AbortSignal): Promise<MergedFindings> {
  const shards = await Promise.all(files.map((file) => readShard(file, signal)));
  checkComplete(shards);
  const facts = shards.map((shard) => shard['facts'] as unknown as Facts);
  const findings = unique(
    shards.flatMap((shard) => (Array.isArray(shard['findings']) ? (shard['findings'] as unknown as Finding[]) : [])),
  );
  const counts: Record<string, unknown>[] = shards.map((shard) =>
    isJsonObject(shard['notAnalysed']) ? shard['notAnalysed'] : {},
  );
  const notAnalysed: Record<string, unknown> = {};
  for (const count of counts)
    for (const [what, value] of Object.entries(count)) {
      if (typeof value === 'number') notAnalysed[what] = Math.max(value, Number(notAnalysed[what] ?? 0));
      else notAnalysed[what] ??= value;
    }
  const notes = [
    ...new Set(shards.flatMap((shard) => (Array.isArray(shard['notes']) ? shard['notes'].map(String) : []))),
  ];
  if (shards.length > 1) notes.push(BETWEEN);
  const events = shards.reduce((most, shard) => Math.max(most, Number(shard['events'] ?? 0)), 0);
  return { findings: [...findings, ...crossFindings(facts, findings)], events, notAnalysed, notes };
}

async function readShard(file: string, signal: AbortSignal): Promise<JsonObject> {
  try {
    const value = parseJson(await readFile(file, { encoding: 'utf8', signal }));
    if (isJsonObject(value) && isJsonObject(value['facts']) && isJsonObject(value['shard'])) return value;
  } catch (error) {
    throw new AppError('trace-unreadable', message`${file} cannot be read: ${wordsOf(error)}`, { cause: error });
  }
  throw new AppError('trace-unreadable', message`${file} is not the JSON of a shard.`, {
    advice: message`Give what \`analyze --shard i/n --format json\` printed.`,
  });
}

function checkComplete(shards: readonly JsonObject[]): void {
  const parts = shards.map((shard) => shard['shard'] as JsonObject);
  const count = Number(parts[0]?.['count'] ?? 0);
  const indexes = new Set(parts.map((part) => Number(part['index'])));
  if (parts.every((part) => Number(part['count']) === count) && indexes.size === count && parts.length === count)
    return;
  throw new AppError('usage', message`These are not all ${count} shards of one analysis, each once.`);
}

/** What belongs to all shards (a gap) is told by each of them. */
function unique(findings: readonly Finding[]): Finding[] {
  const seen = new Map<string, Finding>();
  for (const finding of findings)
    seen.set(
      JSON.stringify([finding.id, finding.kind, finding.object, finding.actors, finding.fields, finding.events]),
      finding,
    );
  return [...seen.values()].sort((a, b) => a.firstAt - b.firstAt);
}
