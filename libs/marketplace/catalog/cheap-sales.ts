import type pg from 'pg';
import { loadPriceBook } from '#catalog/catalog.store.js';
import { takesFixedPrice } from '#groups/terms.js';
import { versionsFrom } from '#groups/version.js';
import { decideAlone } from '#identity/installation.js';
import { readLimit } from '#ledger/postings/outflow.js';
import { type Decimal, multiply, orderOfDecimals, parseDecimal } from '#money/amount.js';
import { databaseNowMs } from '../prices/prices-here.js';
import type { DoneBy } from '../prices/proposal.service.js';

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

const HUNDRED: Decimal = { digits: 100n, scale: 0 };

/**
 * One person may begin a group as far below the list price as they may move a price. A fixed price has nothing to be
 * compared with, so it always needs a second person. In an installation with one person, this is recorded.
 * @throws ApiError second_person_required
 */
export async function refuseCheapGroup(
  client: pg.ClientBase,
  group: FirstPrice,
  { actor }: DoneBy,
): Promise<void> {
  const why = await cheapness(client, group);
  if (why === null) return;
  const decision = { actor, why: 'second-person', subject: `group:${group.name}`, accountId: null } as const;
  const refusal = `A group cannot begin ${why}. Propose that afterwards: another administrator must confirm it.`;
  await decideAlone(client, decision, refusal);
}

async function cheapness(
  client: pg.ClientBase,
  { multiplier, fixedPerCall }: FirstPrice,
): Promise<string | null> {
  if (fixedPerCall !== null) return 'with a fixed price';
  const percent = await readLimit(client, 'price-change-percent');
  return isFarBelowList(parseDecimal(multiplier), percent)
    ? `more than ${percent} percent below the list price`
    : null;
}

/**
 * Those of the sales that are, or are announced to be, further below the list price than one person may move a price. The
 * caller holds the lock of the catalog.
 */
export async function cheapSales(client: pg.ClientBase, sales: readonly Sale[]): Promise<Sale[]> {
  if (sales.length === 0) return [];
  const book = await loadPriceBook(client);
  const nowMs = await databaseNowMs(client);
  const percent = await readLimit(client, 'price-change-percent');
  return sales.filter(({ group, model }) => {
    const rules = versionsFrom(book.groupRules.get(group), nowMs);
    const multipliers = versionsFrom(book.multipliers.get(group), nowMs);
    const isFixed = rules.some(({ value }) => value?.kind === 'fixed_per_call');
    const isBelow = multipliers.some(({ value }) => value !== null && isFarBelowList(value, percent));
    return isBelow || (isFixed && takesFixedPrice(book.models.get(model)!.unit));
  });
}

function isFarBelowList(multiplier: Decimal, percent: bigint): boolean {
  const least: Decimal = { digits: 100n - percent, scale: 0 };
  return multiplier.digits === 0n || orderOfDecimals(multiply(multiplier, HUNDRED), least) < 0;
}
