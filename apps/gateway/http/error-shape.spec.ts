import { describe, expect, it } from 'vitest';
import type { FastifyRequest } from 'fastify';
import { ApiError, type ErrorCode, errorTable } from '#platform/errors.js';
import { errorBodyFor } from './error-shape.js';
import { keyBesideAuthorization } from './protocol-family.js';

function requestFor(url: string, headers: Record<string, string> = {}, is404 = false): FastifyRequest {
  const query = Object.fromEntries(new URL(url, 'http://host').searchParams);
  return { url, headers, query, is404, id: '01jcq3v8w1f5p6k7m8n9q0r1s2' } as unknown as FastifyRequest;
}

const missing = new ApiError('model_not_found', 'No such model.', { param: 'model' });
const version = { 'anthropic-version': '2026-10-21' };
const anthropic = {
  type: 'error',
  error: {
    type: 'not_found_error',
    message: 'model_not_found: No such model.',
    details: { error_code: 'model_not_found', param: 'model' },
  },
  request_id: '01jcq3v8w1f5p6k7m8n9q0r1s2',
};

describe('an error in its path’s format', () => {
  it.each(['/v1/models/x', '/vendora/v1/videos', '/v1/messagesx', '/', '/v1betas'])(
    'is OpenAI’s on %s',
    (url) => {
      expect(errorBodyFor(requestFor(url), missing)).toEqual({
        error: {
          message: 'No such model.',
          type: 'invalid_request_error',
          param: 'model',
          code: 'model_not_found',
        },
      });
    },
  );

  it.each(['/v1beta', '/v1beta/models/x:predict', '/v1beta?x'])('is Google’s on %s', (url) => {
    expect(errorBodyFor(requestFor(url), missing)).toEqual({
      error: {
        code: 404,
        message: 'model_not_found: No such model.',
        status: 'NOT_FOUND',
        details: [
          {
            '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
            reason: 'model_not_found',
            domain: 'relay',
            metadata: { param: 'model' },
          },
        ],
      },
      code: 'model_not_found',
    });
  });

  it('is Anthropic’s on its own path, and by its header if paths are shared or missing', () => {
    expect(errorBodyFor(requestFor('/v1/messages'), missing)).toEqual(anthropic);
    expect(errorBodyFor(requestFor('/v1/messages/count_tokens?x'), missing)).toEqual(anthropic);
    expect(errorBodyFor(requestFor('/v1/models/x', version), missing)).toEqual(anthropic);
    expect(errorBodyFor(requestFor('/v1/v1/messages', version, true), missing)).toEqual(anthropic);
    expect(errorBodyFor(requestFor('/v1/videos', version), missing)).not.toHaveProperty('type');
  });

  it('is Google’s under a wrong base URL, by its key header', () => {
    const key = { 'x-goog-api-key': 'k' };
    const wrong = errorBodyFor(requestFor('/v1/models/x:predict', key, true), missing);
    expect(wrong).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    expect(errorBodyFor(requestFor('/v1/models/x', key), missing)).not.toHaveProperty('error.status');
  });

  it('has a word for every status in the error table, in every family', () => {
    for (const code of Object.keys(errorTable) as ErrorCode[]) {
      const error = new ApiError(code, 'x');
      const google = errorBodyFor(requestFor('/v1beta'), error) as {
        error: { code: number; status: string };
      };
      expect(google.error.code).toBe(error.status);
      expect(google.error.status).toMatch(/^[A-Z_]+$/);
      const messages = errorBodyFor(requestFor('/v1/messages'), error) as { error: { type: string } };
      expect(messages.error.type).toMatch(/_error$|^request_too_large$/);
    }
  });
});

describe('a key besides Authorization', () => {
  it.each([
    ['/v1beta/models', { 'x-goog-api-key': 'k' }, 'k'],
    ['/v1beta/files/x:download?alt=media&key=k', {}, 'k'],
    ['/v1/messages', { 'x-api-key': 'k' }, 'k'],
    ['/v1/models', { 'x-api-key': 'k' }, 'k'],
    ['/v1/videos', { 'x-api-key': 'k', 'x-goog-api-key': 'k' }, undefined],
    ['/v1/videos?key=k', {}, undefined],
    ['/v1/models?key=k', { 'x-goog-api-key': 'k' }, undefined],
    ['/v1beta/models', { 'x-api-key': 'k' }, undefined],
    ['/v1beta/models?key=', {}, undefined],
  ])('%s %j: %s', (url, headers, key) => {
    expect(keyBesideAuthorization(requestFor(url, headers))).toBe(key);
  });
});
