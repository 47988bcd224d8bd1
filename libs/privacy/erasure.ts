import type pg from 'pg';
import { inTransaction } from '#database/database.js';
import { AttemptsStore } from '#identity/attempts.store.js';
import { mailSubjects } from '#mail/mail.outbox.js';

/** Whose traces are removed. */
export interface ErasureSubject {
  accountId: string;
  /** Null for an account without a person, for example one created on the command line. */
  userId: string | null;
  email: string | null;
}

/** The most rows that one transaction changes. */
const BATCH = 1_000;

const AFTER_EVERY_ID = 'z'.repeat(40);

/** How many rows a batch touched, a full batch if more may be left, and where the next one begins, in a list that stays. */
interface Batch {
  touched: number;
  after?: string;
}

/** Safe to repeat. */
type Step = (client: pg.ClientBase, subject: ErasureSubject, after: string) => Promise<Batch>;

/** Everything that is not part of the books, access first. `anonymise` changes the person's own row last. */
const STEPS: readonly Step[] = [
  ofPerson('DELETE FROM sessions WHERE user_id = $1'),
  ofPerson('DELETE FROM recovery_codes WHERE user_id = $1'),
  ofPerson('DELETE FROM password_resets WHERE user_id = $1'),
  ofPerson('DELETE FROM email_changes WHERE user_id = $1'),
  ofAccount(`UPDATE api_keys SET name = 'deleted', allowed_ips = NULL, key_prefix = NULL
    WHERE account_id = $1 AND (name <> 'deleted' OR num_nonnulls(allowed_ips, key_prefix) > 0)`),
  batched('webhook_deliveries', 'endpoint_id IN (SELECT id FROM webhook_endpoints WHERE account_id = $1)'),
  ofAccount('DELETE FROM webhook_endpoints WHERE account_id = $1'),
  batched('ticket_messages', 'ticket_id IN (SELECT id FROM tickets WHERE account_id = $1)'),
  ofAccount(`UPDATE tickets SET subject = '', state = 'closed', closed_at = coalesce(closed_at, now())
    WHERE account_id = $1 AND (subject <> '' OR state <> 'closed')`),
  walked(
    'tasks',
    `SET request = '{"prompt": ""}', error_message = NULL, request_cleared_at = now()`,
    `t.ended_at IS NOT NULL AND (t.request <> '{"prompt": ""}' OR t.request_cleared_at IS NULL)`,
  ),
  walked('charges', 'SET request_id = NULL', 't.request_id IS NOT NULL'),
  ofAccount(`DELETE FROM idempotency_keys WHERE charge_id = ANY (ARRAY(SELECT charge_id FROM idempotency_keys
    WHERE key_id IN (SELECT id FROM api_keys WHERE account_id = $1) AND answer_file IS NULL LIMIT ${BATCH}))`),
  ofAccount(`UPDATE idempotency_keys SET expires_at = now()
    WHERE key_id IN (SELECT id FROM api_keys WHERE account_id = $1) AND expires_at > now()`),
  ofAccount('UPDATE topup_orders SET checkout_url = NULL WHERE account_id = $1 AND checkout_url IS NOT NULL'),
  ofAccount(`UPDATE billing_details SET name = NULL, address = NULL, tax_id = NULL
    WHERE account_id = $1 AND num_nonnulls(name, address, tax_id) > 0`),
  ofAccount('UPDATE account_names SET name = NULL WHERE account_id = $1 AND name IS NOT NULL'),
  ofAccount('DELETE FROM data_exports WHERE account_id = $1'),
  eraseAddresses,
];

/**
 * Removes the traces of an account, one batch per transaction. If killed, it simply starts again. A batch that is rolled back
 * runs again from where it began: only its commit moves on.
 */
export async function erase(
  pool: pg.Pool,
  subject: ErasureSubject,
  onBatch: () => Promise<void>,
): Promise<void> {
  for (const step of STEPS) {
    let batch: Batch = { touched: 0 };
    do {
      const { after = '' } = batch;
      batch = await inTransaction(pool, (client) => step(client, subject, after));
      await onBatch();
    } while (batch.touched >= BATCH);
  }
}

/** Stored answers with files are left to the gateway that stores them. */
export async function hasFiles(pool: pg.Pool, { accountId }: ErasureSubject): Promise<boolean> {
  const { rowCount } = await pool.query(
    'SELECT FROM idempotency_keys WHERE key_id IN (SELECT id FROM api_keys WHERE account_id = $1) LIMIT 1',
    [accountId],
  );
  return rowCount !== 0;
}

/** Only the person's id is left. The address can be used for another account from now on. */
export async function anonymise(client: pg.ClientBase, { accountId, userId }: ErasureSubject): Promise<void> {
  await client.query(
    `UPDATE accounts SET name = 'Deleted account', invite_code = 'deleted-' || id WHERE id = $1`,
    [accountId],
  );
  await client.query(
    `UPDATE users SET email = 'deleted-' || id || '@deleted.invalid', password_hash = 'deleted', roles = '{user}',
       totp_secret = NULL, totp_confirmed_at = NULL, totp_last_step = NULL, language = NULL,
       disabled_at = coalesce(disabled_at, now())
     WHERE id = $1`,
    [userId],
  );
}

function ofAccount(statement: string): Step {
  return async (client, { accountId }) => ({
    touched: (await client.query(statement, [accountId])).rowCount ?? 0,
  });
}

function ofPerson(statement: string): Step {
  return async (client, { userId }) => ({
    touched: userId === null ? 0 : ((await client.query(statement, [userId])).rowCount ?? 0),
  });
}

function batched(table: string, condition: string): Step {
  return ofAccount(
    `DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM ${table} WHERE ${condition} LIMIT ${BATCH}))`,
  );
}

/**
 * Changes rows of a list that stays, in the order of its index. Each batch begins where the one before ended: otherwise it
 * would read all that is already changed again, and a long list would never end.
 */
function walked(table: 'tasks' | 'charges', change: string, condition: string): Step {
  const statement = `WITH seen AS (
      SELECT id FROM ${table} WHERE (account_id, id) > ($1, $2) AND (account_id, id) < ($1, '${AFTER_EVERY_ID}')
      ORDER BY account_id, id LIMIT ${BATCH}),
    changed AS (UPDATE ${table} t ${change} FROM seen s WHERE t.id = s.id AND ${condition})
    SELECT count(*)::int AS touched, max(id) AS after FROM seen`;
  return async (client, { accountId }, after) =>
    (await client.query<Batch>(statement, [accountId, after])).rows[0]!;
}

/**
 * Mail to the person, and attempts counted by address. Mail about a change of address went to the old one and names the
 * new one, so earlier addresses are found through it, one after the other. An address that somebody else has by now is theirs.
 */
async function eraseAddresses(client: pg.ClientBase, { userId, email }: ErasureSubject): Promise<Batch> {
  if (email === null) return { touched: 0 };
  const { rows } = await client.query<{ address: string }>(
    `WITH RECURSIVE known (address) AS (
       SELECT $1::text
       UNION SELECT other.address FROM known k JOIN mail_outbox m ON m.template IN ('email_changed', 'email_change')
         AND (m.recipient = k.address OR m.details ->> 'email' = k.address)
       CROSS JOIN LATERAL (SELECT CASE WHEN m.recipient = k.address THEN m.details ->> 'email' ELSE m.recipient END) other (address)
       WHERE other.address IS NOT NULL AND NOT EXISTS (SELECT FROM users u WHERE u.email = other.address AND u.id <> $2))
     SELECT address FROM known`,
    [email, userId],
  );
  const addresses = rows.map(({ address }) => address);
  const subjects = addresses.flatMap((address) => [`sign-in email ${address}`, ...mailSubjects(address)]);
  await client.query(
    `DELETE FROM mail_outbox WHERE recipient = ANY ($1)
       OR template IN ('email_changed', 'email_change') AND details ->> 'email' = ANY ($1)`,
    [addresses],
  );
  await client.query('DELETE FROM sign_ups WHERE email = ANY ($1)', [addresses]);
  await new AttemptsStore(client).forget(...subjects, `step-up ${userId}`);
  return { touched: 0 };
}
