import type { IncomingMessage } from 'node:http';
import type { Transform } from 'node:stream';
import { messageOf } from '../base/appError.ts';
import { answerReader, type AnswerReader } from './answerReader.ts';
import { decoder } from './bodyText.ts';
import type { Ending, Tap } from './tap.ts';
import type { RequestInfo } from './requestInfo.ts';
import type { ExchangeRecord } from './exchangeRecord.ts';
import type { WorkQueue } from './workQueue.ts';

const MAX_REQUEST_BYTES = 8 * 1024 * 1024;

/** Copies what passes in one exchange and has it read afterwards, in order, by the queue. It never throws into the traffic. */
export class ExchangeTap implements Tap {
  readonly ready: Promise<void> | undefined;
  private readonly info: RequestInfo;
  private readonly record: ExchangeRecord;
  private readonly queue: WorkQueue;
  private request: Buffer[] = [];
  private requestBytes = 0;
  private requestTaken = false;
  private reader: AnswerReader | undefined;
  private unzip: Transform | undefined;
  private unzipped: Promise<void> = Promise.resolve();
  private lost: string | undefined;

  constructor(info: RequestInfo, record: ExchangeRecord, queue: WorkQueue, ready: Promise<void> | undefined) {
    this.ready = ready;
    this.info = info;
    this.record = record;
    this.queue = queue;
  }

  requestChunk(chunk: Buffer): void {
    this.requestBytes += chunk.length;
    if (this.requestBytes > MAX_REQUEST_BYTES) this.request = [];
    else this.request.push(chunk);
  }

  response(status: number, headers: IncomingMessage['headers']): void {
    this.takeRequest(status);
    const ok = status >= 200 && status < 300;
    const { verb } = this.info;
    const form =
      ok && verb === 'watch' ? 'watch' : ok && (verb === 'list' || verb === 'deletecollection') ? 'list' : 'single';
    this.reader = answerReader(form, headers['content-type']);
    this.unzip = decoder(headers['content-encoding']);
    if (this.unzip !== undefined) this.startUnzip(this.unzip);
  }

  responseChunk(chunk: Buffer): void {
    if (this.unzip === undefined) this.read(chunk);
    else this.unzip.write(chunk);
  }

  end(ending: Ending): void {
    this.takeRequest(undefined);
    const finish = (): void => this.queue.force(0, () => this.finish(ending));
    if (this.unzip === undefined) finish();
    else {
      const come = this.queue.expect();
      this.unzip.end();
      void this.unzipped.then(finish).finally(come);
    }
  }

  private startUnzip(unzip: Transform): void {
    this.unzipped = new Promise((resolve) => {
      unzip.on('data', (chunk: Buffer) => this.read(chunk));
      unzip.once('end', resolve);
      unzip.once('error', (error) => {
        this.lost ??= `a compressed answer broke off: ${messageOf(error)}`;
        resolve();
      });
    });
  }

  /** Hands over what the client sent, with the status of the answer where there is one. */
  private takeRequest(status: number | undefined): void {
    if (this.requestTaken) return;
    this.requestTaken = true;
    const { request, requestBytes } = this;
    this.request = [];
    const tooLarge = requestBytes > MAX_REQUEST_BYTES;
    this.queue.force(tooLarge ? 0 : requestBytes, () => {
      this.record.requested(tooLarge ? undefined : joined(request), requestBytes);
      if (status !== undefined) this.record.answered(status);
    });
  }

  private read(chunk: Buffer): void {
    if (this.lost !== undefined) return;
    if (!this.queue.add(chunk.length, () => this.parse(chunk)))
      this.lost = 'more came than could be read beside the traffic';
  }

  private parse(chunk: Buffer): void {
    if (this.reader === undefined) return;
    try {
      const given = this.reader.push(chunk);
      if (given.length > 0) this.record.gave(given);
    } catch (error) {
      this.lost ??= messageOf(error);
    }
  }

  private finish(ending: Ending): void {
    if (this.reader === undefined || this.lost !== undefined) {
      this.record.ended(ending, undefined, this.lost);
      return;
    }
    // Of an answer that broke off, the client was not given its last part either.
    const whole = ending === 'complete';
    try {
      const { given, body } = whole ? this.reader.end() : { given: [], body: undefined };
      if (given.length > 0) this.record.gave(given);
      this.record.ended(ending, body, undefined);
    } catch (error) {
      this.record.ended(ending, undefined, messageOf(error));
    }
  }
}

/** Chunks as one; a single one is not copied. */
function joined(chunks: readonly Buffer[]): Buffer {
  const [only] = chunks;
  return chunks.length === 1 && only !== undefined ? only : Buffer.concat(chunks);
}
