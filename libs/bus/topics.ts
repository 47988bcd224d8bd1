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

/** Fixed when the topics are created: a different count would move accounts to other partitions. */
const MONEY_PARTITIONS = 12;
const CACHE_PARTITIONS = 1;
/** Events about the whole installation are rare. */
const HOUSE_PARTITIONS = 1;

/**
 * The consumer groups: one for each program that reads. The control plane has two, so that customers' webhooks do not delay
 * its own mail.
 */
export const groups = {
  billing: 'billing',
  gateway: 'gateway',
  controlPlane: 'control-plane',
  notifications: 'notifications',
} as const;

const ofCharge = { id: (payload: { chargeId: string }) => payload.chargeId };
const byAccount = {
  version: 1,
  partitions: MONEY_PARTITIONS,
  key: (payload: { accountId: string }) => payload.accountId,
};
const ofAccount = { ...byAccount, kind: 'event' } as const;
const ofHouse = { version: 1, kind: 'event', partitions: HOUSE_PARTITIONS } as const;

export const topics = {
  chargeRequested: topic({
    name: 'charge.requested',
    about: 'Holds the price of a call before it is sent to an upstream',
    from: ['gateway'],
    kind: 'request',
    payload: ChargeRequested,
    reply: ChargeReply,
    groups: [groups.billing],
    deadLetters: false,
    ...byAccount,
    ...ofCharge,
  }),
  chargeResolved: topic({
    name: 'charge.resolved',
    about: 'Ends the charge of a call: settles what was delivered and releases the rest',
    from: ['gateway', 'billing'],
    kind: 'either',
    payload: ChargeResolved,
    reply: ResolvedReply,
    groups: [groups.billing],
    ...byAccount,
    ...ofCharge,
  }),
  videoCompleted: topic({
    name: 'video.completed',
    about: 'A task has completed or failed, which also ends its charge',
    from: ['gateway', 'video-worker', 'billing'],
    payload: TaskEnded,
    groups: [groups.billing, groups.notifications],
    ...ofAccount,
    ...ofCharge,
  }),
  chargeSettled: topic({
    name: 'charge.settled',
    about: 'A charge was settled. For your own programs; published only with PUBLISH_SETTLEMENTS',
    from: ['billing'],
    payload: ChargeSettled,
    groups: [],
    ...ofAccount,
    ...ofCharge,
  }),
  chargeRefunded: topic({
    name: 'charge.refunded',
    about: 'A charge was refunded, or part of it',
    from: ['billing', 'control-plane'],
    payload: ChargeRefunded,
    groups: [groups.notifications],
    ...ofAccount,
    ...ofCharge,
  }),
  topupCredited: topic({
    name: 'topup.credited',
    about: 'A top-up was credited',
    from: ['control-plane'],
    payload: TopupCredited,
    groups: [groups.notifications, groups.controlPlane],
    ...ofAccount,
    id: (payload) => payload.topupId,
  }),
  balanceLow: topic({
    name: 'balance.low',
    about: 'A balance has fallen below the alert threshold of its account',
    from: ['billing'],
    payload: BalanceLow,
    groups: [groups.controlPlane, groups.notifications],
    ...ofAccount,
    id: (payload) => payload.alertId,
  }),
  controlFailed: topic({
    name: 'control.failed',
    about: 'A control of the books has findings',
    from: ['control-plane'],
    ...ofHouse,
    payload: ControlFailed,
    groups: [groups.notifications],
    key: (payload) => payload.control,
    id: (payload) => payload.runId,
  }),
  ledgerSealed: topic({
    name: 'ledger.sealed',
    about: 'A block of the hash chain was sealed. For your own programs, as a witness outside the database',
    from: ['control-plane'],
    ...ofHouse,
    payload: LedgerSealed,
    groups: [],
    key: () => 'ledger',
    id: (payload) => payload.number,
  }),
  ledgerHead: topic({
    name: 'ledger.head',
    about: 'The head of the hash chain was signed',
    from: ['control-plane'],
    ...ofHouse,
    payload: LedgerHead,
    groups: [groups.notifications],
    key: () => 'ledger',
    id: (payload) => `${payload.number}.${payload.keyId}`,
  }),
  catalogChanged: topic({
    name: 'catalog.changed',
    about: 'Models, channels, groups or prices have changed, so every gateway reloads them',
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
    about: 'A key has changed, so every gateway drops it from its cache',
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

/** Every topic. */
export const allTopics: readonly AnyTopic[] = Object.values(topics);
