import { expect, it } from 'vitest';
import type pg from 'pg';
import { databaseAcross } from '../../test/support/earlier-schema.js';

const CONVERTING = '0077_queued_notices.sql';
const SENTENCES = {
  changed: 'The password of your account was changed, and all other sessions were ended.',
  on: 'One-time codes were switched on for your account.',
  renewed: 'New recovery codes were made for your account; those before are void.',
  off: 'One-time codes were switched off for your account.',
  deletion:
    'Your account will be deleted after 2026-12-01 09:30 UTC. Its API keys no longer work. To keep the account, sign in before then and cancel the deletion.',
};

const database = databaseAcross(CONVERTING, queueAsBefore);

async function queueAsBefore(owner: pg.Client): Promise<void> {
  for (const [to, what] of Object.entries(SENTENCES)) await queue(owner, to, { what });
  await queue(owner, 'sent', { what: SENTENCES.on });
  await owner.query(`UPDATE mail_outbox SET ended_at = now() WHERE recipient = 'sent'`);
}

function queue(owner: pg.Client, to: string, details: object): Promise<unknown> {
  return owner.query(
    `INSERT INTO mail_outbox (template, recipient, details) VALUES ('security_notice', $1, $2)`,
    [to, details],
  );
}

it('converts pending notices into the form from which mail is written', async () => {
  const { rows } = await database().query<{ to: string; template: string; details: object }>(
    'SELECT recipient AS to, template, details FROM mail_outbox ORDER BY id',
  );
  expect(rows).toEqual([
    { to: 'changed', template: 'security_notice', details: { notice: 'password.changed' } },
    { to: 'on', template: 'security_notice', details: { notice: 'totp.enabled' } },
    { to: 'renewed', template: 'security_notice', details: { notice: 'totp.codes_renewed' } },
    { to: 'off', template: 'security_notice', details: { notice: 'totp.disabled' } },
    { to: 'deletion', template: 'account_deletion', details: { dueAt: '2026-12-01T09:30:00.000Z' } },
    { to: 'sent', template: 'security_notice', details: { what: SENTENCES.on } },
  ]);
});
