import { listed, message } from '../base/message.ts';
import type { Server } from '../base/server.ts';
import { carry } from './carrier.ts';
import type { WriteContext } from './context.ts';
import type { Intent } from './intent.ts';
import { defaultAttempts, type ModifyOptions } from './options.ts';
import type { PartEnd, PartReport } from './endings.ts';
import { PartWriter } from './part.ts';
import type { Report } from './report.ts';
import { reported } from './reported.ts';
import { describeTarget, identityOf, isSecret, metadataOf, type Target } from './target.ts';

/** Runs a safe write: its one part, or two where a desire of spec and status has two endpoints. */
export async function runModify(
  server: Server,
  target: Target,
  intent: Intent,
  options: ModifyOptions,
): Promise<Report> {
  const maxAttempts = options.maxAttempts ?? defaultAttempts[intent.kind === 'function' ? 'function' : 'edits'];
  return await reported(server, target, { ...options, maxAttempts }, async (context) => {
    const { report } = await runParts(context, intent);
    return report;
  });
}

async function runParts(context: WriteContext, intent: Intent): Promise<PartEnd> {
  const { target, options } = context;
  const { subresource, uid } = target;
  if (subresource !== undefined && options.subresources !== undefined && !options.subresources.includes(subresource)) {
    return {
      report: {
        outcome: 'unsupported',
        message: message`${describeTarget(target)} has no subresource "${subresource}".`,
      },
    };
  }
  const other = otherObject(context, intent);
  if (other !== undefined) return { report: other };
  const carrier = carry(intent, context.schema, isSecret(target));
  if (uid !== undefined && carrier.uid !== undefined && uid !== carrier.uid) {
    const said = message`The edits were made of another object than is meant: of ${carrier.uid}, and not of ${uid}.`;
    return { report: { outcome: 'recreated', uid: carrier.uid, holder: uid, message: said } };
  }
  if (carrier.nothingAgainst !== undefined) return { report: nothing(carrier.nothingAgainst) };
  const first = await new PartWriter(context, { carrier, subresource, uid: uid ?? carrier.uid }).run();
  if (first.rest === undefined || !isDone(first.report)) return first;
  const second = await new PartWriter(context, {
    carrier: carry({ kind: 'edits', ...first.rest }, context.schema),
    subresource: 'status',
    uid: first.report.uid,
    ...(first.report.object === undefined ? {} : { start: first.report.object }),
    name: 'status',
  }).run();
  return { report: joined(first.report, second.report) };
}

/** Edits that were made of an object of another name, namespace or kind, where they say so. */
function otherObject(context: WriteContext, intent: Intent): PartReport | undefined {
  if (intent.kind !== 'edits' || context.target.subresource === 'scale') return undefined;
  const { name, namespace, kind } = context.target;
  for (const object of [intent.base, intent.desired]) {
    const metadata = metadataOf(object);
    const told = { name: metadata['name'], namespace: metadata['namespace'], kind: object['kind'] };
    const isOther = (field: 'name' | 'namespace' | 'kind'): boolean =>
      typeof told[field] === 'string' && told[field] !== { name, namespace, kind }[field];
    if (!isOther('name') && !isOther('namespace') && !isOther('kind')) continue;
    const said = message`The edits are of another object than ${describeTarget(context.target)}.`;
    return { outcome: 'invalid', message: said };
  }
  return undefined;
}

function nothing(base: NonNullable<Report['object']>): PartReport {
  const { uid, token, generation } = identityOf(base);
  return {
    outcome: 'unchanged',
    ...(uid === '' ? {} : { uid }),
    ...(token === '' ? {} : { token }),
    ...(generation === undefined ? {} : { generation }),
    object: base,
  };
}

function isDone(report: PartReport): boolean {
  return report.outcome === 'written' || report.outcome === 'unchanged';
}

/** Two parts as one report: partly written unless both were. */
function joined(main: PartReport, status: PartReport): PartReport {
  const owned = [...(main.owned ?? []), ...(status.owned ?? [])];
  const different = [...(main.storedOtherwise ?? []), ...(status.storedOtherwise ?? [])];
  const both: PartReport = {
    ...main,
    ...status,
    ...(owned.length === 0 ? {} : { owned }),
    ...(different.length === 0 ? {} : { storedOtherwise: different }),
    ...(main.desiredStateChanged === undefined ? {} : { desiredStateChanged: main.desiredStateChanged }),
  };
  if (isDone(status)) return { ...both, outcome: main.outcome === 'written' ? 'written' : status.outcome };
  if (main.outcome !== 'written') return both;
  const ended = message`All but status is saved, status is not: it ended ${status.outcome}.`;
  return {
    ...both,
    outcome: 'partly-written',
    message: status.message === undefined ? ended : listed([ended, status.message], ' '),
  };
}
