import type { Shape } from '../../api/shape.js';
import { dimensionNames, type RatedPrice } from '../../ui/rate-lines.js';
import { optionalTokenNames } from '../../api/token-names.js';
import type { Change } from '../catalog.js';

/** A change as its form has it. */
export interface Draft extends Record<(typeof optionalTokenNames)[number], string> {
  /** For the list of forms. */
  key: string;
  kind: Change['kind'];
  /** A model or a group. */
  subject: string;
  /** The price is withdrawn, the multiplier too; a group goes back to list prices. */
  isEnd: boolean;
  /** Of a call or a second; of each call of a group with a rule. */
  unitPrice: string;
  rates: RateDraft[];
  input: string;
  cachedInput: string;
  output: string;
  multiplier: string;
}

/** A proposal as its form has it. */
export type ProposalValues = { changes: Draft[]; effectiveAt: string; note: string };

/** A rate as its row has it: an empty value is not asked for. */
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

/** What requests for models of a family can say. */
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

/** What is in force for the subject of a draft. */
export function inForceFor(
  { kind, subject }: Pick<Draft, 'kind' | 'subject'>,
  all: readonly Change[],
): Change | null {
  return (
    all.find((each) => each.kind === kind && (each.kind === 'price' ? each.model : each.group) === subject) ??
    null
  );
}

/** A draft that changes nothing yet: its fields hold what a change says. */
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

/** The change that a filled-in draft asks for. */
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

/** The same of each amount that may stay empty. */
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

/** The fields of a draft that hold an amount. */
export type AmountName =
  | 'unitPrice'
  | 'input'
  | 'cachedInput'
  | 'output'
  | 'multiplier'
  | (typeof optionalTokenNames)[number];

/** Those that have to be decimals. */
export function amountsOf({ kind, isEnd }: Draft, unit: Shape<'Model'>['unit'] | undefined): AmountName[] {
  if (isEnd) return [];
  if (kind === 'multiplier') return ['multiplier'];
  return kind === 'price' && unit === 'token' ? ['input', 'cachedInput', 'output'] : ['unitPrice'];
}
