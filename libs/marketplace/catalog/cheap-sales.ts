import type pg from 'pg';
import { decideAlone } from '#identity/installation.js';
import { readLimit } from '#ledger/postings/outflow.js';
import { orderOfDecimals, parseDecimal } from '#money/amount.js';
import { movedAlone, START_OF_DAY } from '../prices/moved-alone.js';
import type { DoneBy } from '../prices/proposal.service.js';
import { beginningOf, largeMove, LIST_PRICE } from '../prices/price-move.js';

/** A model in a group. */
export interface Sale {
  readonly group: string;
  readonly model: string;
}

/** The first price of a group, as decimal text. */
interface FirstPrice {
  readonly name: string;
  readonly multiplier: string;
  readonly fixedPerCall: string | null;
}

/**
 * One person may begin a group as far below the list price as they may move a price, with what they moved before on the
 * same day. A fixed price has nothing to be compared with, so it always needs a second person. In an installation with one
 * person, this is recorded.
 * @throws ApiError second_person_required
 */
export async function refuseCheapGroup(
  client: pg.ClientBase,
  group: FirstPrice,
  { actor }: DoneBy,
): Promise<void> {
  const why = await cheapness(client, group, actor);
  if (why === null) return;
  const decision = { actor, why: 'second-person', subject: `group:${group.name}`, accountId: null } as const;
  const refusal = `A group cannot begin ${why}. Propose that afterwards: another administrator must confirm it.`;
  await decideAlone(client, decision, refusal);
}

async function cheapness(
  client: pg.ClientBase,
  { name, multiplier, fixedPerCall }: FirstPrice,
  actor: string,
): Promise<string | null> {
  if (fixedPerCall !== null) return 'with a fixed price';
  if (orderOfDecimals(parseDecimal(multiplier), parseDecimal(LIST_PRICE)) >= 0) return null;
  const percent = await readLimit(client, 'price-change-percent');
  const earlier = [...(await movedAlone(client, actor)).values()].flat();
  const isLarge = largeMove([beginningOf(name, multiplier)], earlier, percent) !== null;
  return isLarge ? `more than ${percent} percent below the list price` : null;
}

/** The versions that were in force on this UTC day, are now, or are announced. */
const SINCE_TODAY = (table: string) => `
  SELECT v.* FROM ${table} v WHERE v.group_name = s."group" AND NOT EXISTS (
    SELECT FROM ${table} later WHERE later.group_name = v.group_name
    AND later.effective_from > v.effective_from AND later.effective_from <= ${START_OF_DAY})`;

const CHEAP_SALES = `
SELECT s."group", s.model FROM unnest($1::text[], $2::text[]) AS s ("group", model) JOIN models m ON m.id = s.model
WHERE EXISTS (SELECT FROM (${SINCE_TODAY('multiplier_versions')}) v
    WHERE v.multiplier = 0 OR v.multiplier * 100 < 100 - $3::bigint)
  OR m.unit = 'call' AND EXISTS (SELECT FROM (${SINCE_TODAY('group_rule_versions')}) v
    WHERE v.rule = 'fixed_per_call')
  OR EXISTS (
    SELECT FROM price_proposals p, jsonb_array_elements(p.changes) AS c,
      jsonb_to_record(c -> 'change') AS change ("group" text, multiplier numeric, rule text)
    WHERE p.state = 'open' AND p.expires_at > clock_timestamp() AND change."group" = s."group"
    AND (change.multiplier * 100 < 100 - $3::bigint OR m.unit = 'call' AND change.rule = 'fixed_per_call'))`;

/**
 * Those of the sales that have a fixed price, or one further below the list price than one person may move it: today, now,
 * as announced, or as proposed. The caller holds the lock of the catalog.
 */
export async function cheapSales(client: pg.ClientBase, sales: readonly Sale[]): Promise<Sale[]> {
  const percent = await readLimit(client, 'price-change-percent');
  return (await client.query<Sale>(CHEAP_SALES, [...saleColumns(sales), percent])).rows;
}

/** The groups and the models of sales, as two arrays of the same length for `unnest`. */
export function saleColumns(sales: readonly Sale[]): [string[], string[]] {
  return [sales.map(({ group }) => group), sales.map(({ model }) => model)];
}
