import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PasswordHasher } from '#identity/password.hasher.js';
import { verifyChain } from '#ledger/chain/chain-verify.js';
import { newId } from '#platform/ids.js';
import { type Person, person, visitor } from '../support/console.js';
import { runControls } from '../support/controls.js';
import { tablesWith } from '../support/everywhere.js';
import { awaitMail, mailTo, tokenIn } from '../support/mail.js';
import { expectCleanLedger, json, type Relay, startRelay, until } from '../support/relay.js';
import { unzip } from '../support/zip.js';

const PASSWORD = 'correct horse battery';

let relay: Relay;
let passwordHash: string;

beforeAll(async () => {
  passwordHash = await new PasswordHasher().hash(PASSWORD, { ip: '::1' });
  relay = await startRelay({
    RETENTION_PROMPTS_DAYS: '0',
    RETENTION_INTERVAL_SECONDS: '0.1',
    PRIVACY_POLL_SECONDS: '0.1',
    ACCOUNT_DELETION_RETRY_SECONDS: '0.1',
    IMAGE_URL_LIFE_SECONDS: '1',
    VIDEO_FILE_LIFE_SECONDS: '1',
    ACCOUNT_EXPORTS_PER_DAY: '2',
    CHAIN_SEAL_SECONDS: '0.1',
    RECONCILE_GRACE_SECONDS: '60',
    MAIL_POLL_SECONDS: '0.1',
    MAILS_PER_ADDRESS: '100000',
    SIGN_INS_PER_ADDRESS: '100000',
  });
});
afterAll(() => relay?.close());

const auditText = async (accountId: string): Promise<string> => {
  const { rows } = await relay.fixture.owner.query<{ text: string }>(
    `SELECT coalesce(string_agg(l::text, E'\\n'), '') AS text FROM audit_log l WHERE account_id = $1`,
    [accountId],
  );
  return rows[0]!.text;
};

/** A customer with credits and a key. */
async function owner(credits = '5'): Promise<Person & { apiKey: string }> {
  const someone = await person(relay, { credits });
  await relay.fixture.billing.query('UPDATE users SET password_hash = $2 WHERE id = $1', [
    someone.userId,
    passwordHash,
  ]);
  const { data } = await someone.api.POST('/api/keys', { body: { name: 'a key', group: 'Vendora-Main' } });
  return { ...someone, apiKey: data!.apiKey };
}

async function createVideo({ apiKey }: { apiKey: string }, prompt: string): Promise<string> {
  const body = { model: 'vendora-imagine-video', prompt, seconds: '4', size: '1280x720' };
  const response = await fetch(
    `${relay.baseUrl}/v1/videos`,
    json(body, { authorization: `Bearer ${apiKey}` }),
  );
  return ((await response.json()) as { id: string }).id;
}

const view = (staff: Person, accountId: string, body: { reason: string; ticketId?: string }) =>
  staff.api.POST('/api/support/accounts/{accountId}/view', { params: { path: { accountId } }, body });

describe('the audit log', () => {
  it('has neither names nor addresses of a customer, whatever they and support do', async () => {
    const someone = await person(relay);
    const support = await person(relay, { roles: ['support'] });
    const name = `Ada ${newId()}`;
    await someone.api.PATCH('/api/account', { body: { name } });
    const { data: made } = await someone.api.POST('/api/keys', {
      body: { name, group: 'Public-Relay', allowedIps: ['192.0.2.77'] },
    });
    const params = { path: { accountId: someone.accountId } };
    await support.api.POST('/api/support/accounts/{accountId}/freeze', {
      params,
      body: { reason: `Asked for by ${someone.email}.` },
    });
    await support.api.POST('/api/support/accounts/{accountId}/unfreeze', {
      params,
      body: { note: `${someone.email} wrote again.` },
    });
    await view(support, someone.accountId, { reason: `A letter of ${someone.email}.` });
    const text = await auditText(someone.accountId);
    for (const action of ['account.changed', 'key.created', 'account.frozen', 'account.view_began'])
      expect(text).toContain(action);
    for (const secret of [someone.email, name, '192.0.2.77']) expect(text).not.toContain(secret);
    expect(text).toContain(made!.keyId);
  });
});

describe('support viewing a console', () => {
  it('must give a reason, and a ticket that it names must belong to that account', async () => {
    const [someone, other] = [await person(relay), await person(relay)];
    const support = await person(relay, { roles: ['support'] });
    const params = { path: { accountId: someone.accountId } };
    const path = '/api/support/accounts/{accountId}/view';
    for (const body of [undefined, {}, { reason: '' }, { reason: '   ' }] as never[]) {
      const { response } = await support.api.POST(path, { params, body });
      expect(response.status).toBe(400);
    }
    const { data: foreign } = await other.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'Mine', body: 'Not theirs.' },
    });
    const { error } = await view(support, someone.accountId, {
      reason: 'A question of theirs.',
      ticketId: foreign!.id,
    });
    expect(error).toMatchObject({ error: { code: 'invalid_value', param: 'ticketId' } });
    expect(await auditText(someone.accountId)).not.toContain('account.view_began');
  });

  it('is shown to the customer with its role, time and reason, but no name', async () => {
    const [someone, stranger] = [await person(relay), await person(relay)];
    const support = await person(relay, { roles: ['support'] });
    const { data: ticket } = await someone.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'Why', body: 'Why did my call fail?' },
    });
    const ticketId = ticket!.id;
    await view(support, someone.accountId, { reason: 'To see the call of the ticket.', ticketId });
    const { data } = await someone.api.GET('/api/activity');
    expect(data!.items[0]).toMatchObject({
      action: 'account.view_began',
      by: 'support',
      reason: 'To see the call of the ticket.',
      ticketId,
    });
    expect(data!.items.at(-1)).toMatchObject({ action: 'session.opened', by: 'you' });
    expect(JSON.stringify(data)).not.toContain(support.userId);
    const { data: theirs } = await stranger.api.GET('/api/activity');
    expect(theirs!.items.map(({ action }) => action)).toEqual(['session.opened']);
  });
});

describe('the retention schedule', () => {
  it('is public, but only administrators see its runs', async () => {
    const [admin, support] = [
      await person(relay, { roles: ['admin'] }),
      await person(relay, { roles: ['support'] }),
    ];
    const { data: published } = await visitor(relay).GET('/api/public/retention');
    expect(published!.items).toContainEqual({ class: 'prompts', keptSeconds: 0 });
    await until('a run', async () => {
      const { data } = await admin.api.GET('/api/admin/retention');
      return data!.items.every(({ lastRunAt }) => lastRunAt !== null);
    });
    expect((await support.api.GET('/api/admin/retention')).response.status).toBe(403);
  });

  it('removes the prompts of tasks that ended longer ago, and leaves the rest of what they show', async () => {
    const secret = `a lighthouse for ${newId()}`;
    const someone = await owner();
    const id = await createVideo(someone, secret);
    const show = async () => (await someone.api.GET('/api/tasks')).data!.items[0]!;
    await until('the task to end', async () => (await show()).state === 'completed');
    await until(
      'the prompt to be gone',
      async () => (await tablesWith(relay.fixture.owner, secret)).length === 0,
    );
    expect(await show()).toMatchObject({ id, state: 'completed', prompt: '', seconds: 4, size: '1280x720' });
    const shown = await fetch(`${relay.baseUrl}/v1/videos/${id}`, {
      headers: { authorization: `Bearer ${someone.apiKey}` },
    });
    expect(await shown.json()).toMatchObject({ id, status: 'completed', prompt: '', size: '1280x720' });
  });
});

const askToDelete = (someone: Person, body: { password: string; forfeitBalance?: boolean }) =>
  someone.api.POST('/api/account/deletion', { body: { forfeitBalance: false, ...body } });

/** As if the time for cancelling were over. */
const makeDue = ({ accountId }: Person) =>
  relay.fixture.owner.query(
    'UPDATE deletion_requests SET due_at = now(), next_try_at = now() WHERE account_id = $1',
    [accountId],
  );

const stateOf = async ({ accountId }: Person): Promise<string | undefined> => {
  const { rows } = await relay.fixture.owner.query<{ state: string }>(
    `SELECT state FROM deletion_requests WHERE account_id = $1 ORDER BY id DESC LIMIT 1`,
    [accountId],
  );
  return rows[0]?.state;
};

const signIn = (email: string, more: { cancelDeletion?: boolean } = {}) =>
  visitor(relay).POST('/api/public/sign-in', { body: { email, password: PASSWORD, ...more } });

const listModels = (apiKey: string) =>
  fetch(`${relay.baseUrl}/v1/models`, { headers: { authorization: `Bearer ${apiKey}` } });

describe('deleting an account', () => {
  it('needs the password, and consent to losing the remaining credits', async () => {
    const someone = await owner('1');
    for (const [body, code] of [
      [{ password: 'not the password', forfeitBalance: true }, 'forbidden'],
      [{ password: PASSWORD }, 'conflict'],
    ] as const) {
      const { error } = await askToDelete(someone, body);
      expect(error).toMatchObject({ error: { code } });
    }
    expect(await stateOf(someone)).toBeUndefined();
    expect((await listModels(someone.apiKey)).status).toBe(200);
  });

  it('blocks keys and sign-in at once, and can be cancelled by signing in until it is due', async () => {
    const someone = await owner('1');
    const { data } = await askToDelete(someone, { password: PASSWORD, forfeitBalance: true });
    expect(data).toMatchObject({ state: 'requested', waitingFor: null });
    await until('the key to be refused', async () => (await listModels(someone.apiKey)).status === 401);
    expect((await someone.api.GET('/api/account')).response.status).toBe(401);
    await awaitMail(relay, someone.email, { subject: /./ });
    const refused = await signIn(someone.email);
    expect(refused.error).toMatchObject({ error: { code: 'account_closing', param: 'cancelDeletion' } });
    const kept = await signIn(someone.email, { cancelDeletion: true });
    expect(kept.data).toMatchObject({ accountId: someone.accountId });
    expect(await stateOf(someone)).toBe('cancelled');
    expect((await listModels(someone.apiKey)).status).toBe(401);
    expect((await signIn(someone.email)).response.status).toBe(200);
  });

  it('leaves no address, name or word of a person anywhere, and books that pass every control', async () => {
    const someone = await owner('5');
    const word = `lighthouse-${newId()}`;
    await someone.api.PATCH('/api/account', { body: { name: `Ada ${word}`, lowBalanceThreshold: '4.99' } });
    const { data: key } = await someone.api.POST('/api/keys', {
      body: { name: word, group: 'Vendora-Main' },
    });
    await someone.api.POST('/api/webhooks', {
      body: { url: `https://example.com/${word}`, description: word, events: ['video.completed'] },
    });
    await someone.api.POST('/api/tickets', {
      body: { kind: 'question', subject: word, body: `${word}: write to ${someone.email}.` },
    });
    await fetch(
      `${relay.baseUrl}/v1/images/generations`,
      json(
        { model: 'vendora-imagine-image', prompt: word },
        { authorization: `Bearer ${key!.apiKey}`, 'idempotency-key': word, 'x-request-id': word },
      ),
    );
    await createVideo(someone, word);
    await someone.api.POST('/api/data-exports', { body: { password: PASSWORD } });
    await visitor(relay).POST('/api/public/password-resets', { body: { email: someone.email } });
    expect((await tablesWith(relay.fixture.owner, word)).length).toBeGreaterThan(4);

    await askToDelete(someone, { password: PASSWORD, forfeitBalance: true });
    await makeDue(someone);
    await until('the deletion to be done', async () => (await stateOf(someone)) === 'done');
    await until(
      'the last mail to be gone',
      async () => (await tablesWith(relay.fixture.owner, someone.email)).length === 0,
    );
    for (const trace of [word, someone.email])
      expect([trace, await tablesWith(relay.fixture.owner, trace)]).toEqual([trace, []]);
    expect((await signIn(someone.email, { cancelDeletion: true })).error).toMatchObject({
      error: { code: 'sign_in_failed' },
    });

    const finance = await person(relay, { roles: ['finance'] });
    const looked = await runControls(finance);
    expect(looked.filter(({ count }) => count !== 0)).toEqual([]);
    const of = `account:${someone.accountId},user:${someone.userId},key:${key!.keyId}`;
    const names = await finance.api.GET('/api/support/names', { params: { query: { of } } });
    expect(names.data).toEqual({ items: [] });
    await expectCleanLedger(relay);
    expect(await verifyChain(relay.fixture.billing)).toMatchObject({ ok: true });

    const before = (await mailTo(relay, someone.email)).length;
    await visitor(relay).POST('/api/public/sign-ups', { body: { email: someone.email } });
    await until(
      'the mail of a new sign-up',
      async () => (await mailTo(relay, someone.email)).length > before,
    );
    const mail = (await mailTo(relay, someone.email)).at(-1)!;
    const again = await visitor(relay).POST('/api/public/sign-ups/confirm', {
      body: { token: tokenIn(mail), password: PASSWORD },
    });
    expect(again.data).toMatchObject({ email: someone.email });
    expect(again.data!.accountId).not.toBe(someone.accountId);
  });

  it('is requested by support on a ticket, and decided by an administrator', async () => {
    const someone = await owner('0');
    const [support, admin] = [
      await person(relay, { roles: ['support'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const { data: ticket } = await someone.api.POST('/api/tickets', {
      body: { kind: 'question', subject: 'Delete me', body: 'Please delete my account.' },
    });
    const asked = await support.api.POST('/api/support/tickets/{ticketId}/account-deletion', {
      params: { path: { ticketId: ticket!.id } },
      body: { requestId: newId(), reason: 'Asked for on the ticket.', forfeitBalance: false },
    });
    const { approvalId } = asked.data!;
    expect(await stateOf(someone)).toBeUndefined();
    const decide = (by: Person) =>
      by.api.POST('/api/approvals/{approvalId}/approve', { params: { path: { approvalId } }, body: {} });
    expect((await decide(support)).response.status).toBe(403);
    expect((await decide(admin)).response.status).toBe(200);
    expect(await stateOf(someone)).toBe('requested');
    const cancelled = await support.api.POST('/api/support/accounts/{accountId}/deletion/cancel', {
      params: { path: { accountId: someone.accountId } },
      body: { reason: 'Called us, and cannot sign in.' },
    });
    expect(cancelled.response.status).toBe(204);
    expect((await signIn(someone.email)).response.status).toBe(200);
  });
});

describe('an export of one’s data', () => {
  const ready = async (someone: Person): Promise<string> => {
    const { data } = await someone.api.POST('/api/data-exports', { body: { password: PASSWORD } });
    await until('the export', async () => {
      const { data: all } = await someone.api.GET('/api/data-exports');
      return all!.items[0]!.state === 'ready';
    });
    return data!.id;
  };
  const download = (someone: Person, exportId: string) =>
    someone.send(`/api/data-exports/${exportId}/archive`);

  it('has everything of theirs, and nothing of anyone else’s', async () => {
    const [someone, other] = [await owner('5'), await owner('5')];
    await createVideo(someone, 'a paper boat');
    await createVideo(other, 'a paper crane');
    for (const each of [someone, other])
      await each.api.POST('/api/tickets', {
        body: { kind: 'question', subject: `Of ${each.email}`, body: 'A question.' },
      });
    const answer = await download(someone, await ready(someone));
    expect(answer.headers.get('content-type')).toBe('application/zip');
    const files = unzip(Buffer.from(await answer.arrayBuffer()));
    const lines = (file: string) =>
      files
        .get(`${file}.jsonl`)!
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines('profile')).toEqual([
      expect.objectContaining({ id: someone.accountId, email: someone.email }),
    ]);
    expect(lines('keys')).toHaveLength(2);
    expect(lines('tickets')).toEqual([expect.objectContaining({ subject: `Of ${someone.email}` })]);
    expect(lines('requests')).toEqual([expect.objectContaining({ family: 'video', held: '0.2' })]);
    expect(lines('top-ups')).toEqual([expect.objectContaining({ credits: '5' })]);
    expect(lines('statement').length).toBeGreaterThan(1);
    expect(lines('activity').map(({ action }) => action)).toContain('account.export_requested');
    const text = [...files.values()].join('');
    expect(text).not.toContain(someone.apiKey);
    for (const foreign of [other.email, other.accountId, other.userId]) expect(text).not.toContain(foreign);
  });

  it('is only for its signed-in owner', async () => {
    const [someone, stranger] = [await owner('0'), await owner('0')];
    const [support, admin] = [
      await person(relay, { roles: ['support'] }),
      await person(relay, { roles: ['admin'] }),
    ];
    const exportId = await ready(someone);
    expect((await download(someone, exportId)).status).toBe(200);
    for (const nobody of [stranger, support, admin]) {
      expect((await download(nobody, exportId)).status).toBe(404);
      const { data } = await nobody.api.GET('/api/data-exports');
      expect(data!.items).toEqual([]);
    }
    expect((await fetch(`${relay.consoleUrl}/api/data-exports/${exportId}/archive`)).status).toBe(401);
    await view(support, someone.accountId, { reason: 'A question of theirs.' });
    expect((await download(support, exportId)).status).toBe(403);
    const wrong = await someone.api.POST('/api/data-exports', { body: { password: 'not the password' } });
    expect(wrong.response.status).toBe(403);
    await relay.fixture.owner.query('UPDATE data_exports SET expires_at = now() WHERE id = $1', [exportId]);
    expect((await download(someone, exportId)).status).toBe(404);
  });

  it('is made one at a time, and only a few times a day', async () => {
    const someone = await owner('0');
    const ask = () => someone.api.POST('/api/data-exports', { body: { password: PASSWORD } });
    const [one, two] = await Promise.all([ask(), ask()]);
    expect([one.response.status, two.response.status]).toEqual([202, 202]);
    expect((await ask()).error).toMatchObject({ error: { code: 'too_many_attempts' } });
  });
});
