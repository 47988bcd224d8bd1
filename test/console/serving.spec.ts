import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Relay, startRelay } from '../support/relay.js';

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ PUBLIC_BASE_URL: 'https://api.example.com/' });
});
afterAll(() => relay?.close());

function get(path: string, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(relay.consoleUrl + path, { headers });
}

const page = { accept: 'text/html,application/xhtml+xml' };

describe('the console address', () => {
  it('answers every page with the one document, which is not cached', async () => {
    for (const path of ['/', '/marketplace?text=boat', '/tickets/01hzzzzzzzzzzzzzzzzzzzzzzz']) {
      const answer = await get(path, page);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toBe('text/html; charset=utf-8');
      expect(answer.headers.get('cache-control')).toBe('no-store');
      expect(await answer.text()).toContain('<div id="root">');
    }
  });

  it('puts the nonce of its policy into the document, a new one each time', async () => {
    const nonces = await Promise.all(
      [1, 2].map(async () => {
        const answer = await get('/', page);
        const policy = answer.headers.get('content-security-policy') ?? '';
        const nonce = /'nonce-([^']+)'/.exec(policy)![1]!;
        const text = await answer.text();
        expect(text).toContain(`nonce="${nonce}"`);
        expect(text).not.toContain('__CSP_NONCE__');
        return nonce;
      }),
    );
    expect(nonces[0]).not.toBe(nonces[1]);
  });

  it('sends files compressed, and cached without limit if their name identifies their content', async () => {
    const script = /src="(\/assets\/[^"]+\.js)"/.exec(await (await get('/', page)).text())![1]!;
    const answer = await get(script, { 'accept-encoding': 'br' });
    expect(answer.headers.get('content-encoding')).toBe('br');
    expect(answer.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(answer.headers.get('content-type')).toMatch(/javascript/);
    expect((await get('/icon.svg')).headers.get('cache-control')).toBe('public, max-age=3600');
  });

  it('serves its own typefaces, and makes the browser load one of them at once', async () => {
    const [preloaded, ...others] = [...(await (await get('/', page)).text()).matchAll(/<link[^>]*>/g)]
      .map(([tag]) => tag)
      .filter((tag) => tag.includes('as="font"'));
    expect(others).toEqual([]);
    const face = await get(/href="([^"]+)"/.exec(preloaded!)![1]!);
    expect(face.headers.get('content-type')).toBe('font/woff2');
    expect(face.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  });

  it('knows what is not a page', async () => {
    for (const path of ['/assets/gone.js', '/api', '/api/nothing', '/sandbox-pay/nothing/here'])
      expect([path, (await get(path, page)).status]).toEqual([path, 404]);
    expect((await get('/picture.png', { accept: 'image/*' })).status).toBe(404);
    expect((await fetch(`${relay.consoleUrl}/marketplace`, { method: 'POST' })).status).toBe(404);
  });

  it('tells clients that mistake it for the base URL where models are', async () => {
    for (const [method, path] of [
      ['POST', '/v1/images/generations'],
      ['POST', '/chat/completions'],
      ['GET', '/v1/models'],
    ] as const) {
      const answer = await fetch(relay.consoleUrl + path, { method });
      const where = 'This is the console: send model calls to https://api.example.com.';
      const message = `There is no ${method} ${path}. ${where}`;
      expect(await answer.json()).toMatchObject({ error: { code: 'unknown_url', message } });
    }
  });

  it('gives pages the configured address for model calls, and who is signed in', async () => {
    expect(await (await get('/api/public/relay')).json()).toEqual({
      baseUrl: 'https://api.example.com',
      paymentCurrency: 'USD',
      creditRate: '1.3',
      groups: ['Public-Relay', 'Vendora-Main'],
    });
    expect(await (await get('/api/public/session')).json()).toEqual({ session: null, onePerson: false });
  });
});
