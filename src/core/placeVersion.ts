import type { IncarnationRecord, VersionRecord } from './historyRecords.ts';

/**
 * Order among the versions of one incarnation comes from streams: what one stream delivers later is newer. Tokens are only
 * compared for equality. What no stream has delivered yet (a write's answer, a single read) stands where it arrived and is
 * not `placed`; the stream that delivers its token places it.
 */

/** Puts a version that was not known before into its incarnation. `stream` is absent for what came outside a stream. */
export function placeSeen(
  incarnation: IncarnationRecord,
  version: VersionRecord,
  stream: string | undefined,
  live: boolean,
): void {
  const { versions } = incarnation;
  if (stream === undefined) {
    incarnation.insert(version, versions.length);
    return;
  }
  const before = incarnation.lastFrom(stream);
  const end = placedEnd(incarnation);
  version.placed = true;
  if (!live) incarnation.insert(version, versions.length);
  else if (before === undefined || before.place + 1 >= end || isUnbroken(incarnation, before.place + 1, end)) {
    incarnation.insert(version, end);
    version.follows = before !== undefined && before.place + 1 === end;
  } else {
    incarnation.insert(version, firstBreak(incarnation, before.place + 1, end));
    version.follows = version.previous === before;
  }
  incarnation.delivered(stream, version);
}

/** The place after the last placed version. */
function placedEnd(incarnation: IncarnationRecord): number {
  const { versions } = incarnation;
  let place = versions.length;
  while (place > 0 && versions[place - 1]?.placed !== true) place -= 1;
  return place;
}

/** Whether each version from `from` to before `to` is known to follow the one before it directly: nothing fits between. */
function isUnbroken(incarnation: IncarnationRecord, from: number, to: number): boolean {
  return firstBreak(incarnation, from, to) === to;
}

function firstBreak(incarnation: IncarnationRecord, from: number, to: number): number {
  for (let place = from; place < to; place += 1) if (incarnation.versions[place]?.follows !== true) return place;
  return to;
}

/**
 * A stream delivered a version that is known already: places it if it was not, and says whether it is superseded (a placed
 * version that came to us earlier stands behind it).
 */
export function placeDelivered(
  incarnation: IncarnationRecord,
  version: VersionRecord,
  stream: string,
  live: boolean,
): boolean {
  const before = incarnation.lastFrom(stream);
  if (!version.placed) {
    const end = live ? placedEnd(incarnation) : version.place;
    if (version.place > end) incarnation.move(version, end);
    version.placed = true;
    version.follows ||= live && before !== undefined && version.previous === before;
  } else if (live && before !== undefined && version.previous === before) version.follows = true;
  incarnation.delivered(stream, version);
  return version.place + 1 < placedEnd(incarnation);
}
