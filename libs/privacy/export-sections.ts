import type pg from 'pg';
import { readActivity } from './activity.js';

/** One file of an archive: JSON Lines, one record per line, read page by page. */
export interface ExportSection {
  readonly file: string;
  /** Its description inside the archive. */
  readonly about: string;
  rows(pool: pg.Pool, accountId: string): AsyncGenerator<unknown>;
}

const PAGE = 500;

/** A number as text in the order of the number, as the pages of a section need it. */
const ORDERED_NUMBER = `lpad(id::text, 19, '0')`;

/** All data of an account, without secrets: keys and endpoints lack theirs, and tickets lack internal notes. */
export const exportSections: readonly ExportSection[] = [
  paged('profile', 'Your account and the person who signs in.', {
    id: 'a.id',
    text: `SELECT a.id, a.name, u.email, u.language, a.created_at AS "createdAt", a.invite_code AS "inviteCode",
        u.totp_confirmed_at IS NOT NULL AS "twoFactor"
      FROM accounts a LEFT JOIN users u ON u.account_id = a.id WHERE a.id = $1`,
  }),
  paged('billing-details', 'Whom receipts and statements name as the buyer, as you entered it each time.', {
    id: ORDERED_NUMBER,
    text: `SELECT ${ORDERED_NUMBER} AS id, name, address, tax_id AS "taxId", recorded_at AS "recordedAt"
      FROM billing_details WHERE account_id = $1`,
  }),
  paged('account-names', 'The names that your account had when you paid.', {
    id: ORDERED_NUMBER,
    text: `SELECT ${ORDERED_NUMBER} AS id, name, recorded_at AS "recordedAt" FROM account_names WHERE account_id = $1`,
  }),
  paged('keys', 'API keys and their rules, without the keys themselves.', {
    id: 'id',
    text: `SELECT id, name, key_prefix AS prefix, group_name AS "group", allowed_models AS "allowedModels",
      fallback_models AS "fallbackModels",
        allowed_ips AS "allowedIps", expires_at AS "expiresAt", revoked_at AS "revokedAt", created_at AS "createdAt",
        last_used_at AS "lastUsedAt" FROM api_keys WHERE account_id = $1`,
  }),
  paged(
    'requests',
    'Every charged request, and refused ones as long as they are kept: units, prices, what was held, charged and refunded.',
    {
      id: 'id',
      text: `SELECT id, request_id AS "requestId", task_id AS "taskId", key_id AS "keyId", state, family, model_id AS model,
        requested_model AS "requestedModel", group_name AS "group", rule, units::text, delivered_units::text AS "deliveredUnits",
        ${plain('unit_price')} AS "unitPrice", ${plain('multiplier')} AS multiplier, dimensions, lines, delivered_lines AS "deliveredLines",
        price_version_id::text AS "priceVersion", multiplier_version_id::text AS "multiplierVersion",
        group_rule_version_id::text AS "groupRuleVersion", ${credits('amount')} AS held, ${credits('settled')} AS charged,
        ${credits('released')} AS released, refusal_code AS "refusalCode", resolution_reason AS reason,
        created_at AS "createdAt", resolved_at AS "endedAt" FROM charges WHERE account_id = $1`,
    },
  ),
  {
    file: 'statement',
    about: 'Every movement of your balances.',
    rows: readStatement,
  },
  paged('top-ups', 'What you paid, and the credits you got.', {
    id: 'id',
    text: `SELECT id, provider, payment_id AS "paymentId", order_id AS "orderId", ${credits('credits')} AS credits,
        paid_minor::text AS "paidMinor", currency, ${plain('rate')} AS rate, recorded_at AS "recordedAt"
      FROM topups WHERE account_id = $1`,
  }),
  paged('invites', 'Rewards for the top-ups of those you invited.', {
    id: 'id',
    text: `SELECT id, ordinal, ${credits('amount')} AS amount, recorded_at AS "recordedAt"
      FROM invite_rewards WHERE inviter_account_id = $1`,
  }),
  paged('tickets', 'Your tickets.', {
    id: 'id',
    text: `SELECT id, kind, subject, state, charge_id AS "chargeId", outcome, created_at AS "createdAt", closed_at AS "closedAt"
      FROM tickets WHERE account_id = $1`,
  }),
  paged('ticket-messages', 'What you and support wrote on them.', {
    id: 'm.id',
    text: `SELECT m.id, m.ticket_id AS "ticketId", m.from_staff AS "fromSupport", m.body, m.created_at AS "createdAt"
      FROM ticket_messages m JOIN tickets t ON t.id = m.ticket_id WHERE t.account_id = $1 AND m.kind <> 'note'`,
  }),
  paged('tasks', 'Videos and 3D assets, with their prompts for as long as those are kept.', {
    id: 'id',
    text: `SELECT id, kind, key_id AS "keyId", charge_id AS "chargeId", state, requested_model AS model, request, seconds,
        error_code AS "errorCode", error_message AS "errorMessage", created_at AS "createdAt", ended_at AS "endedAt"
      FROM tasks WHERE account_id = $1 AND state <> 'refused'`,
  }),
  paged('webhook-endpoints', 'Where your events are sent.', {
    id: 'id',
    text: `SELECT id, url, description, events, disabled_at AS "disabledAt", created_at AS "createdAt"
      FROM webhook_endpoints WHERE account_id = $1 AND deleted_at IS NULL`,
  }),
  paged('sessions', 'Where you are or were signed in.', {
    id: 's.id',
    text: `SELECT s.id, s.ip, s.user_agent AS "userAgent", s.created_at AS "createdAt", s.last_seen_at AS "lastSeenAt",
        s.revoked_at AS "endedAt" FROM sessions s JOIN users u ON u.id = s.user_id WHERE u.account_id = $1`,
  }),
  {
    file: 'activity',
    about: 'Who accessed your account, and what was changed about access to it.',
    rows: readWholeActivity,
  },
];

/** Nanos as a decimal string. */
function credits(column: string): string {
  return `trim_scale(${column}::numeric / 1000000000)::text`;
}

function plain(column: string): string {
  return `trim_scale(${column})::text`;
}

/** A list ordered by id. Every list has an index for it, or few rows. */
function paged(file: string, about: string, { id, text }: { id: string; text: string }): ExportSection {
  return {
    file,
    about,
    async *rows(pool, accountId) {
      let after = '';
      for (;;) {
        const { rows } = await pool.query<{ id: string }>(
          `${text} AND ${id} > $2 ORDER BY ${id} LIMIT ${PAGE}`,
          [accountId, after],
        );
        yield* rows;
        if (rows.length < PAGE) return;
        after = rows.at(-1)!.id;
      }
    },
  };
}

async function* readStatement(pool: pg.Pool, accountId: string): AsyncGenerator<unknown> {
  let after = ['0', '-1'];
  for (;;) {
    const { rows } = await pool.query<{ transactionId: string; ordinal: number }>(
      `SELECT e.transaction_id::text AS "transactionId", e.ordinal, t.kind, t.charge_id AS "chargeId", l.balance,
         ${credits('e.amount')} AS amount, ${credits('e.balance_after')} AS after,
         t.effective_at AS "effectiveAt", t.recorded_at AS "recordedAt"
       FROM customer_balances b
       CROSS JOIN LATERAL (VALUES ('main', b.main_ledger_id), ('held', b.held_ledger_id), ('invite', b.invite_ledger_id),
         ('refundPending', b.refund_pending_ledger_id)) AS l (balance, id)
       CROSS JOIN LATERAL (SELECT * FROM ledger_entries
         WHERE ledger_account_id = l.id AND transaction_id >= $2::bigint
           AND (transaction_id, ordinal) > ($2::bigint, $3::smallint)
         ORDER BY transaction_id, ordinal LIMIT ${PAGE}) AS e
       JOIN ledger_transactions t ON t.id = e.transaction_id
       WHERE b.account_id = $1
       ORDER BY e.transaction_id, e.ordinal LIMIT ${PAGE}`,
      [accountId, ...after],
    );
    yield* rows;
    if (rows.length < PAGE) return;
    const last = rows.at(-1)!;
    after = [last.transactionId, String(last.ordinal)];
  }
}

async function* readWholeActivity(pool: pg.Pool, accountId: string): AsyncGenerator<unknown> {
  let before: string | null = null;
  for (;;) {
    const lines = await readActivity(pool, accountId, { limit: PAGE, before });
    for (const line of lines) yield { ...line, id: String(line.id) };
    if (lines.length < PAGE) return;
    before = String(lines.at(-1)!.id);
  }
}
