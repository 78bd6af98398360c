import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { Anonymizer } from '../../core/anonymize.ts';
import { printTraceLine, traceHeader } from '../../core/trace.ts';
import type { TimelineSource } from '../timeline/timelineSource.ts';

/** Writes what a source exports to a file, which only its owner may read; `shared`: names and values replaced. */
export async function writeTrace(
  path: string,
  source: Pick<TimelineSource, 'clusterLabels' | 'exported'>,
  { creator, at }: { readonly creator: string; readonly at: number },
  shared: boolean,
  signal: AbortSignal,
): Promise<void> {
  const hide = shared ? new Anonymizer(randomBytes(16).toString('hex')) : undefined;
  const file = createWriteStream(path, { mode: 0o600, signal });
  const write = async (line: string): Promise<void> => {
    if (!file.write(line)) await once(file, 'drain', { signal });
  };
  const header = traceHeader(creator, source.clusterLabels(), at);
  await write(printTraceLine(hide === undefined ? header : hide.header(header)));
  for (const event of source.exported()) await write(printTraceLine(hide === undefined ? event : hide.event(event)));
  file.end();
  await once(file, 'close');
}
