import { Message, type Words } from '../base/message.ts';
import { stringifyJson, type Json, type JsonObject } from '../codec/json.ts';
import type { AttemptOutcome, Cause, FieldConflict, FinalOutcome, Strategy } from './outcome.ts';

/** Who made progress in between: a field manager's entry that changed, and the fields it changed. */
export interface Winner {
  readonly manager: string;
  readonly operation: string;
  readonly subresource?: string;
  readonly time?: string;
  readonly fields: readonly string[];
}

/** One attempt: a read, and a write if there was something to write. */
export interface Attempt {
  /** From 1. */
  readonly attempt: number;
  readonly outcome: AttemptOutcome;
  /** The HTTP status of what decided it. */
  readonly code?: number;
  readonly reason?: string;
  readonly message?: Words;
  /** The token that this attempt's content was computed from, and that it sent. */
  readonly basedOn?: string;
  /** For an attempt whose answer was lost: what reading told later. */
  readonly settled?: 'stored' | 'not-stored' | 'unknown';
  /** The part of a write that is two: `main`, then `status`. */
  readonly part?: 'main' | 'status';
  readonly wonBy?: readonly Winner[];
}

/** A path at which the server stored something else than was asked. Values are left out where nothing is there. */
export interface StoredOtherwise {
  readonly path: string;
  readonly asked?: Json;
  readonly stored?: Json;
  /** The value before the write: `100`, where a removed line became the default `1`. */
  readonly was?: Json;
  /** Who else owns a field that stayed though this manager gave it up. */
  readonly keptBy?: readonly string[];
}

/** A field of the intent that another manager owns. */
export interface Owned {
  readonly path: string;
  readonly manager: string;
  readonly operation?: string;
  readonly subresource?: string;
  readonly time?: string;
}

/** A field that two changed differently. Values are left out where nothing is there, and for Secrets. */
export interface Conflict {
  readonly path: string;
  readonly base?: Json;
  readonly theirs?: Json;
  readonly yours?: Json;
}

/** All that is known of a safe write when it ends. */
export interface Report {
  readonly outcome: FinalOutcome;
  /** The incarnation that was meant. */
  readonly uid?: string;
  /** The token of the last version known: the stored one after a write. */
  readonly token?: string;
  readonly generation?: number;
  readonly attempts: readonly Attempt[];
  readonly storedOtherwise?: readonly StoredOtherwise[];
  readonly owned?: readonly Owned[];
  readonly conflicts?: readonly Conflict[];
  /** Owners per field, for `field-conflict`. */
  readonly fieldConflicts?: readonly FieldConflict[];
  /** What the server named as wrong, for `invalid` and its like. */
  readonly causes?: readonly Cause[];
  /** The media types the server takes instead, for an unsupported patch. */
  readonly accepted?: readonly string[];
  /** The incarnation that holds the name now, for `recreated`. */
  readonly holder?: string;
  /** One sentence of what happened, where the outcome alone does not tell. */
  readonly message?: Words;
  /** The strategy that was used, where it is not the one that was asked for. */
  readonly strategy?: Strategy;
  readonly dryRun?: boolean;
  /** Whether the write changed the desired state as the resource defines it: its generation moved. */
  readonly desiredStateChanged?: boolean;
  /** What waiting for a controller told, where it was asked for. */
  readonly observed?: {
    readonly outcome: string;
    readonly token: string;
    readonly missing: readonly string[];
    readonly message?: Words;
  };
  /** The stored object after a write, or the newest read; for the caller, never printed. */
  readonly object?: JsonObject;
  /** The three sides of a decision; for the caller, never printed. */
  readonly sides?: { readonly base: JsonObject; readonly theirs: JsonObject; readonly yours: JsonObject };
}

/** The report as `modify -o json` prints it: a contract. What does not apply is left out. */
export function printReport(report: Report): string {
  const { object: _object, sides: _sides, ...printed } = report;
  return stringifyJson(dropAbsent(printed));
}

function dropAbsent(value: unknown): Json {
  if (value instanceof Message) return String(value);
  if (Array.isArray(value)) return value.map((item: unknown) => dropAbsent(item));
  if (typeof value !== 'object' || value === null) return value as Json;
  const kept = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(kept.map(([key, item]) => [key, dropAbsent(item)]));
}
