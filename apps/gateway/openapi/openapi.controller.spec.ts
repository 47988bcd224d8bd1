import { expect, it, vi } from 'vitest';
import type { FastifyRequest } from 'fastify';
import { DocsController } from './openapi.controller.js';
import { ApiDocument } from './openapi.document.js';

it('the reference is written once, with the address of each reader', () => {
  const document = new ApiDocument();
  const written = vi.spyOn(document, 'at');
  const config = { publicBaseUrl: undefined, allowedHosts: [] };
  const docs = Object.assign(Object.create(DocsController.prototype) as DocsController, { document, config });
  for (const host of ['localhost:1', 'localhost:2']) {
    const request = { host, protocol: 'http' } as FastifyRequest;
    expect(JSON.parse(docs.describe(request).toString())).toMatchObject({
      servers: [{ url: `http://${host}` }],
    });
    expect(docs.page(request).toString()).toContain(`<code>http://${host}</code>`);
    // However many read it slowly, its bytes are in memory once.
    expect(docs.describe(request)).toBe(docs.describe(request));
    expect(docs.page(request)).toBe(docs.page(request));
  }
  expect(written).toHaveBeenCalledTimes(2);
});
