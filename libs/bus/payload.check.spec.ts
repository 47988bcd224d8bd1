import { describe, expect, it } from 'vitest';
import { IsInt, IsOptional, validateSync, ValidateNested } from 'class-validator';
import fc from 'fast-check';
import { keepsRules } from './payload.check.js';
import { IsCount, IsDecimalText, IsInstant, IsReason, IsWord } from './payload.rules.js';
import { ChargeReply, ChargeRequested, ChargeResolved } from './payloads.js';

const types = { ChargeRequested, ChargeReply, ChargeResolved };

const values = fc.oneof(
  fc.constantFrom(
    '0.02',
    '2026-01-01T00:00:00Z',
    'image',
    'held',
    'settled',
    'delivered',
    '',
    'x'.repeat(201),
  ),
  fc.constantFrom(null, undefined, true, {}, [], { code: 'a', message: 'b' }, { code: 1 }),
  fc.integer(),
  fc.double(),
  fc.string(),
);

function instanceOf(type: new () => object, fields: object): object {
  return Object.assign(Object.create(type.prototype as object) as object, fields);
}

const whole: Record<keyof typeof types, object> = {
  ChargeRequested: {
    chargeId: 'c',
    accountId: 'a',
    keyId: 'k',
    model: 'm',
    requestedModel: 'm',
    group: 'g',
    family: 'image',
    units: '1',
    quotedAmount: '0.02',
    expiresAt: '2026-01-01T00:00:00Z',
    deadline: null,
    requestId: 'r',
  },
  ChargeReply: { outcome: 'held', chargeId: 'c', amount: '0.02' },
  ChargeResolved: { chargeId: 'c', accountId: 'a', outcome: 'delivered', deliveredUnits: '1', latencyMs: 3 },
};

describe('keepsRules', () => {
  it.each(Object.keys(types) as (keyof typeof types)[])(
    'says the same about a %s as class-validator',
    (name) => {
      const type = types[name];
      expect(keepsRules(type, instanceOf(type, whole[name]))).toBe(true);
      const fields = Object.keys(whole[name]);
      fc.assert(
        fc.property(
          fc.dictionary(fc.constantFrom(...fields, 'taskId', 'reason', 'unknown'), values),
          (changes) => {
            const instance = instanceOf(type, { ...whole[name], ...changes });
            expect(keepsRules(type, instance)).toBe(validateSync(instance).length === 0);
          },
        ),
        { numRuns: 500 },
      );
    },
  );

  it('knows each rule that payloads use', () => {
    class Every {
      @IsWord() word = 'w';
      @IsCount() count = 1;
      @IsDecimalText() decimal = '1';
      @IsInstant() instant = '2026-01-01T00:00:00Z';
      @IsOptional() @IsReason() reason = null;
    }
    expect(keepsRules(Every, new Every())).toBe(true);
    expect(keepsRules(Every, Object.assign(new Every(), { count: -1 }))).toBe(false);
  });

  it('leaves classes with another kind of rule, or none, to class-validator', () => {
    class Nested {
      @ValidateNested() inner = {};
    }
    class Each {
      @IsInt({ each: true }) numbers = [1];
    }
    class Plain {}
    for (const type of [Nested, Each, Plain]) expect(keepsRules(type, new type())).toBe(false);
  });
});
