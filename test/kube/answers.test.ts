import assert from 'node:assert/strict';

import type { ErrorCode } from '../../src/base/appError.ts';
import { errorOf, retryAfterMs, statusOf } from '../../src/kube/answers.ts';
import { statusBody } from './fakeServer.ts';

const reply = (status: number, body: unknown, headers: Record<string, string> = {}): Parameters<typeof errorOf>[0] => ({
  status,
  headers,
  body: typeof body === 'string' ? body : JSON.stringify(body),
});

describe('answers of the API server', () => {
  const codes: [number, string, ErrorCode][] = [
    [401, 'Unauthorized', 'unauthenticated'],
    [403, 'Forbidden', 'forbidden'],
    [404, 'NotFound', 'not-found'],
    [409, 'Conflict', 'server-error'],
    [410, 'Expired', 'server-error'],
    [400, 'BadRequest', 'invalid-request'],
    [415, 'UnsupportedMediaType', 'invalid-request'],
    [422, 'Invalid', 'invalid-request'],
    [429, 'TooManyRequests', 'throttled'],
    [500, '', 'server-error'],
    [503, 'ServiceUnavailable', 'unavailable'],
    [504, 'Timeout', 'unavailable'],
  ];
  for (const [status, reason, code] of codes) {
    it(`${status} ${reason} is ${code}, one sentence with what to do`, () => {
      const error = errorOf(reply(status, statusBody(status, reason)));
      assert.equal(error.code, code);
      assert.equal(error.details['status'], status);
      assert.ok(error.message.endsWith('.') && !error.message.includes('\n'));
    });
  }

  it('text that only looks like another reason changes nothing', () => {
    assert.equal(
      errorOf(reply(500, statusBody(500, '', { message: 'forbidden: 404 not found' }))).code,
      'server-error',
    );
    assert.equal(errorOf(reply(404, '404 page not found\n')).code, 'not-found');
  });

  it('the longer of header and body is the time to wait; a date counts from now', () => {
    const status = statusOf(
      statusBody(429, 'TooManyRequests', { details: { retryAfterSeconds: 4 } }) as Parameters<typeof statusOf>[0],
    );
    assert.equal(retryAfterMs(reply(429, '', { 'retry-after': '2' }), status, 0), 4000);
    assert.equal(retryAfterMs(reply(429, '', { 'retry-after': '9' }), status, 0), 9000);
    const now = Date.parse('2026-01-01T00:00:00Z');
    assert.equal(
      retryAfterMs(reply(503, '', { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' }), undefined, now),
      30_000,
    );
    assert.equal(retryAfterMs(reply(503, '', { 'retry-after': 'soon' }), undefined, now), undefined);
  });

  it('an object is no Status', () => {
    assert.equal(statusOf({ kind: 'ConfigMap', metadata: {}, code: 5 }), undefined);
    assert.equal(statusOf({}), undefined);
    assert.equal(statusOf(null), undefined);
    assert.equal(statusOf({ code: 410, message: 'gone' })?.code, 410);
  });
});
