import { z } from 'zod';
import { timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const hash = z.string().meta({ description: 'SHA-256, hex.' });

const blockView = z
  .object({
    number: numberText.meta({ description: 'Starts at 1.' }),
    previousHash: hash,
    hash,
    digest: hash.meta({ description: 'Covers the hashes of the rows that the block seals.' }),
    leavesHash: hash.meta({ description: 'Covers the identifiers of the rows that were touched.' }),
    firstId: numberText.meta({ description: 'Its first ledger transaction.' }),
    lastId: numberText.meta({ description: 'Its last ledger transaction. Everything up to it is sealed.' }),
    transactionCount: z.number().int(),
    entryCount: z.number().int(),
    sealedAt: timeView,
    signature: z
      .object({
        keyId: z.string().meta({ description: "The first characters of the public key's SHA-256." }),
        signature: z.string().meta({ description: 'Ed25519 over the number and the hash, base64.' }),
        signedAt: timeView,
      })
      .nullable()
      .meta({ description: 'Signs heads only. A signature covers all earlier blocks.' }),
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
