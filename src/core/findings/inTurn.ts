/**
 * Those of an actor's refused requests that were sent when the one before had been answered (times in milliseconds, in the
 * order of the answers): what its threads had under way at the same time is no repetition.
 */
export function inTurn<T extends { readonly startedAt: number; readonly at: number }>(refused: readonly T[]): T[] {
  const turns: T[] = [];
  for (const item of refused) if (item.startedAt >= (turns.at(-1)?.at ?? item.startedAt)) turns.push(item);
  return turns;
}
