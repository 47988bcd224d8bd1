import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ControlPlaneDocument } from '#apps/control-plane/http/openapi.document.js';
import { person } from '../support/console.js';
import { ensureBuilt } from '../support/programs.js';
import { type Relay, startRelay } from '../support/relay.js';

const CLIENT = join(import.meta.dirname, '../../apps/console/api/schema.ts');

const SCRIPT = pathToFileURL(join(import.meta.dirname, '../../scripts/lib/console-client.mjs')).href;

let relay: Relay;
let document: ControlPlaneDocument;

beforeAll(async () => {
  ensureBuilt();
  relay = await startRelay();
  document = (await (await fetch(`${relay.consoleUrl}/api/openapi.json`)).json()) as ControlPlaneDocument;
});
afterAll(() => relay?.close());

describe('the document of the control plane', () => {
  it('is the one that the pages’ client was generated from', async () => {
    const { clientTypes } = (await import(SCRIPT)) as {
      clientTypes: (from: ControlPlaneDocument) => Promise<string>;
    };
    expect(readFileSync(CLIENT, 'utf8')).toBe(await clientTypes(document));
  });

  it('names its schemas', () => {
    const { schemas = {} } = document.components;
    expect(Object.keys(schemas)).toEqual(expect.arrayContaining(['Account', 'Charge', 'Error', 'Topup']));
    const refs = [...JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/(\w+)"/g)];
    expect(refs.map(([, name]) => name!).filter((name) => !(name in schemas))).toEqual([]);
  });
});

describe('a session', () => {
  it('says who is signed in', async () => {
    const someone = await person(relay, { roles: ['finance'] });
    const { data } = await someone.api.GET('/api/session');
    expect(data).toMatchObject({ email: someone.email, roles: ['user', 'finance'] });
  });

  it('gets a new cookie once its token has been in use for long', async () => {
    const someone = await person(relay);
    await relay.fixture.billing.query(
      `UPDATE sessions SET rotated_at = now() - interval '1 day' WHERE user_id = $1`,
      [someone.userId],
    );
    const cookie = (await someone.send('/api/session')).headers.get('set-cookie');
    expect(cookie).toMatch(/^tollgate_session=[A-Za-z0-9_-]{43};.*HttpOnly.*SameSite=Lax/);
    expect((await someone.send('/api/session')).headers.get('set-cookie')).toBeNull();
  });

  it('is needed', async () => {
    const response = await fetch(`${relay.consoleUrl}/api/session`);
    expect(response.status).toBe(401);
    expect(await response.json()).toMatchObject({ error: { code: 'not_signed_in' } });
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-z]{26}$/);
  });
});
