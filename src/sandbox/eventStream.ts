import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** A line of a stream, framed once for all streams that send it. */
export class StreamLine {
  /** The line as one chunk of the chunked transfer coding (RFC 9112, 7.1). */
  readonly chunk: Buffer;

  /** `text` ends with a newline. */
  constructor(text: string) {
    this.chunk = Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  }

  get text(): string {
    return this.chunk.toString('utf8', this.chunk.indexOf('\n') + 1, this.chunk.length - 2);
  }
}

/**
 * An answer of lines without an end. Each line goes to its connection at once, as it is: a response of Node would gather
 * what is written until the next tick, so that with a thousand streams the first reader waited for the last writer.
 */
export class EventStream {
  private readonly response: ServerResponse;
  /** Undefined where the response has to write itself: it is not its turn yet, or the client cannot read chunks. */
  private readonly socket: Socket | undefined;

  constructor(response: ServerResponse, contentType: string) {
    this.response = response;
    response.writeHead(200, { 'content-type': contentType, 'cache-control': 'no-cache, private' });
    this.socket = response.chunkedEncoding ? (response.socket ?? undefined) : undefined;
  }

  /** Sends the head together with what `work` writes. */
  start(work: () => void): void {
    this.socket?.cork();
    this.response.flushHeaders();
    work();
    this.socket?.uncork();
  }

  write(line: StreamLine): void {
    if (this.socket === undefined) this.response.write(line.text);
    else if (this.socket.writable) this.socket.write(line.chunk);
  }

  /** Ends the stream cleanly. */
  end(): void {
    this.response.end();
  }

  /** Bytes that the client has not taken yet. */
  get backlog(): number {
    return this.response.writableLength;
  }
}
