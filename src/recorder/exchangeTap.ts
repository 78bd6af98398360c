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

  constructor(info: RequestInfo, record: ExchangeRecord, queue: WorkQueue) {
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
    this.takeRequest();
    const ok = status >= 200 && status < 300;
    const { verb } = this.info;
    const form =
      ok && verb === 'watch' ? 'watch' : ok && (verb === 'list' || verb === 'deletecollection') ? 'list' : 'single';
    this.reader = answerReader(form, headers['content-type']);
    this.unzip = decoder(headers['content-encoding']);
    if (this.unzip !== undefined) this.startUnzip(this.unzip);
    this.queue.force(0, () => this.record.answered(status));
  }

  responseChunk(chunk: Buffer): void {
    if (this.unzip === undefined) this.read(chunk);
    else this.unzip.write(chunk);
  }

  end(ending: Ending): void {
    this.takeRequest();
    const finish = (): void => this.queue.force(0, () => this.finish(ending));
    if (this.unzip === undefined) finish();
    else {
      this.unzip.end();
      void this.unzipped.then(finish);
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

  private takeRequest(): void {
    if (this.requestTaken) return;
    this.requestTaken = true;
    const tooLarge = this.requestBytes > MAX_REQUEST_BYTES;
    const body = tooLarge ? undefined : Buffer.concat(this.request);
    this.request = [];
    this.queue.force(body?.length ?? 0, () => this.record.requested(body, this.requestBytes));
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
    try {
      const { given, body } =
        ending === 'complete' || this.info.verb === 'watch' ? this.reader.end() : { given: [], body: undefined };
      if (given.length > 0) this.record.gave(given);
      this.record.ended(ending, body, undefined);
    } catch (error) {
      this.record.ended(ending, undefined, messageOf(error));
    }
  }
}
