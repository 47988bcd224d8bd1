import type { Shape } from '../../api/shape.js';
import type { Tone } from '../../ui/status-badge.js';
import { monthOf } from '../utc-days.js';

export const periodTones: Record<Shape<'Period'>['state'], Tone> = {
  closing: 'busy',
  closed: 'good',
  abandoned: 'quiet',
};

/**
 * The end of the period that is next to be closed: the first beginning of a month after the last close, or, where nothing was
 * closed, the beginning of this month. It may lie ahead: then the month is not over yet.
 */
export function nextToClose(lastEnd: string | null, now: string): string {
  return lastEnd === null ? monthOf(now) : monthOf(lastEnd.slice(0, 10), 1);
}
