import { ManualClock } from '#platform/clock.fixture.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPublicKey, generateKeyPairSync, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Channel } from '#catalog/catalog.js';
import { UpstreamConnections } from '../connections.js';
import { channelTo } from '../upstream.fixture.js';
import { readServiceAccount, serviceAccounts } from './service-account.js';
import { ServiceTokens } from './service-tokens.js';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let connections: UpstreamConnections;
let server: Server;
let assertions: string[];
/** The answers to the requests, in turn. The last one is repeated. */
let answers: { status: number; body: object }[];
let clock: ManualClock;
let tokens: ServiceTokens;

beforeEach(async () => {
  connections = new UpstreamConnections();
  assertions = [];
  answers = [];
  clock = new ManualClock(1_700_000_000_000);
  tokens = new ServiceTokens(connections, clock);
  server = createServer((request, response) => {
    let form = '';
    request.on('data', (chunk) => (form += String(chunk)));
    request.on('end', () => {
      assertions.push(new URLSearchParams(form).get('assertion') ?? '');
      const given = { access_token: `token-${assertions.length}`, expires_in: 3_600 };
      const { status, body } = (answers.length > 1 ? answers.shift() : answers[0]) ?? {
        status: 200,
        body: given,
      };
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  await connections.close();
  server.close();
});

function tokenUri(): string {
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`;
}

function document(changed: object = {}): string {
  return JSON.stringify({
    project_id: 'their-project',
    private_key_id: 'k1',
    private_key: PEM,
    client_email: 'relay@their-project.iam.gserviceaccount.com',
    token_uri: tokenUri(),
    ...changed,
  });
}

function channel(changed: Partial<Channel> = {}, key = document()): Channel {
  return { ...channelTo('http://127.0.0.1:1'), apiKey: key, apiKeys: [key], ...changed };
}

const MINUTE = 60_000;

describe('the tokens of a service account', () => {
  it('are requested once for however many calls, and kept until shortly before they expire', async () => {
    const many = await Promise.all(Array.from({ length: 20 }, () => tokens.of(channel())));
    expect(new Set(many)).toEqual(new Set(['token-1']));
    clock.advance(54 * MINUTE);
    expect(await tokens.of(channel())).toBe('token-1');
    clock.advance(2 * MINUTE);
    expect(await Promise.all([tokens.of(channel()), tokens.of(channel())])).toEqual(['token-2', 'token-2']);
    expect(assertions).toHaveLength(2);
  });

  it('are issued for an assertion that the account signed', async () => {
    await tokens.of(channel());
    const [header = '', claims = '', signature = ''] = assertions[0]!.split('.');
    const part = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString()) as object;
    expect(part(header)).toEqual({ alg: 'RS256', typ: 'JWT', kid: 'k1' });
    expect(part(claims)).toEqual({
      iss: 'relay@their-project.iam.gserviceaccount.com',
      scope: 'https://www.googleapis.com/auth/cloud-platform',
      aud: tokenUri(),
      iat: clock.nowMs() / 1000,
      exp: clock.nowMs() / 1000 + 3_600,
    });
    const key = createPublicKey(publicKey.export({ type: 'spki', format: 'pem' }));
    const bytes = Buffer.from(signature, 'base64url');
    expect(verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, bytes)).toBe(true);
  });

  it('are requested again after one was refused, or could not be had', async () => {
    await tokens.of(channel());
    tokens.forget(channel());
    expect(await tokens.of(channel())).toBe('token-2');
    tokens.forget(channel());
    answers = [
      { status: 503, body: {} },
      { status: 200, body: { access_token: 'late', expires_in: 60 } },
    ];
    await expect(tokens.of(channel())).rejects.toThrow('no token: HTTP 503');
    expect(await tokens.of(channel())).toBe('late');
    clock.advance(29_000);
    expect(await tokens.of(channel())).toBe('late');
    expect(assertions).toHaveLength(4);
  });

  it('are not lost if an older one is refused after the next was requested', async () => {
    await tokens.of(channel());
    tokens.forget(channel());
    const next = tokens.of(channel());
    tokens.forget(channel());
    expect(await Promise.all([next, tokens.of(channel())])).toEqual(['token-2', 'token-2']);
  });

  it('belong to one key and channel', async () => {
    const other = document({ private_key_id: 'k2' });
    expect(await tokens.of(channel())).toBe('token-1');
    expect(await tokens.of(channel({}, other))).toBe('token-2');
    expect(await tokens.of(channel({ id: 'elsewhere' }))).toBe('token-3');
    expect(await tokens.of(channel())).toBe('token-1');
  });

  it.each([
    [400, { error: 'invalid_grant', error_description: 'secret' }, 'no token: HTTP 400, invalid_grant', 401],
    [401, {}, 'no token: HTTP 401', 401],
    [400, { error: 'invalid_scope' }, 'no token: HTTP 400, invalid_scope', null],
    [500, {}, 'no token: HTTP 500', null],
    [200, { access_token: 'a\nb', expires_in: 60 }, 'no token: HTTP 200', null],
    [200, { access_token: 'a' }, 'no token: HTTP 200', null],
  ])('are not issued with HTTP %i and %j', async (status, body, message, shown) => {
    answers = [{ status, body }];
    await expect(tokens.of(channel())).rejects.toMatchObject({ message, status: shown });
  });

  it('are requested only from Google, unless the channel may have a private address', async () => {
    const theirs = channel({ allowPrivateAddress: false });
    await expect(tokens.of(theirs)).rejects.toThrow('is not that of Google');
    expect(assertions).toEqual([]);
  });

  it('are not requested with a key that cannot sign, and no reason quotes the key', async () => {
    const keys = ['sk-plain', '{}', document({ private_key: 'no pem' }), document({ project_id: '../x' })];
    for (const key of keys) {
      const failure: unknown = await tokens.of(channel({}, key)).catch((error: unknown) => error);
      expect(failure).toMatchObject({ name: 'CredentialsUnavailable' });
      expect(String(failure)).not.toMatch(/sk-plain|no pem|PRIVATE/);
    }
    expect(assertions).toEqual([]);
  });
});

describe('a service account', () => {
  it('is stored on one line with only what is needed', () => {
    const pretty = JSON.stringify({ ...JSON.parse(document()), client_id: '1', auth_uri: 'x' }, null, 2);
    const written = serviceAccounts.kept(pretty);
    expect(written).not.toMatch(/\n|client_id|auth_uri/);
    expect(readServiceAccount(written)).toEqual(readServiceAccount(pretty));
  });

  it.each([
    ['sk-abc', 'must be the JSON document of a service account'],
    ['{"client_email": "a@b"}', 'must be the JSON document of a service account'],
  ])('is refused as %s', (text, fault) => expect(serviceAccounts.fault(text)).toBe(fault));

  it('is refused with a key of another kind', () => {
    const { privateKey: other } = generateKeyPairSync('ed25519');
    const pem = other.export({ type: 'pkcs8', format: 'pem' }).toString();
    expect(serviceAccounts.fault(document({ private_key: pem }))).toBe('must hold an RSA key');
    expect(serviceAccounts.fault(document({ private_key: 'x' }))).toMatch(/can be read/);
    expect(serviceAccounts.fault(document())).toBeNull();
  });
});
