import type { Shape } from '../../api/client.js';
import { dimensionNames, type RatedPrice } from '../../ui/rate-lines.js';
import { optionalTokenNames } from '../../api/token-names.js';
import type { Change } from '../catalog.js';

export interface Draft extends Record<(typeof optionalTokenNames)[number], string> {
  /** React key. */
  key: string;
  kind: Change['kind'];
  /** A model or a group. */
  subject: string;
  /** Withdraws a price or multiplier, or returns a group to list prices. */
  isEnd: boolean;
  /** Per call or second; with a group rule, per call. */
  unitPrice: string;
  rates: RateDraft[];
  input: string;
  cachedInput: string;
  output: string;
  multiplier: string;
}

export type ProposalValues = { changes: Draft[]; effectiveAt: string; note: string };

/** An empty value matches any request. */
export interface RateDraft {
  key: string;
  when: Record<(typeof dimensionNames)[number], string>;
  unitPrice: string;
}

export function newRate(
  when: { [Name in keyof RateDraft['when']]?: string | undefined } = {},
  unitPrice = '',
): RateDraft {
  const { size = '', quality = '', resolution = '', input = '', mode = '', audio = '', length = '' } = when;
  return {
    key: crypto.randomUUID(),
    when: { size, quality, resolution, input, mode, audio, length },
    unitPrice,
  };
}

export const dimensionsOf: Record<Shape<'Model'>['family'], readonly (typeof dimensionNames)[number][]> = {
  image: ['size', 'quality', 'resolution', 'input'],
  video: ['resolution', 'audio', 'length'],
  '3d': ['mode', 'input'],
  chat: [],
  speech: [],
};

export function newDraft(given: Partial<Draft> = {}): Draft {
  return {
    key: crypto.randomUUID(),
    kind: 'price',
    subject: '',
    isEnd: false,
    unitPrice: '',
    rates: [],
    input: '',
    cachedInput: '',
    output: '',
    ...eachOptional(''),
    multiplier: '',
    ...given,
  };
}

export function inForceFor(
  { kind, subject }: Pick<Draft, 'kind' | 'subject'>,
  all: readonly Change[],
): Change | null {
  return (
    all.find((each) => each.kind === kind && (each.kind === 'price' ? each.model : each.group) === subject) ??
    null
  );
}

/** A draft with the values of an existing change. */
export function draftOf(change: Change): Draft {
  if (change.kind === 'multiplier') {
    const { kind, group: subject, multiplier } = change;
    return newDraft({ kind, subject, isEnd: multiplier === null, multiplier: multiplier ?? '' });
  }
  if (change.kind === 'rule') {
    const { kind, group: subject } = change;
    const isEnd = change.rule === 'none';
    return newDraft({ kind, subject, isEnd, unitPrice: isEnd ? '' : change.unitPrice });
  }
  const { kind, model: subject, price } = change;
  if (price && 'unitPrice' in price) {
    const rates = price.rates?.map(({ when, unitPrice }) => newRate(when, unitPrice)) ?? [];
    return newDraft({ kind, subject, unitPrice: price.unitPrice, rates });
  }
  const stated = Object.entries(price ?? {}).filter(([, amount]) => amount !== undefined);
  return newDraft({ kind, subject, isEnd: price === null, ...Object.fromEntries(stated) });
}

export function changeFrom(draft: Draft, unit: Shape<'Model'>['unit'] | undefined): Change {
  const { kind, subject, isEnd } = draft;
  const unitPrice = draft.unitPrice.trim();
  if (kind === 'multiplier')
    return { kind, group: subject, multiplier: isEnd ? null : draft.multiplier.trim() };
  if (kind === 'rule') {
    return isEnd
      ? { kind, group: subject, rule: 'none' }
      : { kind, group: subject, rule: 'fixed_per_call', unitPrice };
  }
  if (isEnd) return { kind, model: subject, price: null };
  if (unit !== 'token') {
    const rates = draft.rates.map(rateFrom);
    return { kind, model: subject, price: { unitPrice, ...(rates.length > 0 && { rates }) } };
  }
  const [input, cachedInput, output] = [draft.input.trim(), draft.cachedInput.trim(), draft.output.trim()];
  const writes = optionalTokenNames
    .map((name) => [name, draft[name].trim()] as const)
    .filter(([, amount]) => amount !== '');
  return { kind, model: subject, price: { input, cachedInput, output, ...Object.fromEntries(writes) } };
}

/** The same value for each optional amount. */
export function eachOptional<T>(value: T): Record<(typeof optionalTokenNames)[number], T> {
  return Object.fromEntries(optionalTokenNames.map((name) => [name, value])) as Record<
    (typeof optionalTokenNames)[number],
    T
  >;
}

function rateFrom({ when, unitPrice }: RateDraft): NonNullable<RatedPrice['rates']>[number] {
  const asked = Object.entries(when)
    .map(([name, value]) => [name, value.trim().toLowerCase()] as const)
    .filter(([, value]) => value !== '');
  return { when: Object.fromEntries(asked), unitPrice: unitPrice.trim() };
}

export type AmountName =
  | 'unitPrice'
  | 'input'
  | 'cachedInput'
  | 'output'
  | 'multiplier'
  | (typeof optionalTokenNames)[number];

/** The amounts that must be decimals. */
export function amountsOf({ kind, isEnd }: Draft, unit: Shape<'Model'>['unit'] | undefined): AmountName[] {
  if (isEnd) return [];
  if (kind === 'multiplier') return ['multiplier'];
  return kind === 'price' && unit === 'token' ? ['input', 'cachedInput', 'output'] : ['unitPrice'];
}
