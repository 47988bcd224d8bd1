import type pg from 'pg';
import { z } from 'zod';
import { inTransaction } from '#database/database.js';
import { lockAccount } from '#identity/account.store.js';
import { audit } from '#identity/audit-log.js';
import { countDaily } from '#identity/daily-limits.js';
import { NO_NAME } from '#identity/redaction.js';
import { name, ONE_LINE, visibleText } from '#platform/http/fields.js';

const address = visibleText
  .max(300, 'must have at most 300 characters')
  .refine((text) => text.split('\n').every((line) => ONE_LINE.test(line)), 'must be lines of text')
  .refine((text) => text.split('\n').length <= 6, 'must have at most 6 lines');

const described = {
  name: { description: "The legal name. Null: the account's name is shown." },
  address: { description: 'At most 6 lines.' },
  taxId: { description: 'Such as a VAT number.' },
};

/** Whom receipts and statements name as the buyer. */
export const billingDetails = z.strictObject({
  name: name.nullable().meta(described.name),
  address: address.nullable().meta(described.address),
  taxId: name.nullable().meta(described.taxId),
});

/** The same in an answer. It may have been entered before today's rules. */
export const billingDetailsView = z
  .strictObject({
    name: z.string().nullable().meta(described.name),
    address: z.string().nullable().meta(described.address),
    taxId: z.string().nullable().meta(described.taxId),
  })
  .meta({ id: 'BillingDetails' });

export type BillingDetails = z.output<typeof billingDetails>;

export const NO_DETAILS: BillingDetails = { name: null, address: null, taxId: null };

/**
 * What an account has entered last.
 * @param before what came later does not count
 */
export async function readBillingDetails(
  database: pg.Pool | pg.ClientBase,
  accountId: string,
  before: Date | null = null,
): Promise<BillingDetails> {
  const { rows } = await database.query<BillingDetails>(
    `SELECT name, address, tax_id AS "taxId" FROM billing_details
     WHERE account_id = $1 AND ($2::timestamptz IS NULL OR recorded_at < $2) ORDER BY id DESC LIMIT 1`,
    [accountId, before],
  );
  return rows[0] ?? NO_DETAILS;
}

interface Entering {
  accountId: string;
  /** As in the audit log. */
  by: string;
  requestId: string;
}

const INSERT_IF_NEW = `INSERT INTO billing_details (account_id, name, address, tax_id) SELECT $1, $2, $3, $4
  WHERE NOT EXISTS (SELECT FROM (SELECT name, address, tax_id FROM billing_details
      WHERE account_id = $1 ORDER BY id DESC LIMIT 1) AS newest
    WHERE (newest.name, newest.address, newest.tax_id) IS NOT DISTINCT FROM ($2::text, $3::text, $4::text))`;

/** Applies to what is recorded from now on. Earlier receipts stay as they are. @throws ApiError too_many_attempts */
export function enterBillingDetails(
  pool: pg.Pool,
  { accountId, by, requestId }: Entering,
  { name: buyer, address: lines, taxId }: BillingDetails,
): Promise<void> {
  return inTransaction(pool, async (client) => {
    await lockAccount(client, accountId);
    const { rowCount } = await client.query(INSERT_IF_NEW, [accountId, buyer, lines, taxId]);
    if (rowCount === 0) return;
    await countDaily(client, accountId, 'changes of settings');
    const after = { billingDetails: NO_NAME };
    await audit(client, {
      actor: by,
      action: 'account.changed',
      accountId,
      after,
      requestId,
    });
  });
}
