import { MAX_MODEL_ID_CHARS } from '#catalog/model-id.js';
import { type Said, said, type SaidParams, type Sentences } from '#platform/said.js';

/** What the fields of a change must be, as messages of their shapes. */
export const formats = {
  not_decimal: 'must be a decimal string such as "0.02", with at most 18 decimals',
  not_model: `must be a model id of up to ${MAX_MODEL_ID_CHARS} letters, digits and . _ : -, with single slashes between its parts`,
  not_group: 'must be the name of a group',
  not_value: 'must be 1 to 32 lower-case letters, digits and . : _ -',
  not_seconds: 'must be whole seconds, such as "10"',
} as const;

type Format = keyof typeof formats;

const inFormat =
  (format: Format) =>
  ({ field }: SaidParams) =>
    `${field} ${formats[format]}.`;

const SENTENCES = {
  // What a row of a file says.
  withdrawn_unclear: () => 'withdrawn must be yes or empty.',
  withdrawn_with_value: () => 'What is withdrawn has no value.',
  named_twice: ({ name }) => `rates names ${name} twice in one rate.`,
  unknown_kind: () => 'kind must be price, multiplier or rule.',
  price_incomplete: () =>
    'a price needs a model, and unitPrice, perhaps with rates such as "size=1024x1024 quality=high 0.167; quality=high 0.25", or input, cachedInput and output, or to be withdrawn.',
  multiplier_incomplete: () => 'a multiplier needs a group and a decimal, or to be withdrawn.',
  rule_incomplete: () => 'a rule needs a group, and is none, or fixed_per_call with a unitPrice.',
  earlier_line: ({ kind, name, line }) => `The ${kind} of ${name} is in line ${line} already.`,
  not_decimal: inFormat('not_decimal'),
  not_model: inFormat('not_model'),
  not_group: inFormat('not_group'),
  not_value: inFormat('not_value'),
  not_seconds: inFormat('not_seconds'),
  // What the change would do.
  version_at_time: ({ kind, name }) =>
    `The ${kind} of ${name} has a version from exactly that time: choose a time after it.`,
  no_group: ({ group }) => `There is no group ${group}.`,
  no_model: ({ model }) => `There is no model ${model}.`,
  alias: ({ model, of }) => `${model} is an alias: it costs what ${of} costs.`,
  by_unit: ({ model, unit }) => `${model} is priced by the ${unit}: give unitPrice.`,
  by_token: ({ model }) => `${model} is priced by the token: give input, cachedInput and output.`,
  too_high: ({ field, highest }) => `${field} is above ${highest}.`,
  rate_foreign: ({ rate, model, name, known }) =>
    `rates.${rate} can never apply: requests for ${model} have no ${name}, use ${known}.`,
  no_rates: ({ rate, model, name }) =>
    `rates.${rate} can never apply: requests for ${model} have no ${name}, leave rates out.`,
  rate_hidden: ({ rate, hider }) =>
    `rates.${rate} can never apply: rates.${hider} applies first. Put it before that one.`,
  rate_silent: ({ rate, model }) =>
    `rates.${rate} can never apply: all channels of ${model} make videos with sound. Leave it out, or add a channel that can do without.`,
} satisfies Sentences;

type PriceFaultCode = keyof typeof SENTENCES;

/** Why a change of prices cannot be made. */
export type PriceFault = Said<PriceFaultCode>;

export const priceFaultCodes = Object.keys(SENTENCES) as PriceFaultCode[];

export const priceFault: typeof said<PriceFaultCode> = said;

/** The fault of a field that is not in its format; null for messages that are no format's. */
export function formatFault(field: string, message: string): PriceFault | null {
  const format = (Object.keys(formats) as Format[]).find((each) => formats[each] === message);
  return format === undefined ? null : said(format, { field });
}

export function priceFaultText({ code, params }: PriceFault): string {
  return SENTENCES[code](params);
}
