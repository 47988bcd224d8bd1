import { type Said, said, type Sentences } from '#platform/said.js';

const SENTENCES = {
  // What a row of a file says.
  nameless: () => 'channel and model must not be empty.',
  failures_unclear: () => 'bills_failures must be yes, no or empty.',
  bad_time: () => 'effective_from must be a time such as 2026-01-31T00:00:00Z, or empty.',
  withdrawn_unclear: () => 'withdrawn must be yes or empty.',
  withdrawn_with_cost: () => 'What is withdrawn has no cost.',
  not_decimal: ({ value }) => `${value} is not a decimal such as 0.02.`,
  incomplete: () => 'Give unit_cost, or input_cost, cached_input_cost and output_cost, or withdrawn.',
  earlier_line: ({ channel, model, line }) =>
    `The cost of ${model} on ${channel} is in line ${line} already.`,
  // What the cost is for.
  no_channel: ({ channel }) => `channel: there is no channel ${channel}.`,
  no_model: ({ model }) => `model: there is no model ${model}.`,
  alias: ({ model, of }) => `model: ${model} is an alias: it costs what ${of} costs.`,
  by_token: ({ model }) => `cost: ${model} is counted by the token: give input, cachedInput and output.`,
  by_unit: ({ model, unit }) => `cost: ${model} is counted by the ${unit}: give unitCost.`,
  too_high: ({ field, highest }) => `${field}: is above ${highest}.`,
} satisfies Sentences;

type CostFaultCode = keyof typeof SENTENCES;

export type CostFault = Said<CostFaultCode>;

export const costFaultCodes = Object.keys(SENTENCES) as CostFaultCode[];

export const costFault: typeof said<CostFaultCode> = said;

export function costFaultText({ code, params }: CostFault): string {
  return SENTENCES[code](params);
}
