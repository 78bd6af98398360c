import type { Server } from '../base/server.ts';
import { stringifyJson, type Json } from '../codec/json.ts';
import { formatPath } from '../codec/path.ts';
import type { Change } from '../core/diff.ts';
import type { Intent } from './intent.ts';
import type { ModifyOptions } from './options.ts';
import { previewWrite, type Preview } from './preview.ts';
import type { Report } from './report.ts';
import type { Target } from './target.ts';

/** What is done around the question. */
interface Steps {
  /**
   * Asks a person about what would be stored; a no throws. `unasked`: it is to be stored whatever it is by then. A report:
   * the write ends so without storing anything. `again`: somebody changed what the question before was about.
   */
  readonly ask: (preview: Preview, again: boolean) => Promise<'agreed' | 'unasked' | Report>;
  /** Sends what was confirmed. */
  readonly send: (target: Target, options: Pick<ModifyOptions, 'onPlan'>) => Promise<Report>;
}

/**
 * Asks about what a write would store, by a dry run, and then writes that and nothing else: to the incarnation that was asked
 * about, and only as long as the same change comes out of the newest version. Where it does not, nothing is sent, and the
 * question is asked anew about the newest.
 */
export async function confirmedWrite(
  server: Server,
  target: Target,
  intent: Intent,
  options: ModifyOptions,
  { ask, send }: Steps,
): Promise<Report> {
  for (let again = false; ; again = true) {
    const agreed = new Map<string | undefined, string>();
    const preview = await previewWrite(server, target, intent, {
      ...options,
      onPlan: ({ subresource, changes }) => {
        agreed.set(subresource, printed(changes));
        return true;
      },
    });
    const answer = await ask(preview, again);
    if (answer === 'unasked') return send(target, {});
    if (answer !== 'agreed') return answer;
    let overtaken = false;
    const { uid = target.uid } = preview.report;
    const report = await send(
      { ...target, ...(uid === undefined ? {} : { uid }) },
      {
        onPlan: ({ subresource, changes }) => {
          overtaken = agreed.get(subresource) !== printed(changes);
          return !overtaken;
        },
      },
    );
    if (!overtaken) return report;
  }
}

/** Changes as a text that is the same for the same changes. */
function printed(changes: readonly Change[]): string {
  const text = (value: Json | undefined): string => (value === undefined ? '' : stringifyJson(value));
  return changes
    .map(({ kind, path, before, after }) => [kind, formatPath(path), text(before), text(after)].join('\0'))
    .sort()
    .join('\n');
}
