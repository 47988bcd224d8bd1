import type pg from 'pg';
import { sendTogether } from '#database/database.js';
import { spentIn } from '#identity/key.store.js';
import { parseDecimal } from '#money/amount.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { LineKind } from '#pricing/token-kinds.js';
import { textArray } from './binary-array.js';
import type { BatchState, Command, Instant, KeyState, LockedBalance } from './batch.js';
import type { StoredCharge } from './charge.js';

/**
 * What the posting engine reads: set-based, in named statements. The lock order everywhere is charges, customer
 * balances, key spend, each sorted. One statement takes the locks, and the next one reads.
 */

/** Prices cannot change until the transaction ends. */
const BEGIN = 'BEGIN; SELECT pg_advisory_xact_lock_shared(catalog_lock_key())';

const LOCK_CHARGES = {
  name: 'ledger-lock-charges',
  text: `SELECT id, account_id AS "accountId", state, input_hash AS "inputHash", key_id AS "keyId", family,
      model_id AS model, group_name AS "group", coalesce(units, 0) AS units, unit_price::text AS "unitPrice", multiplier::text AS multiplier, lines,
      amount, settled, released, refusal_code AS "refusalCode", refusal_message AS "refusalMessage",
      task_id AS "taskId", to_char(date_trunc('month', created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS "heldMonth"
    FROM charges WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`,
};

const LOCK_BALANCES = {
  name: 'ledger-lock-balances',
  text: `SELECT account_id AS "accountId", main, held, frozen, monthly_limit AS "monthlyLimit",
      low_balance_threshold AS "lowThreshold", low_balance_told AS "lowAnnounced", xmin::text AS version,
      main_ledger_id AS "mainLedgerId", held_ledger_id AS "heldLedgerId"
    FROM customer_balances WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE`,
};

const READ_KEYS = {
  name: 'ledger-read-keys',
  text: `WITH instant AS MATERIALIZED (
      SELECT revision, ledger_effective_now() AS now FROM catalog_revision)
    SELECT i.revision, i.now::text, (extract(epoch FROM i.now) * 1000)::float8 AS "nowMs",
      to_char(date_trunc('month', i.now AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS month,
      k.id, k.account_id AS "accountId", k.group_name AS "group", k.allowed_models AS "allowedModels",
      k.monthly_limit_nanos AS "monthlyLimit", k.total_limit_nanos AS "totalLimit",
      k.allowed_ips AS "allowedIps", k.revoked_at IS NOT NULL AS revoked,
      key_has_group(k) AS "hasGroup", k.rules_version AS "rulesVersion",
      extract(epoch FROM k.expires_at)::float8 * 1000 AS "expiresAtMs",
      CASE WHEN k.monthly_limit_nanos IS NULL THEN 0 ELSE coalesce((SELECT s.spent FROM key_spend s
        WHERE s.key_id = k.id AND s.month = date_trunc('month', i.now AT TIME ZONE 'UTC')::date), 0) END AS spent,
      CASE WHEN k.total_limit_nanos IS NULL THEN 0 ELSE coalesce((SELECT sum(s.spent)::bigint FROM key_spend s
        WHERE s.key_id = k.id), 0) END AS "totalSpent"
    FROM instant i LEFT JOIN api_keys k ON k.id = ANY($1::text[])`,
};

/** Read only if an account of the batch has a limit. Its balance row is locked, so no other batch can spend meanwhile. */
const READ_ACCOUNT_SPEND = {
  name: 'ledger-read-account-spend',
  text: `SELECT k.account_id AS "accountId", ${spentIn('$2')} AND k.account_id = ANY($1::text[]) GROUP BY k.account_id`,
};

type ChargeRow = Omit<StoredCharge, 'lines'> & {
  lines: { kind: LineKind; units: string; unitPrice: string }[] | null;
};

type BalanceRow = Omit<LockedBalance, 'spent'>;

type KeyRow = Instant & Omit<KeyState, 'id'> & { revision: bigint; id: string | null };

/** What the store keeps between batches: the prices, reloaded when the catalog's revision changes. */
export interface BatchContext {
  priceBook: PriceBook | undefined;
  usageLedgerIds: Record<Family, bigint>;
  loadPriceBook: (client: pg.ClientBase) => Promise<PriceBook>;
}

/**
 * Begins the transaction, takes the locks of a batch and reads what its decisions depend on. The statements are sent
 * without waiting for each other's answers and run in this order. On a pipelined connection, that is one round trip.
 */
export async function lockAndRead(
  client: pg.ClientBase,
  commands: readonly Command[],
  context: BatchContext,
): Promise<BatchState> {
  const { charges, balances, keys } = await lockRows(client, commands);
  const instant = keys[0];
  if (!instant) throw new Error('catalog_revision is empty: run the migrations');
  if (context.priceBook?.revision !== instant.revision)
    context.priceBook = await context.loadPriceBook(client);
  const locked = new Map(balances.map((row) => [row.accountId, { ...row, spent: 0n }]));
  const known = keys.flatMap(({ revision: _, nowMs: __, now: ___, month: ____, id, ...key }) =>
    id === null ? [] : [{ ...key, id }],
  );
  if (known.length > 0) await readAccountSpend(client, locked, instant.month);
  return {
    nowMs: instant.nowMs,
    now: instant.now,
    month: instant.month,
    priceBook: context.priceBook,
    charges: new Map(charges.map((row) => [row.id, toCharge(row)])),
    balances: locked,
    keys: new Map(known.map((key) => [key.id, key])),
    usageLedgerIds: context.usageLedgerIds,
  };
}

async function lockRows(
  client: pg.ClientBase,
  commands: readonly Command[],
): Promise<{ charges: ChargeRow[]; balances: BalanceRow[]; keys: KeyRow[] }> {
  const chargeIds = commands.map(({ command }) => command.chargeId).sort();
  const accountIds = [...new Set(commands.map(({ command }) => command.accountId))].sort();
  const [, charges, balances, keys] = await Promise.all(
    sendTogether(
      client,
      () =>
        [
          client.query(BEGIN),
          client.query<ChargeRow>({ ...LOCK_CHARGES, values: [textArray(chargeIds)] }),
          client.query<BalanceRow>({ ...LOCK_BALANCES, values: [textArray(accountIds)] }),
          client.query<KeyRow>({ ...READ_KEYS, values: [textArray(keysOf(commands))] }),
        ] as const,
    ),
  );
  return { charges: charges.rows, balances: balances.rows, keys: keys.rows };
}

/** The keys whose limits are checked. */
function keysOf(commands: readonly Command[]): string[] {
  return [...new Set(commands.flatMap((entry) => (entry.kind === 'hold' ? [entry.command.keyId] : [])))];
}

async function readAccountSpend(
  client: pg.ClientBase,
  balances: Map<string, LockedBalance>,
  month: string,
): Promise<void> {
  const limited = [...balances.values()].filter(({ monthlyLimit }) => monthlyLimit !== null);
  if (limited.length === 0) return;
  const accountIds = textArray(limited.map(({ accountId }) => accountId));
  const { rows } = await client.query<{ accountId: string; spent: bigint }>({
    ...READ_ACCOUNT_SPEND,
    values: [accountIds, month],
  });
  for (const { accountId, spent } of rows) (balances.get(accountId) as LockedBalance).spent = spent;
}

function toCharge(row: ChargeRow): StoredCharge {
  const lines = row.lines?.map(({ units, unitPrice, ...line }) => {
    return { ...line, units: BigInt(units), unitPrice: parseDecimal(unitPrice) };
  });
  return { ...row, lines: lines ?? null };
}
