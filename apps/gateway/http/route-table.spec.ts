import { describe, expect, it } from 'vitest';
import type { FastifyRequest, RouteOptions } from 'fastify';
import { timesReading } from '../../../test/support/cpu-time.js';
import { RouteTable } from './route-table.js';

function tableOf(...routes: [string, string][]): RouteTable {
  const table = new RouteTable();
  for (const [method, url] of routes) table.add({ method, url } as RouteOptions);
  return table;
}

describe('RouteTable', () => {
  const table = tableOf(
    ['GET', '/v1/models'],
    ['POST', '/v1/videos'],
    ['GET', '/v1/videos/:id'],
    ['POST', '/v1/messages'],
    ['GET', '/v1/models/:id'],
    ['POST', '/v1beta/models/:target'],
    ['POST', '/vendora/v1/videos/generations'],
  );
  const refusal = (method: string, url: string) => table.refusalFor({ method, url } as FastifyRequest);

  it.each([
    ['GET', '/v1/v1/models', "The path is /v1/models: the client's base URL has one /v1 too many."],
    ['GET', '//v1/models', 'one slash too many'],
    ['POST', '/v1/models/imgmodel-4:predict', 'to end in /v1beta instead of /v1.'],
    ['POST', '/v1/models/chatmodel-2:generateContent', 'set its apiVersion to v1beta.'],
    ['POST', '/models/imgmodel-4:predict', 'to end in /v1beta.'],
    ['POST', '/v1/v1beta/models/imgmodel-4:predict', 'one /v1 too many'],
    ['POST', '/v1beta/v1beta/models/imgmodel-4:predict', 'one /v1beta too many'],
    ['POST', '/v1beta/videos', 'to end in /v1 instead of /v1beta.'],
    ['GET', '/models', 'to end in /v1'],
    ['GET', '/models/?limit=3', 'to end in /v1'],
    ['GET', '/proxy/openai/v1/models', 'The path is /v1/models'],
    ['POST', '/v1/v1/messages', 'one /v1 too many. Messages-style clients use the base URL without /v1'],
    ['POST', '/messages', 'The path is /v1/messages. Messages-style clients use the base URL without /v1'],
    ['POST', '/vendora/videos/generations', 'to end in /vendora/v1'],
  ])('%s %s: says which base URL would have worked', (method, url, hint) => {
    expect(refusal(method, url)).toMatchObject({ status: 404, code: 'unknown_url' });
    expect(refusal(method, url).message).toContain(hint);
  });

  it('never tells an Anthropic-style client to add the base that it adds itself', () => {
    for (const url of ['/v1/v1/messages', '/messages', '/proxy/v1/messages']) {
      expect(refusal('POST', url).message).not.toContain('to end in');
    }
  });

  it('names the methods of a path that accepts others', () => {
    expect(refusal('PUT', '/v1/models')).toMatchObject({
      status: 405,
      message: expect.stringContaining('GET'),
    });
    expect(refusal('DELETE', '/v1/models/imgmodel-4:predict').code).toBe('method_not_allowed');
    expect(refusal('POST', '/v1/models/imgmodel-4').code).toBe('method_not_allowed');
  });

  it('does not mistake the SDK’s endpoints for IDs', () => {
    for (const name of ['edits', 'extensions', 'characters', 'generations']) {
      expect(refusal('POST', `/v1/videos/${name}`)).toMatchObject({ status: 404, code: 'unknown_url' });
    }
    expect(refusal('POST', '/v1/videos/editsx').code).toBe('method_not_allowed');
  });

  it.each([
    ['many segments', '/a/b/c/d/e/f/g/h'],
    ['long segments', `/${Array.from({ length: 8 }, () => 'a'.repeat(1_900)).join('/')}`],
    ['thousands of segments', '/a'.repeat(7_500)],
  ])('takes little time to refuse a path with %s, which anyone may send', (_, url) => {
    const paths = Array.from({ length: 200 }, (_each, index) => `/v1/group${index}/:id/of/:part`);
    const large = tableOf(...paths.map((path): [string, string] => ['GET', path]));
    const ask = () => large.refusalFor({ method: 'GET', url } as FastifyRequest);
    expect(ask().code).toBe('unknown_url');
    expect(timesReading(ask)).toBeLessThan(1);
  });

  it('does not mention the query, which may contain a signature', () => {
    expect(refusal('GET', '/nowhere?sig=secret').message).toBe(
      'Unknown URL (GET /nowhere). GET /docs lists all paths.',
    );
  });
});
