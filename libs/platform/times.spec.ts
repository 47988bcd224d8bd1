import { expect, it } from 'vitest';
import { isoInstant } from './times.js';

it.each([
  ['2026-11-23 03:50:26.72+00', '2026-11-23T03:50:26.720Z'],
  ['2026-11-23 03:50:26+00', '2026-11-23T03:50:26.000Z'],
  ['2026-11-23 03:50:26.91217+00', '2026-11-23T03:50:26.912170Z'],
  ['2026-11-23 03:50:26.912175+00', '2026-11-23T03:50:26.912175Z'],
])('prints %s from the database as %s, as a Date prints the same instant', (stored, printed) => {
  expect(isoInstant(stored)).toBe(printed);
  expect(printed.slice(0, 23)).toBe(new Date(printed).toISOString().slice(0, 23));
});

it.each(['infinity', '2026-11-23T03:50:26.72Z', '2026-11-23 03:50:26+02'])('leaves %s as it is', (text) => {
  expect(isoInstant(text)).toBe(text);
});
