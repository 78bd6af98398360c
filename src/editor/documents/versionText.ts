import { l10n } from 'vscode';
import { printYaml } from '../../codec/yamlPrint.ts';
import { AppError } from '../../base/appError.ts';
import type { TraceSources } from '../trace/traceSources.ts';
import type { DocumentAddress } from './address.ts';
import { shownOf } from './hiddenValues.ts';

/**
 * The text of one version as it was seen.
 * @throws AppError `not-found` where the log does not have its content
 */
export function versionText(
  sources: TraceSources,
  { object, token }: Extract<DocumentAddress, { type: 'version' }>,
): string {
  const found = sources.find(object.cluster, object.uid, token);
  if (found === undefined) throw new AppError('not-found', l10n.t('The log does not know this version any more.'));
  const { body } = found.version;
  if (body === undefined)
    throw new AppError('not-found', l10n.t('The content of this version was not kept.'), {
      advice: l10n.t('Set "objectVersions.log.keepBodies" to keep contents from now on.'),
    });
  return printYaml(shownOf(body, undefined));
}
