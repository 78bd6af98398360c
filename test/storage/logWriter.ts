// Appends to the log in a folder until it is killed, and says which event was flushed last.
import { openLog } from '../../src/storage/logFiles.ts';

const [folder = ''] = process.argv.slice(2);
const log = await openLog(folder, { maxBytes: 10_000_000, maxAgeMs: 3_600_000 }, { flushMs: 1 });
for (let seq = 1; ; seq += 1) {
  log.append({ type: 'note', seq, at: seq, via: 'list', cluster: 'c1', text: 'x'.repeat(seq % 300) });
  if (seq % 100 !== 0) continue;
  await log.flush();
  process.stdout.write(`${seq}\n`);
}
