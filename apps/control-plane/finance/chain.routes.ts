import { z } from 'zod';
import { timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const hash = z.string().describe('SHA-256, hex.');

const blockView = z
  .object({
    number: numberText.describe('Starts at 1.'),
    previousHash: hash,
    hash,
    digest: hash.describe('Covers the hashes of the rows that the block seals.'),
    leavesHash: hash.describe('Covers the identifiers of the rows that were touched.'),
    firstId: numberText.describe('Its first ledger transaction.'),
    lastId: numberText.describe('Its last ledger transaction. Everything up to it is sealed.'),
    transactionCount: z.int(),
    entryCount: z.int(),
    sealedAt: timeView,
    signature: z
      .object({
        keyId: z.string().describe("The first characters of the public key's SHA-256."),
        signature: z.string().describe('Ed25519 over the number and the hash, base64.'),
        signedAt: timeView,
      })
      .nullable()
      .describe('Signs heads only. A signature covers all earlier blocks.'),
  })
  .meta({ id: 'ChainBlock' });

const forFinance = routesFor(['finance'], 'Books');

export const chainRoutes = {
  blocks: forFinance.list(blockView)('listChainBlocks', '/api/finance/chain', {
    summary: 'List the blocks of the hash chain, newest first.',
    description:
      'The first item of the first page is the head. Store its hash elsewhere: `tollgate ledger verify --head <hash>` then shows whether anything before it was edited, removed or inserted. The hash is also in every export and on the bus topic `ledger.sealed`.',
  }),
};
