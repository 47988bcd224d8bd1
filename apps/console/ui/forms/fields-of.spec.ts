import { describe, expect, it } from 'vitest';
import { changesBetween, fieldsOf } from './fields-of.js';

describe('documents', () => {
  it('are lines of text, however deep they are', () => {
    const document = { enabled: true, limits: { sizes: ['1x1', '2x2'], none: null }, rows: [{ id: 'a' }] };
    expect(fieldsOf(document)).toEqual([
      ['enabled', 'true'],
      ['limits.sizes', '1x1, 2x2'],
      ['rows.0.id', 'a'],
    ]);
    expect(fieldsOf(null)).toEqual([]);
    expect(fieldsOf('text')).toEqual([['', 'text']]);
  });

  it('are compared field by field', () => {
    const before = { price: { unitPrice: '0.03' }, same: 1, gone: 'x' };
    const after = { price: { unitPrice: '0.05' }, same: 1, made: ['y'] };
    expect(changesBetween(before, after)).toEqual([
      { path: 'price.unitPrice', before: '0.03', after: '0.05' },
      { path: 'gone', before: 'x', after: null },
      { path: 'made', before: null, after: 'y' },
    ]);
    expect(changesBetween(null, { made: true })).toEqual([{ path: 'made', before: null, after: 'true' }]);
  });
});
