import { z } from 'zod';
import { pageOf, pageQuery, timeView, numberText } from '#platform/http/fields.js';
import { routesFor } from '../http/route.js';

const hash = z.string().meta({ description: 'SHA-256, hex.' });

const blockView = z
  .object({
    number: numberText.meta({ description: 'Counted from 1.' }),
    previousHash: hash,
    hash,
    digest: hash.meta({ description: 'Of the hashes of what the block seals.' }),
    leavesHash: hash.meta({ description: 'Of what names a row that was touched.' }),
    firstId: numberText.meta({ description: 'Its first ledger transaction.' }),
    lastId: numberText.meta({ description: 'Its last one; everything up to it is sealed.' }),
    transactionCount: z.number().int(),
    entryCount: z.number().int(),
    sealedAt: timeView,
    signature: z
      .object({
        keyId: z.string().meta({ description: 'The beginning of SHA-256 of the public key.' }),
        signature: z.string().meta({ description: 'Ed25519 over the number and the hash, base64.' }),
        signedAt: timeView,
      })
      .nullable()
      .meta({ description: 'Of heads; it vouches for every block before.' }),
  })
  .meta({ id: 'ChainBlock' });

const forFinance = routesFor(['finance'], 'Books');

export const chainRoutes = {
  blocks: forFinance.get('listChainBlocks', '/api/finance/chain', {
    summary: 'List the blocks of the hash chain, newest first.',
    description:
      'The first item of the first page is the head. Keep its hash elsewhere to see later whether anything up to it was edited, removed or inserted: `tollgate ledger verify --head <hash>`. It is in every export and on the bus topic `ledger.sealed`, too.',
    query: z.strictObject(pageQuery),
    answer: pageOf(blockView),
  }),
};
