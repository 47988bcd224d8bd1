import type { UpstreamCost } from '#finance/costs/cost-versions.js';
import { cost as costFields } from '#finance/views/costs.view.js';
import { OperatorError } from '#platform/errors.js';
import { readAmounts, tokenAmountsText } from '../amounts.js';

/** A cost as read by `costOf`, such as `5/1.25/10,imageOutput=32`. */
export function costText(cost: UpstreamCost | null): string {
  if (cost === null) return 'withdrawn';
  return 'unitCost' in cost ? cost.unitCost : tokenAmountsText(cost);
}

/** A cost as people write it. Null for `withdrawn`. @throws OperatorError that explains the format */
export function costOf(text: string): UpstreamCost | null {
  if (text === 'withdrawn') return null;
  const result = costFields.safeParse(fieldsOf(text));
  if (result.success) return result.data;
  throw new OperatorError(
    `${text} is not a cost: give USD such as 0.018, input/cached/output of a million tokens, such as 5/1.25/10 or 5/1.25/10,imageOutput=32, or withdrawn.`,
  );
}

function fieldsOf(text: string): object | null {
  const amounts = readAmounts(text);
  if (!amounts) return null;
  const [first, cachedInput, output, ...more] = amounts.inOrder;
  if (more.length > 0) return null;
  if (cachedInput === undefined) return { unitCost: first, ...amounts.byName };
  return { input: first, cachedInput, output, ...amounts.byName };
}
