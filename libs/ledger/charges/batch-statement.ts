import {
  announcementColumns,
  balanceColumns,
  entryColumns,
  newChargeColumns,
  resolutionColumns,
  type RowShape,
  type Source,
  sourcesFrom,
  spendColumns,
  transactionColumns,
} from './batch-columns.js';

export const columnsOf = {
  charges: newChargeColumns,
  resolutions: resolutionColumns,
  transactions: transactionColumns,
  entries: entryColumns,
  balances: balanceColumns,
  spent: spendColumns,
  unspent: spendColumns,
  announcements: announcementColumns,
} as const;

export type Part = keyof typeof columnsOf;

/** A part of a statement, and how its rows are passed. */
export type PartRows = readonly (readonly [Part, RowShape['rows']])[];

/**
 * How a batch was decided, which says what its statement verifies: under locks, from memory, or from what the batch
 * sent just before it on the same connection will have written.
 */
export type Decided = 'locked' | 'remembered' | 'following';

/** The parameters before those of the rows: the time; the batch's number; its number and that of the batch before it. */
const FIRST = { locked: 1, remembered: 1, following: 2 } as const;

const statements = new Map<string, string>();

/**
 * The statement that writes a batch of these parts. Its name has the initials of its parts, and the numbers of their
 * rows if these are fixed, because a connection prepares a statement once per name, of at most 63 characters.
 *
 * $1 is the time of a batch that was read under locks. Otherwise it is the batch's number, and the balances must have
 * the remembered versions, or be as batch number $2 wrote them.
 */
export function writeStatement(parts: PartRows, decided: Decided): { name: string; text: string } {
  const initials = parts.map(([[initial], rows]) => `${initial}${rows === 'any' ? '' : rows}`);
  const name = `ledger-write-${decided}-${initials.join('')}`;
  const text = statements.get(name) ?? writeText(parts, decided);
  statements.set(name, text);
  return { name, text };
}

/** The revision of the catalog, the times from and until which holds are valid, the keys and the versions of their rules. */
const PROOF = ['bigint', 'timestamptz', 'float8', 'text[]', 'bigint[]'];

/**
 * A transaction id comes first, then the times and the ids of the ledger: horizons rest on that order. The time of recording
 * is asked for once, since the column's default asks for each row. Ids of the ledger rise within an account, locked or
 * not: a batch is proved only if nobody has written the account since, so all of its earlier ids were taken before this
 * batch began.
 *
 * Where prices were used without a lock, it takes that first. It ends with a division that fails unless every row was
 * written, since the COMMIT is on its way already, or is its own. Holds that were decided without locks are proved in it: a
 * CASE asks only after the balances were written, so it has waited for them, and the function sees what was committed by then.
 */
function writeText(parts: PartRows, decided: Decided): string {
  const isLocked = decided === 'locked';
  const provesHolds = !isLocked && parts.some(([part]) => part === 'charges');
  const first = FIRST[decided] + 1;
  const sources = sourcesFrom(
    provesHolds ? first + PROOF.length : first,
    parts.map(([part, rows]) => [part, { columns: columnsOf[part], rows }] as const),
  );
  const writes = [...sources].map(([part, source]) => writing[part](source, decided));
  const proofs = [...sources].flatMap(([part, source]) => proving[part]?.(source, decided) ?? []);
  const written = proofs.join('\n      AND ');
  const holdsProved = `holds_proved(${PROOF.map((type, index) => `$${first + index}::${type}`).join(', ')})`;
  const proof = provesHolds ? `CASE WHEN ${written} THEN ${holdsProved} ELSE false END` : written;
  const lock = provesHolds ? ', pg_advisory_xact_lock_shared(catalog_lock_key())' : '';
  return `WITH ${isLocked ? `xid AS MATERIALIZED (SELECT pg_current_xact_id() AS id)` : numbered(decided, lock)},
    instant AS MATERIALIZED (SELECT id, ${isLocked ? '$1::timestamptz' : 'ledger_effective_now()'} AS now,
      ledger_clock() AS recorded, nextval('ledger_transaction_blocks') AS block FROM xid),
    ${writes.join(',\n    ')}
    SELECT 1 / (${proof})::int, id::xid::text AS version, now::text,
      (extract(epoch FROM now) * 1000)::float8 AS "nowMs",
      to_char(date_trunc('month', now AT TIME ZONE 'UTC'), 'YYYY-MM-DD') AS month
    FROM instant`;
}

/**
 * Leaves the batch's number and transaction id to the batch that follows it in this session. If the batch fails, they are
 * rolled back with it. A batch that follows reads them before it replaces them.
 */
function numbered(decided: Decided, lock: string): string {
  const xid = `xid AS MATERIALIZED (SELECT pg_current_xact_id() AS id${lock},
      set_config('tollgate.batch', $1::text || ' ' || pg_current_xact_id()::xid::text, false)`;
  if (decided === 'remembered') return `${xid})`;
  return `before AS MATERIALIZED (
      SELECT CASE WHEN split_part(batch, ' ', 1) = $2::text THEN split_part(batch, ' ', 2)::xid END AS version
      FROM (SELECT current_setting('tollgate.batch', true) AS batch) s),
    ${xid} FROM before)`;
}

type Sql = (source: Source, decided: Decided) => string;

/**
 * What each part writes. An update names its keys twice, joined and as an array: the array alone finds its rows in
 * their index, so that no plan, however small the table was when it was made, reads a table to join it.
 */
const writing: Record<Part, Sql> = {
  charges: ({ sql }) => `new_charges AS (
      INSERT INTO charges (id, account_id, state, input_hash, key_id, family, model_id, requested_model, group_name,
        units, unit_price, multiplier, rule, price_version_id, multiplier_version_id, group_rule_version_id, amount,
        refusal_code, refusal_message, task_id, request_id, deadline, lines, dimensions, created_at)
      SELECT t.id, account_id, state, decode(input_hash, 'hex'), key_id, family, model_id, requested_model, group_name,
        units, unit_price, multiplier, rule, price_version_id, multiplier_version_id, group_rule_version_id, amount,
        refusal_code, refusal_message, task_id, request_id, to_timestamp(deadline_ms / 1000), lines::jsonb, dimensions::jsonb, now
      FROM ${sql}, instant
      ON CONFLICT (id) DO NOTHING RETURNING 1)`,
  // It checks resolved_at and not the state. For the state, the planner would use the index of all held charges, and read
  // every open charge to resolve one.
  resolutions: ({ sql, keys }) => `resolved AS (
      UPDATE charges c SET state = t.state, delivered_units = t.delivered_units, settled = t.settled,
        released = t.released, channel_id = t.channel_id, resolution_reason = t.reason,
        upstream_status = t.upstream_status, latency_ms = t.latency_ms, delivered_lines = t.delivered_lines::jsonb,
        operator_loss = t.operator_loss, resolved_at = now
      FROM ${sql}, instant WHERE c.id = t.id AND c.id = ANY (${keys}) AND c.resolved_at IS NULL RETURNING 1)`,
  transactions: ({ sql, rest }) => `transactions AS (
      INSERT INTO ledger_transactions (id, ${rest}, effective_at, recorded_at)
      SELECT block + place, ${rest}, now, recorded FROM ${sql}, instant)`,
  entries: ({ sql, rest }) => `entries AS (
      INSERT INTO ledger_entries (transaction_id, ${rest}, commodity) SELECT block + place, ${rest}, 'CRD' FROM ${sql}, instant)`,
  balances: ({ sql, keys }, decided) => `balances AS (
      UPDATE customer_balances b SET main = t.main, held = t.held, low_balance_told = t.low_told
      FROM ${sql}${decided === 'following' ? ', before' : ''} WHERE b.account_id = t.account_id AND b.account_id = ANY (${keys})
      ${proofOfVersion[decided]} RETURNING 1)`,
  // A proved batch is seldom the first to hold for a key in its month.
  spent: ({ sql, names, keys }, decided) =>
    decided === 'locked'
      ? `spent AS (
      INSERT INTO key_spend AS k (${names}) SELECT * FROM ${sql}
      ON CONFLICT (key_id, month) DO UPDATE SET spent = k.spent + excluded.spent)`
      : `spent AS (${addSpend(sql, keys)} RETURNING 1)`,
  unspent: ({ sql, keys }) => `unspent AS (${addSpend(sql, keys)})`,
  announcements: ({ sql }) => `announcements AS (
      INSERT INTO outbox (producer, topic, key, payload)
      SELECT 'billing', topic, key, payload::jsonb || jsonb_build_object(time_field,
        to_char(now AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
      FROM ${sql}, instant)`,
};

const proofOfVersion: Record<Decided, string> = {
  locked: '',
  remembered: 'AND b.xmin = t.version',
  following: 'AND b.xmin = coalesce(t.version, before.version)',
};

function addSpend(sql: string, keys: string): string {
  return `
      UPDATE key_spend k SET spent = k.spent + t.spent FROM ${sql}
      WHERE k.key_id = t.key_id AND k.month = t.month AND k.key_id = ANY (${keys})`;
}

/** What must be true of each part. A balance that another transaction has written has another version. */
const proving: Partial<Record<Part, Sql>> = {
  charges: ({ count }) => `${count} = (SELECT count(*) FROM new_charges)`,
  resolutions: ({ count }) => `${count} = (SELECT count(*) FROM resolved)`,
  balances: ({ count }) => `${count} = (SELECT count(*) FROM balances)`,
  spent: ({ count }, decided) => (decided === 'locked' ? 'true' : `${count} = (SELECT count(*) FROM spent)`),
};
