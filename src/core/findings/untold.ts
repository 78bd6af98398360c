/** What happened again and again: how often by now, and how many of these were told. */
export interface Counted {
  total: number;
  told: number;
}

/** How many were not told yet; they are now. */
export function untoldOf(run: Counted): number {
  const untold = run.total - run.told;
  run.told = run.total;
  return untold;
}
