import type { GetAnswer } from '../api/queries.js';

export type System = GetAnswer<'/api/admin/programs'>;

export function rate(perSecond: number, locale: string): string {
  return `${perSecond.toLocaleString(locale, { maximumFractionDigits: 1 })}\u00a0/s`;
}
