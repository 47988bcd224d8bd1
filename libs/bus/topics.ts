import {
  ChargeRequested,
  ChargeReply,
  ChargeResolved,
  ResolvedReply,
  TaskEnded,
  ChargeSettled,
  ChargeRefunded,
  TopupCredited,
  BalanceLow,
  ControlFailed,
  CatalogChanged,
  KeyChanged,
  LedgerHead,
  LedgerSealed,
} from './payloads.js';
import { topic, type AnyTopic } from './topic.js';

/** Fixed when the topics are created: more would move accounts to other partitions. */
const MONEY_PARTITIONS = 12;
const CACHE_PARTITIONS = 1;
/** Events of the whole house are rare. */
const HOUSE_PARTITIONS = 1;

/**
 * The consumer groups: one for each program that reads. The control plane reads twice: webhooks of customers must not keep
 * its own mail waiting.
 */
export const groups = {
  billing: 'billing',
  gateway: 'gateway',
  controlPlane: 'control-plane',
  notifications: 'notifications',
} as const;

const ofCharge = { id: (payload: { chargeId: string }) => payload.chargeId };
const byAccount = { key: (payload: { accountId: string }) => payload.accountId };

export const topics = {
  chargeRequested: topic({
    name: 'charge.requested',
    about: 'Holds the price of a call before it is sent to an upstream',
    from: ['gateway'],
    version: 1,
    kind: 'request',
    payload: ChargeRequested,
    reply: ChargeReply,
    partitions: MONEY_PARTITIONS,
    groups: [groups.billing],
    deadLetters: false,
    ...byAccount,
    ...ofCharge,
  }),
  chargeResolved: topic({
    name: 'charge.resolved',
    about: 'Ends the charge of a call: settles what was delivered, and releases the rest',
    from: ['gateway', 'billing'],
    version: 1,
    kind: 'either',
    payload: ChargeResolved,
    reply: ResolvedReply,
    partitions: MONEY_PARTITIONS,
    groups: [groups.billing],
    ...byAccount,
    ...ofCharge,
  }),
  videoCompleted: topic({
    name: 'video.completed',
    about: 'A task has ended, completed or failed; its charge ends with it',
    from: ['video-worker', 'billing'],
    version: 1,
    kind: 'event',
    payload: TaskEnded,
    partitions: MONEY_PARTITIONS,
    groups: [groups.billing, groups.notifications],
    ...byAccount,
    ...ofCharge,
  }),
  chargeSettled: topic({
    name: 'charge.settled',
    about: 'A charge was settled. Published with PUBLISH_SETTLEMENTS only: for programs of yours',
    from: ['billing'],
    version: 1,
    kind: 'event',
    payload: ChargeSettled,
    partitions: MONEY_PARTITIONS,
    groups: [],
    ...byAccount,
    ...ofCharge,
  }),
  chargeRefunded: topic({
    name: 'charge.refunded',
    about: 'Part of a charge was refunded',
    from: ['billing', 'control-plane'],
    version: 1,
    kind: 'event',
    payload: ChargeRefunded,
    partitions: MONEY_PARTITIONS,
    groups: [groups.notifications],
    ...byAccount,
    ...ofCharge,
  }),
  topupCredited: topic({
    name: 'topup.credited',
    about: 'A top-up was credited',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: TopupCredited,
    partitions: MONEY_PARTITIONS,
    groups: [groups.notifications, groups.controlPlane],
    ...byAccount,
    id: (payload) => payload.topupId,
  }),
  balanceLow: topic({
    name: 'balance.low',
    about: 'A balance has fallen below the line that its account drew',
    from: ['billing'],
    version: 1,
    kind: 'event',
    payload: BalanceLow,
    partitions: MONEY_PARTITIONS,
    groups: [groups.controlPlane, groups.notifications],
    ...byAccount,
    id: (payload) => payload.alertId,
  }),
  controlFailed: topic({
    name: 'control.failed',
    about: 'A control of the books has found something',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: ControlFailed,
    partitions: HOUSE_PARTITIONS,
    groups: [groups.notifications],
    key: (payload) => payload.control,
    id: (payload) => payload.runId,
  }),
  ledgerSealed: topic({
    name: 'ledger.sealed',
    about:
      'A block of the hash chain was sealed. Nothing of ours reads it: for witnesses outside of the database',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: LedgerSealed,
    partitions: 1,
    groups: [],
    key: () => 'ledger',
    id: (payload) => payload.number,
  }),
  ledgerHead: topic({
    name: 'ledger.head',
    about: 'The head of the hash chain was signed',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: LedgerHead,
    partitions: 1,
    groups: [groups.notifications],
    key: () => 'ledger',
    id: (payload) => `${payload.number}.${payload.keyId}`,
  }),
  catalogChanged: topic({
    name: 'catalog.changed',
    about: 'Models, channels, groups or prices have changed; every gateway reloads them',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: CatalogChanged,
    partitions: CACHE_PARTITIONS,
    groups: [groups.gateway],
    broadcast: true,
    key: (payload) => payload.what,
    id: (payload) => payload.revision,
  }),
  keyChanged: topic({
    name: 'key.changed',
    about: 'A key has changed; every gateway forgets it',
    from: ['control-plane'],
    version: 1,
    kind: 'event',
    payload: KeyChanged,
    partitions: CACHE_PARTITIONS,
    groups: [groups.gateway],
    broadcast: true,
    key: (payload) => payload.keyId,
    id: (payload) => payload.keyId,
  }),
} as const;

/** Every topic of the house. */
export const allTopics: readonly AnyTopic[] = Object.values(topics);
