import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AppError, isAppError } from '../base/appError.ts';
import type { Clock } from '../base/clock.ts';
import { systemClock } from '../base/clock.ts';
import { printTraceLine, traceHeader, TraceReader, type TraceProblem } from '../core/trace.ts';
import type { ClusterLabels, NoteEvent, TraceEvent } from '../core/traceEvent.ts';
import { LineFile, storageFailed, type LineFileOptions } from './lineFile.ts';
import { readTraceFile } from './traceFile.ts';

/** Bounds of a log on disk. */
export interface LogLimits {
  /** All segments together, in bytes; the oldest segments are deleted first. */
  readonly maxBytes: number;
  /** Segments that were last written longer ago than this are deleted, in milliseconds. */
  readonly maxAgeMs: number;
}

/** What a log on disk needs besides its bounds; all have defaults. */
export interface LogOptions extends LineFileOptions {
  readonly clock?: Clock;
  /** What writes it, such as `object-versions/0.1.0`. */
  readonly creator?: string;
  /** What the clusters of the events are called, asked when a segment begins and when `nameClusters` says that it changed. */
  readonly clusters?: () => ClusterLabels;
  /** Told when the disk fails, once until it works again. Appending goes on in any case. */
  readonly onProblem?: (error: AppError) => void;
}

/** A problem of one segment. */
export interface SegmentProblem extends TraceProblem {
  readonly file: string;
}

/** The log on disk: a folder of segments, each a trace of its own. */
export interface LogFiles {
  /** Never waits and never fails: what cannot be written is reported, counted, and noted in the log when the disk works again. */
  append(event: TraceEvent): void;
  /** The clusters are called otherwise than they were: the log says so, as its events name them by id only. */
  nameClusters(): void;
  /** What the segments that the last `readAll` has read so far call the clusters. */
  readonly clusters: ClusterLabels;
  /** All events of all segments that are there now, oldest first, those just appended included. */
  readAll(): AsyncGenerator<TraceEvent, void, undefined>;
  /** What the last `readAll` found wrong: torn tails, damaged lines, segments of a newer version. */
  readonly problems: readonly SegmentProblem[];
  /** Resolves when all that was appended is in the file, or lost and reported. */
  flush(): Promise<void>;
  /** Writes what waits and closes. */
  close(): Promise<void>;
}

const SEGMENT = /^log-(\d{8})\.ovtrace\.jsonl$/;
/** The bound is kept by deleting whole segments, so there are this many. */
const SEGMENTS = 8;
const LEAST_SEGMENT_BYTES = 4096;

/**
 * Opens the log of a folder, which is made if it is not there. Every opening starts a new segment, so that a torn line of a
 * process that was killed stays the last of its file, and several processes can share a folder.
 * @throws AppError `storage-failed` where the folder cannot be written
 */
export async function openLog(folder: string, limits: LogLimits, options: LogOptions = {}): Promise<LogFiles> {
  try {
    await mkdir(folder, { recursive: true, mode: 0o700 });
  } catch (error) {
    throw storageFailed(folder, error);
  }
  const log = new SegmentedLog(folder, limits, options);
  await log.start();
  return log;
}

class SegmentedLog implements LogFiles {
  private readonly folder: string;
  private readonly limits: LogLimits;
  private readonly options: LogOptions;
  private readonly clock: Clock;
  private readonly segmentChars: number;
  private current: LineFile | undefined;
  private currentName = '';
  /** Lines that came while there was no segment to take them. */
  private held: string[] = [];
  private heldChars = 0;
  private lost = 0;
  private lastSeq = 0;
  private changing: Promise<void> | undefined;
  private failed = false;
  private retryAt = 0;
  private closed = false;
  private found: SegmentProblem[] = [];
  private named: ClusterLabels = {};

  constructor(folder: string, limits: LogLimits, options: LogOptions) {
    this.folder = folder;
    this.limits = limits;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    this.segmentChars = Math.max(LEAST_SEGMENT_BYTES, Math.floor(limits.maxBytes / SEGMENTS));
  }

  get problems(): readonly SegmentProblem[] {
    return this.found;
  }

  get clusters(): ClusterLabels {
    return this.named;
  }

  async start(): Promise<void> {
    await this.beginSegment();
    await this.prune();
  }

  append(event: TraceEvent): void {
    if (this.closed) return;
    this.lastSeq = event.seq;
    this.appendLine(printTraceLine(event));
  }

  nameClusters(): void {
    if (!this.closed) this.appendLine(this.header());
  }

  private header(): string {
    const { creator = 'object-versions', clusters } = this.options;
    return printTraceLine(traceHeader(creator, clusters?.(), this.clock.now()));
  }

  private appendLine(line: string): void {
    if (this.current === undefined || this.changing !== undefined) this.hold(line);
    else if (!this.current.append(line)) this.lost += 1;
    if (this.changing !== undefined) return;
    const isFull = this.current !== undefined && this.current.chars >= this.segmentChars;
    const isDue = this.current === undefined && this.clock.now() >= this.retryAt;
    if (isFull || isDue) this.changing = this.change();
  }

  private hold(line: string): void {
    if (this.heldChars + line.length > (this.options.maxWaitingChars ?? 16 * 1024 * 1024)) this.lost += 1;
    else {
      this.held.push(line);
      this.heldChars += line.length;
    }
  }

  /** Closes the segment, begins another, and hands it what came in between. */
  private async change(): Promise<void> {
    try {
      await this.leaveSegment();
      await this.beginSegment();
      await this.release();
      await this.prune();
    } catch (error) {
      this.report(isAppError(error) ? error : storageFailed(this.folder, error));
    } finally {
      this.changing = undefined;
    }
  }

  private async leaveSegment(): Promise<void> {
    const file = this.current;
    if (file === undefined) return;
    await file.close();
    this.current = undefined;
    const unwritten = file.unwritten();
    this.held = [...unwritten, ...this.held];
    for (const line of unwritten) this.heldChars += line.length;
  }

  private async release(): Promise<void> {
    const file = this.current;
    if (file === undefined) return;
    this.failed = false;
    do {
      const lines = this.held;
      this.held = [];
      this.heldChars = 0;
      for (const line of lines) if (!file.append(line)) this.lost += 1;
      await file.flush();
    } while (this.held.length > 0 && this.current === file && !this.failed);
    if (this.lost > 0 && file.append(printTraceLine(this.lostNote()))) this.lost = 0;
  }

  private lostNote(): NoteEvent {
    const text = `${this.lost} events could not be stored here, because the disk was full or too slow.`;
    return {
      type: 'note',
      seq: this.lastSeq,
      at: this.clock.now(),
      via: 'recorder',
      cluster: '',
      text,
      mark: 'storage-gap',
    };
  }

  private async beginSegment(): Promise<void> {
    for (;;) {
      const names = await this.segments();
      const last = names[names.length - 1];
      const next = last === undefined ? 1 : Number(SEGMENT.exec(last)?.[1] ?? 0) + 1;
      const name = `log-${`${next}`.padStart(8, '0')}.ovtrace.jsonl`;
      try {
        const path = join(this.folder, name);
        const file: LineFile = await LineFile.create(
          path,
          true,
          (error) => this.segmentFailed(file, error),
          this.options,
        );
        this.current = file;
        this.currentName = name;
        file.append(this.header());
        return;
      } catch (error) {
        if (!isAppError(error) || codeOf(error.cause) !== 'EEXIST') throw error;
      }
    }
  }

  /** The segment may hold half a line: it is left as it is, and the next append tries a new one after a while. */
  private segmentFailed(file: LineFile, error: AppError): void {
    this.report(error);
    if (this.current !== file || this.changing !== undefined) return;
    this.changing = this.leaveSegment().finally(() => {
      this.changing = undefined;
    });
  }

  private report(error: AppError): void {
    this.retryAt = this.clock.now() + RETRY_MS;
    if (this.failed) return;
    this.failed = true;
    this.options.onProblem?.(error);
  }

  /** The names of the segments, oldest first. */
  private async segments(): Promise<string[]> {
    try {
      return (await readdir(this.folder)).filter((name) => SEGMENT.test(name)).sort();
    } catch (error) {
      throw storageFailed(this.folder, error);
    }
  }

  private async prune(): Promise<void> {
    const segments = await Promise.all((await this.segments()).map((name) => this.measure(name)));
    let total = segments.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { name, bytes, writtenAt } of segments) {
      const isOld = this.clock.now() - writtenAt > this.limits.maxAgeMs;
      if (name === this.currentName || (total <= this.limits.maxBytes && !isOld)) continue;
      await rm(join(this.folder, name), { force: true });
      total -= bytes;
    }
  }

  /** A segment that another process deleted in between is as good as empty. */
  private async measure(name: string): Promise<{ name: string; bytes: number; writtenAt: number }> {
    try {
      const { size, mtimeMs } = await stat(join(this.folder, name));
      return { name, bytes: size, writtenAt: mtimeMs };
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw storageFailed(this.folder, error);
      return { name, bytes: 0, writtenAt: this.clock.now() };
    }
  }

  async *readAll(): AsyncGenerator<TraceEvent, void, undefined> {
    await this.flush();
    this.found = [];
    this.named = {};
    for (const file of await this.segments()) {
      const reader = new TraceReader();
      try {
        for await (const events of readTraceFile(join(this.folder, file), reader)) {
          this.named = { ...this.named, ...reader.header?.clusters };
          yield* events;
        }
        this.named = { ...this.named, ...reader.header?.clusters };
      } catch (error) {
        const isGone = isAppError(error) && codeOf(error.cause) === 'ENOENT';
        if (!isAppError(error, 'trace-newer', 'trace-unreadable')) throw error;
        if (!isGone && reader.problems.length === 0)
          this.found.push({ file, line: 0, code: 'no-header', message: error.words });
      }
      for (const problem of reader.problems) this.found.push({ file, ...problem });
    }
  }

  async flush(): Promise<void> {
    while (this.changing !== undefined) await this.changing;
    await this.current?.flush();
  }

  async close(): Promise<void> {
    this.closed = true;
    while (this.changing !== undefined) await this.changing;
    await this.current?.close();
    this.current = undefined;
  }
}

/** How long to wait before a disk that failed is tried again. */
const RETRY_MS = 5_000;

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined;
}
