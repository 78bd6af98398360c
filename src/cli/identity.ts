import { isJsonObject, type JsonObject } from '../codec/json.ts';
import { tokenBadge } from '../core/tokenBadge.ts';

/** What tells one version of one incarnation from all others. A member is left out where the object does not have it. */
export interface Identity {
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
  readonly token: string;
  readonly generation?: number;
  readonly observedGeneration?: number;
  readonly creationTimestamp?: string;
  readonly deletionTimestamp?: string;
  /** Names of the field managers, each once, in the server's order. */
  readonly managers: readonly string[];
}

const SHORT_UID = 8;

/** The identity of an object as the server sent it. */
export function identityOf(object: JsonObject): Identity {
  const metadata = isJsonObject(object['metadata']) ? object['metadata'] : {};
  const status = isJsonObject(object['status']) ? object['status'] : {};
  const text = (name: string): string | undefined => {
    const value = metadata[name];
    return typeof value === 'string' && value !== '' ? value : undefined;
  };
  const { generation, managedFields } = metadata;
  const { observedGeneration } = status;
  const entries = Array.isArray(managedFields) ? managedFields.filter(isJsonObject) : [];
  const managers = entries.map((entry) => entry['manager']).filter((manager) => typeof manager === 'string');
  const [namespace, creationTimestamp, deletionTimestamp] = [
    text('namespace'),
    text('creationTimestamp'),
    text('deletionTimestamp'),
  ];
  return {
    ...(namespace === undefined ? {} : { namespace }),
    name: text('name') ?? '',
    uid: text('uid') ?? '',
    token: text('resourceVersion') ?? '',
    ...(typeof generation === 'number' ? { generation } : {}),
    ...(typeof observedGeneration === 'number' ? { observedGeneration } : {}),
    ...(creationTimestamp === undefined ? {} : { creationTimestamp }),
    ...(deletionTimestamp === undefined ? {} : { deletionTimestamp }),
    managers: [...new Set(managers)],
  };
}

/** A table of identities. Tokens are shown as badges that tell equal from different, unless raw ones are asked for. */
export function identityTable(
  identities: readonly Identity[],
  options: { now: number; namespaces: boolean; rawTokens: boolean },
): string {
  const head = [
    ...(options.namespaces ? ['NAMESPACE'] : []),
    'NAME',
    'UID',
    'TOKEN',
    'GENERATION',
    'OBSERVED',
    'AGE',
    'MANAGERS',
  ];
  const rows = identities.map((identity) => [
    ...(options.namespaces ? [identity.namespace ?? ''] : []),
    identity.name + (identity.deletionTimestamp === undefined ? '' : ' (terminating)'),
    shortUid(identity.uid),
    options.rawTokens ? identity.token : tokenBadge(identity.uid, identity.token, []).code,
    String(identity.generation ?? '-'),
    String(identity.observedGeneration ?? '-'),
    ageOf(identity.creationTimestamp, options.now),
    identity.managers.join(',') || '-',
  ]);
  return columns([head, ...rows]);
}

/** The beginning of a UID, enough for a person to tell two apart. */
export function shortUid(uid: string): string {
  return uid.slice(0, SHORT_UID);
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_cell, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, index) => cell.padEnd(widths[index] ?? 0))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}

/** An age as kubectl shows it: the two largest units at most. */
function ageOf(timestamp: string | undefined, now: number): string {
  const created = timestamp === undefined ? Number.NaN : Date.parse(timestamp);
  if (Number.isNaN(created)) return '-';
  const seconds = Math.max(0, Math.floor((now - created) / 1000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 172_800) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}
