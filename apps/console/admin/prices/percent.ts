import { addDecimals, compareDecimals, decimalsOf } from '../../ui/decimal.js';

/** Tenths of a percent. */
const PER_UNIT = 1_000n;

/** "+20%" or "−12.5%", rounded to a tenth of a percent. `before` is above 0. */
export function changeInPercent(before: string, after: string): string {
  const scale = Math.max(decimalsOf(before), decimalsOf(after));
  const [old, now] = [whole(before, scale), whole(after, scale)];
  const product = (now - old) * PER_UNIT;
  const tenths = roundedDivision(product, old);
  const size = tenths < 0n ? -tenths : tenths;
  const sign = tenths < 0n ? '−' : tenths > 0n ? '+' : compareDecimals(before, after) === 0 ? '' : '±';
  const fraction = size % 10n === 0n ? '' : `.${size % 10n}`;
  return `${sign}${size / 10n}${fraction}%`;
}

function roundedDivision(value: bigint, by: bigint): bigint {
  const half = by / 2n;
  return value < 0n ? -((-value + half) / by) : (value + half) / by;
}

/** As an integer of `scale` decimals. */
function whole(value: string, scale: number): bigint {
  const [integer = '', fraction = ''] = addDecimals(value).split('.');
  return BigInt(integer + fraction.padEnd(scale, '0'));
}
