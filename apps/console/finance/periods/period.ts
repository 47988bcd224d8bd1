import type { Shape } from '../../api/client.js';
import type { Tone } from '../../ui/status-badge.js';
import { monthOf } from '../utc-days.js';

export const periodTones: Record<Shape<'Period'>['state'], Tone> = {
  closing: 'busy',
  closed: 'good',
  abandoned: 'quiet',
};

/** The next period ends a month after the last close, or, before the first close, when this month began. May be in the future. */
export function nextToClose(lastEnd: string | null, now: string): string {
  return lastEnd === null ? monthOf(now) : monthOf(lastEnd.slice(0, 10), 1);
}

/** This month's start and the one before, if a period can still end there. */
export function monthsToClose(lastEnd: string | null, now: string): string[] {
  const months = [monthOf(now, -1), monthOf(now)];
  return months.filter((day) => lastEnd === null || day > lastEnd.slice(0, 10));
}
