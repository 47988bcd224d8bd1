import { describe, expect, it } from 'vitest';
import { changesBetween, fieldsOf } from './fields-of.js';

describe('documents', () => {
  it('are lines of text, however deep they are', () => {
    const document = { enabled: true, limits: { sizes: ['1x1', '2x2'], none: null }, rows: [{ id: 'a' }] };
    expect(fieldsOf(document)).toEqual([
      { path: ['enabled'], value: 'true' },
      { path: ['limits', 'sizes'], value: '1x1, 2x2' },
      { path: ['rows', '0', 'id'], value: 'a' },
    ]);
    expect(fieldsOf(null)).toEqual([]);
    expect(fieldsOf('text')).toEqual([{ path: [], value: 'text' }]);
  });

  it('are compared field by field', () => {
    const before = { price: { unitPrice: '0.03' }, same: 1, gone: 'x' };
    const after = { price: { unitPrice: '0.05' }, same: 1, made: ['y'] };
    expect(changesBetween(before, after)).toEqual([
      { path: ['price', 'unitPrice'], before: '0.03', after: '0.05' },
      { path: ['gone'], before: 'x', after: null },
      { path: ['made'], before: null, after: 'y' },
    ]);
    expect(changesBetween(null, { made: true })).toEqual([{ path: ['made'], before: null, after: 'true' }]);
  });

  it('keep keys whole that contain dots', () => {
    const before = { models: { 'gpt-4.1': 'a' }, 'models.gpt-4': { 1: 'b' } };
    const after = { models: { 'gpt-4.1': 'c' }, 'models.gpt-4': { 1: 'b' } };
    expect(changesBetween(before, after)).toEqual([{ path: ['models', 'gpt-4.1'], before: 'a', after: 'c' }]);
  });
});
