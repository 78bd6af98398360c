import { commands, l10n, window, type Uri } from 'vscode';
import { AppError } from '../../base/appError.ts';
import { cancelled } from '../../base/clock.ts';
import type { Incarnation, Version } from '../../core/history.ts';
import { describeActor } from '../tree/wording.ts';
import { versionDocument } from './objectCommands.ts';

const SHOWN = 50;

/** A version with the one that the stream delivered before it. */
interface Step {
  readonly before: Version;
  readonly after: Version;
}

/** The steps of an incarnation by who made them; a step whose content was not kept on both sides cannot be compared. */
function stepsByActor({ versions }: Incarnation): Map<string, Step[]> {
  const steps = versions.flatMap((after, index) => {
    const before = versions[index - 1];
    return before?.body === undefined || after.body === undefined || !after.placed ? [] : [{ before, after }];
  });
  return Map.groupBy(steps, ({ after }) => describeActor(after.actor));
}

/**
 * Asks for one of the actors of an incarnation and opens all that it changed, each step as a comparison, the newest first.
 * @throws AppError `usage` where nothing can be compared, `cancelled`
 */
export async function compareActor(incarnation: Incarnation): Promise<void> {
  const byActor = stepsByActor(incarnation);
  if (byActor.size === 0)
    throw new AppError('usage', l10n.t('No two versions of this incarnation were seen with their content.'));
  const items = [...byActor].map(([label, steps]) => ({
    label,
    description: l10n.t('{0} change(s)', steps.length),
    steps,
  }));
  const chosen = await window.showQuickPick(items, {
    title: l10n.t('Compare what which actor changed in {0}?', incarnation.name.name),
  });
  if (chosen === undefined) throw cancelled();
  const resources = chosen.steps
    .slice(-SHOWN)
    .reverse()
    .map(({ before, after }): [Uri, Uri, Uri] => {
      const right = versionDocument({ incarnation, token: after.token });
      return [right, versionDocument({ incarnation, token: before.token }), right];
    });
  const title = l10n.t('{0}: changes by {1}', incarnation.name.name, chosen.label);
  await commands.executeCommand('vscode.changes', title, resources);
}
