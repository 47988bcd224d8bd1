import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { systemClock } from '#platform/clock.js';
import { FolderStore } from '#storage/folder.store.js';
import { type EngineFixture, openEngine, spend } from '../../../test/support/ledger-person.js';
import { ImageFiles } from './image.files.js';
import { KeptImages } from './kept-images.js';

let under: EngineFixture;
let folder: string;

beforeAll(async () => {
  under = await openEngine();
  folder = await mkdtemp(join(tmpdir(), 'kept-images-'));
});
afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  await under?.close();
});

it('are all linked, however many a call made', async () => {
  const { ledger, engine } = under;
  const someone = await ledger.account({ credits: '10' });
  const options = { secret: 'of a test', lifeMs: 60_000, clock: systemClock };
  const files = new ImageFiles(new FolderStore(folder), options);
  const chargeId = await spend(engine, someone, 40n);
  // The first of them could not be stored.
  const stored = Array.from({ length: 20 }, (_, index) => index + 20);
  for (const index of stored)
    await files.keep(`${chargeId}-${index}.png`, Buffer.from('an image'), new AbortController().signal);
  const kept = await new KeptImages(ledger.billing, files, systemClock).of(someone.accountId, chargeId);
  expect(kept.map(({ index }) => index)).toEqual(stored);
});
