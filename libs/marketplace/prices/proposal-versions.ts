import type pg from 'pg';
import { outboxInsert, outboxRow } from '#bus/outbox.js';
import { topics } from '#bus/topics.js';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { isDuplicate } from '#database/database.js';
import { ApiError } from '#platform/errors.js';
import { type PriceBook } from '#pricing/price-book.js';
import type { PriceText } from '#pricing/price-text.js';
import { keyedByLine } from '#pricing/token-kinds.js';
import { changeOf, changeText, changeSubject, versionsOf } from './price-change.js';
import type { ProposedChange } from './based-change.js';
import type { Proposal } from './proposal.js';
import { ratesOf } from './rates.js';

export function conflict(message: string): ApiError {
  return new ApiError('conflict', message);
}

/** Creates the versions of a proposal, under the lock that excludes holds. @throws ApiError conflict */
export async function insertVersions(client: pg.ClientBase, proposal: Proposal): Promise<void> {
  // The lock is a table here, because an operator would not be evaluated if the other side is null.
  const { rows } = await client.query<{ hasPassed: boolean | null }>(
    'SELECT locked_at, $1::timestamptz < locked_at AS "hasPassed" FROM lock_catalog() AS locked_at',
    [proposal.effectiveAt],
  );
  if (rows[0]?.hasPassed) throw conflict('The time of the proposal has passed: revise it with another.');
  await refuseStale(client, proposal);
  try {
    await Promise.all([
      insertPrices(client, proposal),
      insertMultipliers(client, proposal),
      insertRules(client, proposal),
    ]);
  } catch (error) {
    if (!isDuplicate(error)) throw error;
    throw conflict('A subject has a version from exactly that time: revise the proposal with another.');
  }
  const { rows: revisions } = await client.query<{ revision: bigint }>(
    'SELECT revision FROM catalog_revision',
  );
  const event = { revision: String(revisions[0]!.revision), what: 'prices' };
  await client.query(outboxInsert('billing', [outboxRow(topics.catalogChanged, event)]));
}

/** Under the lock, so it stays true until the commit. The book is read only to describe the change. */
async function refuseStale(client: pg.ClientBase, proposal: Proposal): Promise<void> {
  const [kinds, subjects, bases] = [
    proposal.changes.map(({ change }) => change.kind),
    proposal.changes.map(({ change }) => (change.kind === 'price' ? change.model : change.group)),
    proposal.changes.map(({ base }) => base),
  ];
  const { rows } = await client.query(
    `SELECT 1 FROM unnest($1::text[], $2::text[], $3::bigint[]) AS c (kind, subject, base)
     WHERE c.base IS DISTINCT FROM CASE c.kind
       WHEN 'price' THEN (SELECT max(id) FROM price_versions v WHERE v.model_id = c.subject)
       WHEN 'multiplier' THEN (SELECT max(id) FROM multiplier_versions v WHERE v.group_name = c.subject)
       ELSE (SELECT max(id) FROM group_rule_versions v WHERE v.group_name = c.subject) END LIMIT 1`,
    [kinds, subjects, bases],
  );
  if (rows.length === 0) return;
  const book = await loadPriceBook(client);
  const news = proposal.changes.flatMap((each) => newerVersions(book, each));
  throw conflict(`Others changed what this proposal is about: ${news.slice(0, 3).join(' ')}`);
}

/** What happened to a subject since the change was proposed, in words. */
export function newerVersions(book: PriceBook, { change, base, before }: ProposedChange): string[] {
  const versions = versionsOf(book, change).filter((version) => base === null || version.id > BigInt(base));
  const was = before ? changeText(before) : 'none';
  return versions.map((version) => {
    const since = new Date(version.effectiveFromMs).toISOString();
    const now = changeText(changeOf(change, version.value));
    return `The ${changeSubject(change)} was ${was} when this was proposed, and is ${now} from ${since} on.`;
  });
}

const EFFECTIVE_FROM = `(SELECT coalesce(effective_at, lock_catalog()) FROM price_proposals WHERE id = $1), $1`;

async function insertPrices(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const prices = changes.flatMap(({ change }) => (change.kind === 'price' ? [change] : []));
  const column = (name: string) =>
    prices.map(({ price }) => (price as Record<string, string> | null)?.[name] ?? null);
  await client.query(
    `INSERT INTO price_versions (model_id, unit_price, input_price, cached_input_price, output_price,
       cache_write_price, cache_write_1h_price, rates, media_prices, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM}
     FROM unnest($2::text[], $3::numeric[], $4::numeric[], $5::numeric[], $6::numeric[], $7::numeric[], $8::numeric[], $9::jsonb[], $10::jsonb[]) AS c`,
    [
      id,
      prices.map(({ model }) => model),
      column('unitPrice'),
      column('input'),
      column('cachedInput'),
      column('output'),
      column('cacheWrite'),
      column('cacheWrite1h'),
      prices.map(({ price }) => (ratesOf(price).length > 0 ? JSON.stringify(ratesOf(price)) : null)),
      prices.map(({ price }) => mediaOf(price)),
    ],
  );
}

function mediaOf(price: PriceText | null): string | null {
  const media = price && 'input' in price ? keyedByLine(price) : null;
  return media && JSON.stringify(media);
}

async function insertMultipliers(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const multipliers = changes.flatMap(({ change }) => (change.kind === 'multiplier' ? [change] : []));
  await client.query(
    `INSERT INTO multiplier_versions (group_name, multiplier, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM} FROM unnest($2::text[], $3::numeric[]) AS c`,
    [id, multipliers.map(({ group }) => group), multipliers.map(({ multiplier }) => multiplier)],
  );
}

async function insertRules(client: pg.ClientBase, { id, changes }: Proposal): Promise<void> {
  const rules = changes.flatMap(({ change }) => (change.kind === 'rule' ? [change] : []));
  await client.query(
    `INSERT INTO group_rule_versions (group_name, rule, unit_price, effective_from, proposal_id)
     SELECT c.*, ${EFFECTIVE_FROM} FROM unnest($2::text[], $3::text[], $4::numeric[]) AS c`,
    [
      id,
      rules.map(({ group }) => group),
      rules.map(({ rule }) => rule),
      rules.map((change) => (change.rule === 'none' ? null : change.unitPrice)),
    ],
  );
}
