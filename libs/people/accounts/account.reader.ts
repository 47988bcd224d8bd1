import type pg from 'pg';
import { beginsWith } from '#database/like.js';
import { KEY_PREFIX_CHARS, spentIn } from '#identity/key.store.js';
import { ApiError } from '#platform/errors.js';
import type { RowOf } from '#platform/http/fields.js';
import { type Page, pageFrom, readCursorId } from '#platform/http/page.js';
import {
  type AccountWithBalances,
  type AccountDetails,
  type foundAccountView,
  viewAccount,
} from './account.view.js';

export type FoundAccount = RowOf<typeof foundAccountView, Date>;

export interface AccountSearch {
  limit: number;
  cursor?: string | undefined;
  query?: string | undefined;
}

const THIS_MONTH = `date_trunc('month', now() AT TIME ZONE 'UTC')`;

/** Reads accounts for their owners and for support. */
export class AccountReader {
  constructor(private readonly pool: pg.Pool) {}

  /** @throws ApiError not_found */
  async show(accountId: string): Promise<AccountDetails> {
    const { rows } = await this.pool.query<AccountWithBalances>(
      `SELECT a.id AS "accountId", a.name, a.invite_code AS "inviteCode", a.created_at AS "createdAt", b.main, b.held,
         b.invite, b.refund_pending AS "refundPending", b.frozen, b.frozen_reason AS reason,
         b.low_balance_threshold AS threshold, b.monthly_limit AS "monthlyLimit",
         (SELECT ${spentIn(THIS_MONTH)} AND k.account_id = a.id) AS "spentThisMonth"
       FROM accounts a JOIN customer_balances b ON b.account_id = a.id WHERE a.id = $1`,
      [accountId],
    );
    const row = rows[0];
    if (!row) throw new ApiError('not_found', 'There is no such account.');
    return viewAccount(row);
  }

  async search({ limit, cursor, query }: AccountSearch): Promise<Page<FoundAccount>> {
    const after = readCursorId(cursor);
    const { rows } = await this.pool.query<FoundAccount>(
      `SELECT a.id AS "accountId", a.name, u.email, b.main, b.frozen, a.created_at AS "createdAt"
       FROM accounts a JOIN customer_balances b ON b.account_id = a.id LEFT JOIN users u ON u.account_id = a.id
       WHERE ($1::text IS NULL OR a.id < $1)
         ${query === undefined ? '' : `AND a.id IN (${MATCHES})`}
       ORDER BY a.id DESC LIMIT $2`,
      query === undefined ? [after, limit + 1] : [after, limit + 1, ...patterns(query)],
    );
    return pageFrom(rows, limit, ({ accountId }) => [accountId]);
  }
}

/** A few letters may begin the names of half of all accounts, and each page would read them all. Nobody looks through more. */
const MOST_BEGINNING = 1_000;

/** Each condition uses its own index. $3 is the text, $4 the start of an address, $5 a name, $6 a key. */
const MATCHES = `SELECT id FROM accounts WHERE id = $3
  UNION SELECT account_id FROM users WHERE id = $3
  UNION SELECT account_id FROM api_keys WHERE id = $3
  UNION (SELECT account_id FROM users WHERE email LIKE $4 ORDER BY email USING ~<~ LIMIT ${MOST_BEGINNING})
  UNION (SELECT id FROM accounts WHERE lower(name) LIKE $5 ORDER BY lower(name) USING ~<~ LIMIT ${MOST_BEGINNING})
  UNION SELECT account_id FROM api_keys WHERE key_prefix = $6`;

function patterns(query: string): string[] {
  const text = query.toLowerCase();
  return [text, beginsWith(text), beginsWith(text), query.slice(0, KEY_PREFIX_CHARS)];
}
