import type { IncarnationRecord, VersionRecord } from './historyRecords.ts';

/**
 * Order among the versions of one incarnation comes from streams: what a watch delivers next is the next version there is.
 * Tokens are only compared for equality. Versions that are known to follow each other directly form a run (`follows`), which
 * moves as one. A run is placed when something ties it to the others: a list (which says what is newest), a stream that
 * goes on from a placed version or leads to one, a write that was checked against the token of one. What nothing ties (a
 * write's answer, a single read) stands where it arrived.
 */

/**
 * Puts a version that was not known before into its incarnation. `stream` is absent for what came outside a stream; `live`
 * tells a change as it happened from an item of a list.
 */
export function placeSeen(
  incarnation: IncarnationRecord,
  version: VersionRecord,
  stream: string | undefined,
  live: boolean,
): void {
  const { versions } = incarnation;
  const before = stream === undefined || !live ? undefined : incarnation.lastFrom(stream);
  if (stream === undefined) incarnation.insert(version, versions.length);
  else if (!live) {
    incarnation.insert(version, versions.length);
    version.placed = true;
  } else if (before === undefined) {
    const isFirst = !versions.some((other) => other.placed);
    incarnation.insert(version, isFirst ? 0 : versions.length);
    version.placed = isFirst;
  } else {
    const end = runEnd(incarnation, before);
    incarnation.insert(version, end);
    version.placed = before.placed;
    version.follows = version.previous === before;
  }
  if (stream !== undefined) incarnation.delivered(stream, version);
}

/**
 * A stream delivered a version that is known already: ties it to what the stream delivered before, and says whether it is
 * superseded (a placed version stands behind it).
 */
export function placeDelivered(
  incarnation: IncarnationRecord,
  version: VersionRecord,
  stream: string,
  live: boolean,
): boolean {
  const before = live ? incarnation.lastFrom(stream) : undefined;
  if (before !== undefined) link(incarnation, before, version);
  else if (!version.placed && !live) {
    moveRun(incarnation, version, incarnation.versions.length);
    markPlaced(incarnation, version);
  } else if (!version.placed && !incarnation.versions.some((other) => other.placed)) markPlaced(incarnation, version);
  incarnation.delivered(stream, version);
  return version.placed && version.place + 1 < placedEnd(incarnation);
}

/** Ties a version to the one directly before it, unless what is known already speaks against it. */
export function link(incarnation: IncarnationRecord, before: VersionRecord, version: VersionRecord): void {
  if (before === version || version.follows || runEnd(incarnation, before) !== before.place + 1) return;
  const areApart = version.place !== before.place + 1;
  if (areApart && before.placed && version.placed) return;
  if (areApart && version.placed) moveRun(incarnation, before, version.place);
  else if (areApart) moveRun(incarnation, version, before.place + 1);
  version.follows = true;
  if (before.placed || version.placed) markPlaced(incarnation, version);
}

/** Puts a version that is known to be the first of all before the others. */
export function placeFirst(incarnation: IncarnationRecord, version: VersionRecord): void {
  if (version.placed) return;
  moveRun(incarnation, version, 0);
  markPlaced(incarnation, version);
}

function markPlaced(incarnation: IncarnationRecord, version: VersionRecord): void {
  const end = runEnd(incarnation, version);
  for (let place = runStart(incarnation, version); place < end; place += 1) {
    const member = incarnation.versions[place];
    if (member !== undefined) member.placed = true;
  }
}

/** Moves the run of a version so that it begins where `place` is now. */
function moveRun(incarnation: IncarnationRecord, version: VersionRecord, place: number): void {
  const start = runStart(incarnation, version);
  const end = runEnd(incarnation, version);
  if (place >= start && place <= end) return;
  incarnation.move(start, end, place);
}

/** The place of the first version of a run. */
function runStart(incarnation: IncarnationRecord, version: VersionRecord): number {
  let { place } = version;
  while (place > 0 && incarnation.versions[place]?.follows === true) place -= 1;
  return place;
}

/** The place after the last version of a run. */
function runEnd(incarnation: IncarnationRecord, version: VersionRecord): number {
  let place = version.place + 1;
  while (incarnation.versions[place]?.follows === true) place += 1;
  return place;
}

/** The place after the last placed version. */
function placedEnd(incarnation: IncarnationRecord): number {
  const { versions } = incarnation;
  let place = versions.length;
  while (place > 0 && versions[place - 1]?.placed !== true) place -= 1;
  return place;
}
