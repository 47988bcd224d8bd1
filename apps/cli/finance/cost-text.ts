import type { UpstreamCost } from '#finance/costs/cost-versions.js';
import { OperatorError } from '#platform/errors.js';
import { type MediaName, mediaNames } from '#pricing/token-kinds.js';

const DECIMAL = /^\d{1,12}(\.\d{1,18})?$/;

/** A cost as `costOf` reads it, such as `5/1.25/10,imageOutput=32`. */
export function costText(cost: UpstreamCost | null): string {
  if (cost === null) return 'withdrawn';
  if ('unitCost' in cost) return cost.unitCost;
  const media = mediaNames.flatMap((name) => (cost[name] === undefined ? [] : [`${name}=${cost[name]}`]));
  return [`${cost.input}/${cost.cachedInput}/${cost.output}`, ...media].join(',');
}

/** A cost as people write it; null for `withdrawn`. @throws OperatorError that says how */
export function costOf(given: string): UpstreamCost | null {
  if (given === 'withdrawn') return null;
  const [text = '', ...named] = given.split(',');
  const [first = '', cachedInput, output, ...more] = text.split('/');
  const media = mediaOf(named);
  const amounts = [first, cachedInput, output, ...Object.values(media ?? {})].filter(
    (part) => part !== undefined,
  );
  if (media !== null && more.length === 0 && amounts.every((amount) => DECIMAL.test(amount))) {
    if (cachedInput === undefined && named.length === 0) return { unitCost: first };
    if (cachedInput !== undefined && output !== undefined)
      return { input: first, cachedInput, output, ...media };
  }
  throw new OperatorError(
    `${given} is no cost: give USD such as 0.018, input/cached/output of a million tokens, perhaps with ,imageOutput=32 and the like, or withdrawn.`,
  );
}

/** Amounts of images and sound, such as `imageOutput=32`; null where one is no such amount, or is given twice. */
function mediaOf(named: readonly string[]): Partial<Record<MediaName, string>> | null {
  const pairs = named.map((text) => text.split('='));
  const names = new Set(pairs.map(([name]) => name));
  const isKnown = ([name, usd, more]: string[]) =>
    usd !== undefined && more === undefined && mediaNames.some((known) => known === name);
  const isRight = names.size === named.length && pairs.every(isKnown);
  return isRight ? (Object.fromEntries(pairs) as Partial<Record<MediaName, string>>) : null;
}
