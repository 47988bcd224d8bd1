import { mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe } from 'vitest';
import { storeContract, type StoreWorld } from '../../test/support/store-contract.js';
import { FolderStore } from './folder.store.js';

async function openFolder(): Promise<StoreWorld> {
  const root = mkdtempSync(join(tmpdir(), 'file-store-'));
  const contents = async () =>
    readdirSync(root, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
  return {
    store: new FolderStore(root),
    contents,
    breakOff: async (key) => writeFileSync(join(root, `${key}.x.part`), 'half'),
    age: async (part) => {
      for (const path of await contents())
        if (path.includes(part)) utimesSync(path, new Date(0), new Date(0));
    },
    close: async () => rmSync(root, { recursive: true, force: true }),
  };
}

describe('the file store in a folder', () => storeContract(openFolder));
