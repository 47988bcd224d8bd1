import type { Answer } from '../api/queries.js';

export type System = Answer<'/api/admin/programs'>;
export type Program = System['items'][number];

export function rate(perSecond: number, locale: string): string {
  return `${perSecond.toLocaleString(locale, { maximumFractionDigits: 1 })}\u00a0/s`;
}
