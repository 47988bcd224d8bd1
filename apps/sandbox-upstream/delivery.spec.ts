import { expect, it } from 'vitest';
import { countDownload } from './delivery.js';

it('downloads are counted for each of the latest files, and forgotten for earlier ones', () => {
  const vendor = { downloadsOf: new Map<string, number>() };
  for (let file = 0; file < 5_000; file += 1) countDownload(vendor, `file-${file}`);
  expect(vendor.downloadsOf.size).toBeLessThanOrEqual(1_000);
  expect(['file-4999', 'file-4999', 'file-0'].map((file) => countDownload(vendor, file))).toEqual([1, 2, 0]);
});
