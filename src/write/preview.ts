import type { Server } from '../base/server.ts';
import { equalJson, type Json } from '../codec/json.ts';
import { diffObjects } from '../core/diff.ts';
import { noListSchema } from '../core/listSchema.ts';
import { withServerSet } from '../core/merge.ts';
import { formatPath } from '../codec/path.ts';
import type { Intent } from './intent.ts';
import { modify } from './modify.ts';
import type { ModifyOptions } from './options.ts';
import type { Report } from './report.ts';
import { replacedEntries, type ReplacedEntry } from './rekeyed.ts';
import { isSecret, type Target } from './target.ts';

/** One change that a write would make, as the server would store it. Values are left out for Secrets. */
export interface PreviewedChange {
  readonly path: string;
  readonly before?: Json;
  readonly after?: Json;
}

/** What a write would do. */
export interface Preview {
  /** The dry run's report: its outcome tells whether the write would be stored. */
  readonly report: Report;
  readonly changes: readonly PreviewedChange[];
  /** Entries of keyed lists that get another key; where that is all, they are not among the changes. */
  readonly replaced: readonly ReplacedEntry[];
  /** Removed lines that would not be absent but become another value, such as replicas 100 -> 1: each asks to be confirmed. */
  readonly resets: readonly PreviewedChange[];
}

/**
 * What a dry run tells before a write that has to be asked about. `known`: it would be stored, as the preview says. `nothing`:
 * there is nothing to store. `untold`: the dry run was refused as a request, which an admission webhook may do to dry runs
 * alone, so that the write is to be asked about without it. `ended`: the write ends as the dry run did, and stores nothing.
 */
export function foresight({ outcome }: Report): 'known' | 'nothing' | 'untold' | 'ended' {
  if (outcome === 'written') return 'known';
  if (outcome === 'unchanged') return 'nothing';
  return outcome === 'invalid' ? 'untold' : 'ended';
}

/** Asks the server, by a dry run of the safe write, what it would store; nothing is stored. */
export async function previewWrite(
  server: Server,
  target: Target,
  intent: Intent,
  options: ModifyOptions,
): Promise<Preview> {
  let before: Report['object'];
  const report = await modify(server, target, intent, {
    ...options,
    dryRun: true,
    onRead: (object) => {
      before = object;
    },
  });
  if (before === undefined || report.object === undefined || report.outcome !== 'written')
    return { report, changes: [], replaced: [], resets: [] };
  const after = withServerSet(before, report.object);
  const secret = isSecret(target);
  const { replaced, others } = replacedEntries(diffObjects(before, after, options.schema ?? noListSchema));
  const changes = others.map((change) => ({
    path: formatPath(change.path),
    ...(secret || change.before === undefined ? {} : { before: change.before }),
    ...(secret || change.after === undefined ? {} : { after: change.after }),
  }));
  const resets = (report.storedOtherwise ?? [])
    .filter(
      ({ asked, was, stored }) =>
        asked === undefined && was !== undefined && stored !== undefined && !equalJson(was, stored),
    )
    .map(({ path, was, stored }) => ({
      path,
      ...(was === undefined ? {} : { before: was }),
      ...(stored === undefined ? {} : { after: stored }),
    }));
  return { report, changes, replaced, resets };
}
