import { describe, expect, it } from '@jest/globals';
import type { FastifyRequest, RouteOptions } from 'fastify';
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
    ['POST', '/vendora/v1/videos/generations'],
  );
  const refusal = (method: string, url: string) => table.refusalFor({ method, url } as FastifyRequest);

  it.each([
    ['GET', '/v1/v1/models', 'one /v1 too many'],
    ['GET', '/models', 'to end in /v1'],
    ['GET', '/models/?limit=3', 'to end in /v1'],
    ['GET', '/proxy/openai/v1/models', 'The path is /v1/models'],
    ['POST', '/v1/v1/messages', 'without /v1'],
    ['POST', '/vendora/videos/generations', 'to end in /vendora/v1'],
  ])('%s %s: says which base would have worked', (method, url, hint) => {
    expect(refusal(method, url)).toMatchObject({ status: 404, code: 'unknown_url' });
    expect(refusal(method, url).message).toContain(hint);
  });

  it('names the methods of a path that takes others', () => {
    expect(refusal('PUT', '/v1/models')).toMatchObject({
      status: 405,
      message: expect.stringContaining('GET'),
    });
  });

  it('does not take the endpoints of the SDK for ids', () => {
    for (const name of ['edits', 'extensions', 'characters', 'generations']) {
      expect(refusal('POST', `/v1/videos/${name}`)).toMatchObject({ status: 404, code: 'unknown_url' });
    }
    expect(refusal('POST', '/v1/videos/editsx').code).toBe('method_not_allowed');
  });

  it('says nothing of the query, which may hold a signature', () => {
    expect(refusal('GET', '/nowhere?sig=secret').message).toBe('Unknown URL (GET /nowhere).');
  });
});
