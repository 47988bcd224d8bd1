import { describe, expect, it } from 'vitest';
import type { Shape } from '../../api/client.js';
import { amountOf, recomputed } from './recompute.js';

const AT = '2026-01-31T00:00:00.000Z';
const VERSIONS = { price: null, multiplier: null, groupRule: null };

type Parts = Pick<Shape<'Charge'>, 'pricing' | 'hold' | 'settlement'>;

function video(settled: string, delivered = '5'): Parts {
  return {
    pricing: {
      rule: 'list',
      dimensions: {},
      units: '5',
      unitPrice: '0.05',
      multiplier: '1.25',
      lines: null,
      versions: VERSIONS,
      rounding: '',
    },
    hold: { amount: '0.3125', at: AT },
    settlement: { amount: settled, at: AT, deliveredUnits: delivered, lines: null },
  };
}

describe('the amount of a line', () => {
  it('is rounded up once, to nine decimals', () => {
    expect(amountOf({ unitPrice: '0.02', units: '3' }, '1')).toBe('0.06');
    expect(amountOf({ unitPrice: '0.0000000011', units: '1' }, '1')).toBe('0.000000002');
    expect(amountOf({ unitPrice: '0.0000025', units: '123456789' }, '0.333333')).toBe('102.88055462');
    expect(amountOf({ unitPrice: '5', units: '0' }, '1')).toBe('0');
  });
});

describe('a recalculated charge', () => {
  it('agrees if hold and settlement follow from the prices', () => {
    expect(recomputed(video('0.3125'))).toEqual({ hold: '0.3125', settlement: '0.3125', agrees: true });
    expect(recomputed(video('0.125', '2'))).toMatchObject({ settlement: '0.125', agrees: true });
  });

  it('takes no more than was held', () => {
    expect(recomputed(video('0.3125', '9'))).toMatchObject({ settlement: '0.3125', agrees: true });
  });

  it('does not agree if an amount differs', () => {
    expect(recomputed(video('0.3126'))).toMatchObject({ settlement: '0.3125', agrees: false });
    const charge = video('0.3125');
    expect(recomputed({ ...charge, hold: { amount: '0.31', at: AT } })).toMatchObject({ agrees: false });
  });

  it('rounds each line of tokens separately', () => {
    const line = (kind: 'input' | 'output', units: string) => ({
      kind,
      units,
      unitPrice: '0.0000000015',
      amount: '0',
    });
    const charge: Parts = {
      pricing: {
        rule: 'list',
        dimensions: {},
        units: '1',
        unitPrice: null,
        multiplier: '1',
        lines: [line('input', '1'), line('output', '3')],
        versions: VERSIONS,
        rounding: '',
      },
      hold: { amount: '0.000000007', at: AT },
      settlement: {
        amount: '0.000000004',
        at: AT,
        deliveredUnits: '1',
        lines: [line('input', '1'), line('output', '1')],
      },
    };
    expect(recomputed(charge)).toEqual({ hold: '0.000000007', settlement: '0.000000004', agrees: true });
  });

  it('does not exist for a refused request', () => {
    expect(recomputed({ pricing: null, hold: null, settlement: null })).toBeNull();
  });
});
