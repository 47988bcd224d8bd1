import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import { ensureBuilt, type Finished } from '../support/programs.js';
import { runTollgate } from '../support/tollgate.js';
import { type Relay, startRelay } from '../support/relay.js';

const CHEAP = 'Low-Price';

let relay: Relay;
let admin: Person;
let someone: Person;

beforeAll(async () => {
  ensureBuilt();
  relay = await startRelay({ CATALOG_LIFE_SECONDS: '0' });
  admin = await person(relay, { roles: ['admin'] });
  someone = await person(relay);
  await admin.api.POST('/api/admin/groups', { body: { name: CHEAP, multiplier: '0.8' } as never });
});
afterAll(() => relay?.close());

function tollgate(...args: string[]): Promise<Finished> {
  const env = { DATABASE_URL: relay.fixture.urlFor('billing'), TOLLGATE_AS: admin.email };
  return runTollgate(['groups', ...args], env);
}

async function json(...args: string[]): Promise<unknown> {
  const { code, stdout, stderr } = await tollgate(...args, '--json');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return JSON.parse(stdout);
}

async function keyStatus(): Promise<number> {
  const { response } = await someone.api.POST('/api/keys', { body: { name: 'a key', group: CHEAP } });
  return response.status;
}

describe('tollgate groups', () => {
  it('grants a group, in which the account can then create keys, and withdraws it', async () => {
    const { accountId } = someone;
    const open = [
      { group: 'Public-Relay', isOpen: true, grantedBy: null, grantedAt: null },
      { group: 'Vendora-Main', isOpen: true, grantedBy: null, grantedAt: null },
    ];
    expect(await json('list', accountId)).toEqual({ accountId, groups: open });
    expect(await keyStatus()).toBe(400);

    expect(await json('grant', accountId, CHEAP)).toEqual({ accountId, group: CHEAP, changed: true });
    expect(await json('grant', accountId, CHEAP)).toEqual({ accountId, group: CHEAP, changed: false });
    const granted = {
      group: CHEAP,
      isOpen: false,
      grantedBy: expect.stringMatching(/^(cli|user):./),
      grantedAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
    };
    expect(await json('list', accountId)).toEqual({ accountId, groups: [granted, ...open] });
    expect(await keyStatus()).toBe(201);

    expect(await json('revoke', accountId, CHEAP)).toEqual({ accountId, group: CHEAP, changed: true });
    expect(await json('revoke', accountId, CHEAP)).toEqual({ accountId, group: CHEAP, changed: false });
    expect(await json('list', accountId)).toEqual({ accountId, groups: open });
    expect(await keyStatus()).toBe(400);
    const { rows } = await relay.fixture.owner.query(
      `SELECT action, after FROM audit_log WHERE account_id = $1 AND action LIKE 'group.%' ORDER BY id`,
      [accountId],
    );
    expect(rows).toEqual([
      { action: 'group.granted', after: { group: CHEAP } },
      { action: 'group.withdrawn', after: { group: CHEAP } },
    ]);
  });

  it('says what it did in a sentence and a table', async () => {
    const { accountId } = await person(relay);
    const outputOf = async (...args: string[]) => (await tollgate(...args)).stdout;
    const may = `Account ${accountId} can create keys in ${CHEAP}`;
    expect(await outputOf('grant', accountId, CHEAP)).toBe(`${may}.\n`);
    expect(await outputOf('grant', accountId, CHEAP)).toBe(`${may}; nothing changed.\n`);
    const list = await outputOf('list', accountId);
    expect(list).toMatch(/^ Group +Open to all +Granted by *\n/);
    expect(list).toMatch(/Low-Price +no +(cli|user):/);
    expect(list).toMatch(/Vendora-Main +yes +–/);
    expect(await outputOf('revoke', accountId, CHEAP)).toBe(
      `Account ${accountId} no longer has a grant for ${CHEAP}.\n`,
    );
  });

  it('refuses what does not exist, and an incomplete command line', async () => {
    const { accountId } = someone;
    for (const command of ['grant', 'revoke']) {
      expect(await tollgate(command, accountId, 'Nowhere')).toMatchObject({
        code: 1,
        stderr: 'There is no group "Nowhere".\n',
      });
      expect(await tollgate(command, accountId)).toMatchObject({
        code: 2,
        stderr: expect.stringContaining('group'),
      });
    }
    const nobody = newId();
    for (const args of [
      ['grant', nobody, CHEAP],
      ['list', nobody],
    ])
      expect(await tollgate(...args)).toMatchObject({
        code: 1,
        stderr: `There is no account "${nobody}".\n`,
      });
  });
});
