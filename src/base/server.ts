/** A request to an API server. `path` begins with a slash; a query value that is undefined is left out. */
export interface ServerRequest {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  query?: Readonly<Record<string, string | undefined>>;
  headers?: Readonly<Record<string, string>>;
  body?: string;
}

/** Any complete answer, whatever its status. Header names are in lower case. */
export interface ServerReply {
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: string;
}

/**
 * What the safe write needs of a server; kube's client fits it, and a fake in tests.
 * `send` never repeats a request. It rejects with AppError `cancelled` on abort, and with `SendFailure` where no complete
 * answer came.
 */
export interface Server {
  send(request: ServerRequest, signal: AbortSignal): Promise<ServerReply>;
}

/** No complete answer came. `reached` is 'no' only where it is certain that the server cannot have acted on the request. */
export class SendFailure extends Error {
  override readonly name = 'SendFailure';
  readonly reached: 'no' | 'maybe';

  constructor(message: string, reached: 'no' | 'maybe', cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.reached = reached;
  }
}
