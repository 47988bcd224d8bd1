import { describe, expect, it } from 'vitest';
import { ApiError } from '../errors.js';
import { errorBody, internalError, refusalFor, retryHeaders } from './refusal.js';

const isTransient = (error: unknown) =>
  (error as { code?: string } | null | undefined)?.code === 'ECONNREFUSED';
const read = (error: unknown) => refusalFor(error, isTransient);

describe('what a client learns about an error', () => {
  it('is the error itself if it was meant for clients', () => {
    const error = new ApiError('invalid_value', 'n must be at least 1.', { param: 'n' });
    expect(errorBody(read(error) ?? internalError())).toEqual({
      error: {
        message: 'n must be at least 1.',
        type: 'invalid_request_error',
        param: 'n',
        code: 'invalid_value',
      },
    });
  });

  it.each([
    ['FST_ERR_CTP_INVALID_JSON_BODY', 400, 'invalid_json'],
    ['FST_ERR_CTP_BODY_TOO_LARGE', 413, 'request_too_large'],
    ['FST_ERR_CTP_INVALID_MEDIA_TYPE', 415, 'unsupported_media_type'],
    ['FST_ERR_SOMETHING_NEW', 400, 'invalid_request'],
  ])("is the parser's error in our words: %s", (code, status, ours) => {
    const error = Object.assign(new Error('raw text of the parser'), {
      code,
      statusCode: status === 413 ? 413 : 400,
    });
    expect(read(error)).toMatchObject({ status, code: ours });
    expect(read(error)?.message).not.toContain('raw text');
  });

  it('is to try again if the database is gone for a moment', () => {
    const gone = Object.assign(new Error('connect ECONNREFUSED 10.0.0.5:5432'), { code: 'ECONNREFUSED' });
    const refusal = read(gone);
    expect(refusal).toMatchObject({ status: 503, code: 'service_unavailable' });
    expect(refusal?.message).not.toContain('10.0.0.5');
    expect(Number(retryHeaders(refusal ?? internalError())['retry-after'])).toBeLessThanOrEqual(5);
  });

  it('is nothing if the fault is ours', () => {
    for (const error of [
      new TypeError('x is not a function'),
      'text',
      null,
      undefined,
      { statusCode: 500 },
    ]) {
      expect(read(error)).toBeUndefined();
    }
    expect(errorBody(internalError()).error).toMatchObject({
      type: 'server_error',
      code: 'internal_error',
      param: null,
    });
  });

  it('forbids SDKs to retry if a retry could cost', () => {
    expect(retryHeaders(new ApiError('generation_failed', 'x', { shouldRetry: false }))).toEqual({
      'x-should-retry': 'false',
    });
  });
});
