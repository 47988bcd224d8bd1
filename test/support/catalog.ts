import { randomBytes } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { CatalogChanges } from '#marketplace/catalog/catalog.changes.js';
import { ChannelRoutes } from '#marketplace/catalog/channel-routes.js';
import { ChannelService } from '#marketplace/catalog/channel.service.js';
import { ApprovalService } from '#approvals/approval.service.js';
import { GroupModels } from '#marketplace/catalog/group-models.js';
import { GroupOpening } from '#marketplace/catalog/group-opening.js';
import { GroupService } from '#marketplace/catalog/group.service.js';
import { ModelService } from '#marketplace/catalog/model.service.js';
import type { DoneBy } from '#marketplace/prices/proposal.service.js';
import { newId } from '#platform/ids.js';
import { SecretBox } from '#platform/sealed-secret.js';
import { openEntities } from './entities.js';
import { createLedgerFixture, type LedgerFixture } from './ledger.js';
import { NOBODY_WAITS } from './payments.js';

/** The services that change the catalog, set up as in the control plane. */
export interface CatalogFixture {
  ledger: LedgerFixture;
  source: DataSource;
  models: ModelService;
  groups: GroupService;
  groupModels: GroupModels;
  approvals: ApprovalService;
  channels: ChannelService;
  /** Seals the channel keys. */
  secrets: SecretBox;
  /** Number of changes announced to gateways. */
  announced(): Promise<number>;
  close(): Promise<void>;
}

export async function openCatalog(): Promise<CatalogFixture> {
  const ledger = await createLedgerFixture();
  const source = await openEntities(ledger);
  const changes = new CatalogChanges(source, NOBODY_WAITS);
  const approvals = new ApprovalService(source);
  const secrets = new SecretBox([randomBytes(32)]);
  const groupModels = new GroupModels(changes, approvals);
  const opening = new GroupOpening(changes, approvals);
  return {
    ledger,
    source,
    models: new ModelService(source, changes, groupModels),
    groups: new GroupService({ source, pool: ledger.billing, changes, opening, models: groupModels }),
    groupModels,
    approvals,
    channels: new ChannelService({ source, changes, routes: new ChannelRoutes(changes, approvals), secrets }),
    secrets,
    announced: async () => {
      const { rows } = await ledger.owner.query<{ count: number }>(
        `SELECT count(*)::int AS count FROM outbox WHERE topic = 'catalog.changed'`,
      );
      return rows[0]!.count;
    },
    close: async () => {
      await source.destroy();
      await ledger.close();
    },
  };
}

/** An administrator, as named in the audit log. */
export function admin(): DoneBy {
  return { actor: `user:${newId()}`, requestId: newId() };
}
