import type { Browser } from 'playwright-core';

/** A task of the page's main thread, in milliseconds of the processor and of the clock. */
export interface Task {
  readonly cpuMs: number;
  readonly wallMs: number;
}

interface TraceEvent {
  readonly ph: string;
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The tasks of the busiest page's main thread while something runs, the longest by processor time first. The processor time
 * is that of the thread itself, so what else the machine does meanwhile counts for nothing.
 */
export async function tasksWhile(browser: Browser, run: () => Promise<void>): Promise<Task[]> {
  const session = await browser.newBrowserCDPSession();
  const events: TraceEvent[] = [];
  session.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])));
  await session.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['toplevel', '__metadata'] },
  });
  await run();
  const complete = new Promise((resolve) => session.once('Tracing.tracingComplete', resolve));
  await session.send('Tracing.end');
  await complete;
  await session.detach();
  const mains = new Set(
    events
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  );
  const tasks = events.filter(
    ({ ph, name, pid, tid }) => ph === 'X' && name.endsWith('RunTask') && mains.has(`${pid} ${tid}`),
  );
  const totals = new Map<number, number>();
  for (const { pid, tdur = 0 } of tasks) totals.set(pid, (totals.get(pid) ?? 0) + tdur);
  const busiest = [...totals].sort((a, b) => b[1] - a[1])[0]?.[0];
  return tasks
    .filter(({ pid }) => pid === busiest)
    .map(({ tdur = 0, dur = 0 }) => ({ cpuMs: tdur / 1000, wallMs: dur / 1000 }))
    .sort((a, b) => b.cpuMs - a.cpuMs);
}
