import type pg from 'pg';
import { sendTogether } from '#database/database.js';
import { nanos, parseDecimal } from '#money/amount.js';
import type { Family, PriceBook } from '#pricing/price-book.js';
import type { LineKind } from '#pricing/token-kinds.js';
import { textArray } from './binary-array.js';
import type { BatchState, Command, KeyState, LockedBalance } from './batch.js';
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
      model_id AS model, group_name AS "group", units::text, unit_price::text AS "unitPrice", multiplier::text AS multiplier, lines,
      amount::text, settled::text, released::text, refusal_code AS "refusalCode", refusal_message AS "refusalMessage",
      task_id AS "taskId", to_char(date_trunc('month', created_at AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS "heldMonth"
    FROM charges WHERE id = ANY($1::text[]) ORDER BY id FOR UPDATE`,
};

const LOCK_BALANCES = {
  name: 'ledger-lock-balances',
  text: `SELECT account_id AS "accountId", main::text, held::text, frozen, monthly_limit::text AS "monthlyLimit",
      low_balance_threshold::text AS "lowThreshold", low_balance_told AS "lowAnnounced", xmin::text AS version,
      main_ledger_id::text AS "mainLedgerId", held_ledger_id::text AS "heldLedgerId"
    FROM customer_balances WHERE account_id = ANY($1::text[]) ORDER BY account_id FOR UPDATE`,
};

const READ_KEYS = {
  name: 'ledger-read-keys',
  text: `WITH instant AS MATERIALIZED (
      SELECT revision, ledger_effective_now() AS now FROM catalog_revision)
    SELECT i.revision::text, i.now::text, (extract(epoch FROM i.now) * 1000)::float8 AS "nowMs",
      to_char(date_trunc('month', i.now AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS month,
      k.id, k.account_id AS "accountId", k.group_name AS "group", k.allowed_models AS "allowedModels",
      k.monthly_limit_nanos::text AS "monthlyLimit", k.total_limit_nanos::text AS "totalLimit",
      k.allowed_ips AS "allowedIps", k.revoked_at IS NOT NULL AS revoked,
      key_has_group(k) AS "hasGroup", k.rules_version::text AS "rulesVersion",
      extract(epoch FROM k.expires_at)::float8 * 1000 AS "expiresAtMs",
      CASE WHEN k.monthly_limit_nanos IS NULL THEN '0' ELSE coalesce((SELECT s.spent::text FROM key_spend s
        WHERE s.key_id = k.id AND s.month = date_trunc('month', i.now AT TIME ZONE 'UTC')::date), '0') END AS spent,
      CASE WHEN k.total_limit_nanos IS NULL THEN '0' ELSE coalesce((SELECT sum(s.spent)::text FROM key_spend s
        WHERE s.key_id = k.id), '0') END AS "totalSpent"
    FROM instant i LEFT JOIN api_keys k ON k.id = ANY($1::text[])`,
};

/** Read only if an account of the batch has a limit. Its balance row is locked, so no other batch can spend meanwhile. */
const READ_ACCOUNT_SPEND = {
  name: 'ledger-read-account-spend',
  text: `SELECT k.account_id AS "accountId", sum(s.spent)::text AS spent FROM api_keys k
    JOIN key_spend s ON s.key_id = k.id AND s.month = $2::date
    WHERE k.account_id = ANY($1::text[]) GROUP BY k.account_id`,
};

type ChargeRow = Omit<StoredCharge, 'units' | 'amount' | 'settled' | 'released' | 'lines'> & {
  lines: { kind: LineKind; units: string; unitPrice: string }[] | null;
  units: string;
  amount: string;
  settled: string | null;
  released: string | null;
};

interface BalanceRow {
  accountId: string;
  main: string;
  held: string;
  frozen: boolean;
  monthlyLimit: string | null;
  lowThreshold: string | null;
  lowAnnounced: boolean;
  version: string;
  mainLedgerId: string;
  heldLedgerId: string;
}

interface KeyRow {
  revision: string;
  now: string;
  nowMs: number;
  month: string;
  id: string | null;
  accountId: string;
  group: string;
  allowedModels: string[] | null;
  allowedIps: string[] | null;
  monthlyLimit: string | null;
  totalLimit: string | null;
  totalSpent: string;
  revoked: boolean;
  hasGroup: boolean;
  rulesVersion: string;
  expiresAtMs: number | null;
  spent: string;
}

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
  if (context.priceBook?.revision !== BigInt(instant.revision))
    context.priceBook = await context.loadPriceBook(client);
  const locked = new Map(balances.map((row) => [row.accountId, toBalance(row)]));
  const known = keys.filter((row) => row.id !== null);
  if (known.length > 0) await readAccountSpend(client, locked, instant.month);
  return {
    nowMs: instant.nowMs,
    now: instant.now,
    month: instant.month,
    priceBook: context.priceBook,
    charges: new Map(charges.map((row) => [row.id, toCharge(row)])),
    balances: locked,
    keys: new Map(known.map((row) => [row.id as string, toKey(row)])),
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
  const { rows } = await client.query<{ accountId: string; spent: string }>({
    ...READ_ACCOUNT_SPEND,
    values: [accountIds, month],
  });
  for (const { accountId, spent } of rows) (balances.get(accountId) as LockedBalance).spent = BigInt(spent);
}

function toCharge(row: ChargeRow): StoredCharge {
  return {
    ...row,
    units: BigInt(row.units ?? 0),
    lines:
      row.lines &&
      row.lines.map((line) => ({
        ...line,
        units: BigInt(line.units),
        unitPrice: parseDecimal(line.unitPrice),
      })),
    amount: nanos(BigInt(row.amount)),
    settled: row.settled === null ? null : nanos(BigInt(row.settled)),
    released: row.released === null ? null : nanos(BigInt(row.released)),
    refusalCode: row.refusalCode,
  };
}

function toBalance(row: BalanceRow): LockedBalance {
  return {
    version: row.version,
    accountId: row.accountId,
    main: BigInt(row.main),
    held: BigInt(row.held),
    frozen: row.frozen,
    monthlyLimit: row.monthlyLimit === null ? null : BigInt(row.monthlyLimit),
    spent: 0n,
    lowThreshold: row.lowThreshold === null ? null : BigInt(row.lowThreshold),
    lowAnnounced: row.lowAnnounced,
    mainLedgerId: BigInt(row.mainLedgerId),
    heldLedgerId: BigInt(row.heldLedgerId),
  };
}

function toKey(row: KeyRow): KeyState {
  return {
    id: row.id as string,
    accountId: row.accountId,
    group: row.group,
    allowedModels: row.allowedModels,
    allowedIps: row.allowedIps,
    monthlyLimit: row.monthlyLimit === null ? null : BigInt(row.monthlyLimit),
    spent: BigInt(row.spent),
    totalLimit: row.totalLimit === null ? null : BigInt(row.totalLimit),
    totalSpent: BigInt(row.totalSpent),
    expiresAtMs: row.expiresAtMs,
    revoked: row.revoked,
    hasGroup: row.hasGroup,
    rulesVersion: BigInt(row.rulesVersion),
  };
}
