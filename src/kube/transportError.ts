import { message, type Words } from '../base/message.ts';
import { AppError, type ErrorCode } from '../base/appError.ts';
import { SendFailure } from '../base/server.ts';

/** How far a request had come when it failed. */
export interface Progress {
  /** What a person knows the server by: scheme, host and port. */
  readonly server: string;
  /** Bytes of the request may have been written to the server. */
  readonly written: boolean;
  /** A time limit of ours ended it. */
  readonly timedOutAfterMs?: number | undefined;
}

const UNTRUSTED = new Set([
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_SIGNATURE_FAILURE',
  'CERT_CHAIN_TOO_LONG',
  'CERT_REVOKED',
  'CERT_UNTRUSTED',
  'CERT_REJECTED',
  'INVALID_CA',
  'INVALID_PURPOSE',
  'HOSTNAME_MISMATCH',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

/** Turns a failure of the socket into a `SendFailure` whose cause is the AppError to show. */
export function sendFailure(error: unknown, progress: Progress): SendFailure {
  const shown = transportError(error, progress);
  return new SendFailure(shown.message, progress.written ? 'maybe' : 'no', shown);
}

/** The AppError that says what happened to a connection: `unreachable`, `tls-untrusted`, `timed-out`, `connection-lost`, `bad-answer`. */
export function transportError(error: unknown, progress: Progress): AppError {
  const { server, written, timedOutAfterMs } = progress;
  const reason = codeOf(error);
  const make = (code: ErrorCode, sentence: Words, advice: Words): AppError =>
    new AppError(code, sentence, { advice, details: { server, ...(reason === '' ? {} : { reason }) }, cause: error });
  if (timedOutAfterMs !== undefined) {
    const seconds = timedOutAfterMs / 1000;
    return written
      ? make(
          'timed-out',
          message`The API server ${server} did not answer within ${seconds} s.`,
          message`Try again; if it stays slow, look at the server or at what is between.`,
        )
      : make(
          'unreachable',
          message`No connection to the API server ${server} within ${seconds} s.`,
          message`Check the address in the kubeconfig, the network, and a VPN or proxy.`,
        );
  }
  if (UNTRUSTED.has(reason)) {
    return make(
      'tls-untrusted',
      message`The certificate of the API server ${server} is not trusted (${reason}).`,
      message`Check certificate-authority and tls-server-name of this cluster in the kubeconfig; the server may also have been replaced.`,
    );
  }
  if (reason === 'EPROTO' || reason.startsWith('ERR_SSL_')) {
    return make(
      'unreachable',
      message`No TLS connection to the API server ${server} (${reason}).`,
      message`Check that the address begins with the right scheme (https or http) and that the port is the API server's.`,
    );
  }
  if (reason.startsWith('HPE_')) {
    return make(
      'bad-answer',
      message`What answers at ${server} does not speak HTTP (${reason}).`,
      message`Check the address and port of this cluster in the kubeconfig.`,
    );
  }
  if (!written) {
    return make(
      'unreachable',
      message`The API server ${server} cannot be reached${reason === '' ? '' : ` (${reason})`}.`,
      unreachableAdvice(reason),
    );
  }
  return make(
    'connection-lost',
    message`The connection to the API server ${server} broke before the answer was complete${reason === '' ? '' : ` (${reason})`}.`,
    message`Try again; if it keeps breaking, look at proxies and load balancers on the way.`,
  );
}

function unreachableAdvice(reason: string): Words {
  if (reason === 'ECONNREFUSED')
    return message`Nothing listens there: check that the server runs and that the port in the kubeconfig is right.`;
  if (reason === 'ENOTFOUND' || reason === 'EAI_AGAIN')
    return message`The host name is not known: check the address in the kubeconfig, the DNS, and a VPN.`;
  return message`Check the address in the kubeconfig, the network, and a VPN or proxy.`;
}

function codeOf(error: unknown): string {
  const code = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
  return typeof code === 'string' ? code : '';
}
