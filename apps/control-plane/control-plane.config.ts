import { parseChaos } from '#bus/chaos.js';
import type { KeyObject } from 'node:crypto';
import { parseSigningKey } from '#ledger/chain/chain-signature.js';
import { ConfigReader } from '#platform/config.js';
import { readSecrets } from '#platform/sealed-secret.js';
import { readUploadRules } from '#platform/http/uploads.js';
import { readReconcileConfig } from '#finance/reconcile.config.js';
import { readPeriodsConfig } from '#finance/periods/periods.config.js';
import { readMarketConfig } from '#marketplace/market.config.js';
import { readMailConfig } from '#mail/mail.config.js';
import { readPeopleConfig } from '#people/people.config.js';
import { readPrivacyConfig } from '#privacy/privacy.config.js';
import { readRequestLogConfig } from '#usage/request-log/request-log.config.js';
import { readWebhooksConfig } from '#webhooks/webhooks.config.js';
import { readPaymentsConfig } from '#payments/payments.config.js';
import { readDutiesConfig } from './duties/duties.config.js';
import { readConsoleConfig } from './console.config.js';

export function readControlPlaneProgram(reader: ConfigReader) {
  return {
    port: reader.get('CONSOLE_PORT'),
    reportsUrl: reader.get('REPORTS_DATABASE_URL'),
    config: readControlPlaneConfig(reader),
    chaos: parseChaos(reader.get('BUS_CHAOS')),
  };
}

const SETTINGS = {
  /** Where clients send calls for models, as the console shows it; undefined: not configured. */
  baseUrl: 'PUBLIC_BASE_URL',
  /** How many proxies in front of the console report the client's address. */
  trustProxy: 'TRUST_PROXY',
  /** A reports replica that is further behind answers no report. */
  reportsLagMs: 'REPORTS_LAG_SECONDS',
  /** How long a reward stays before it can be moved, because its payment may be reversed. */
  inviteRewardWindowMs: 'INVITE_REWARD_WINDOW_SECONDS',
  sweepIntervalMs: 'SWEEP_INTERVAL_SECONDS',
  /** Pause between polls of the outbox, in case a wake-up was missed. */
  outboxPollMs: 'OUTBOX_POLL_SECONDS',
  /** How often to check whether a day has ended whose balances must be stored. */
  ledgerSnapshotIntervalMs: 'LEDGER_SNAPSHOT_SECONDS',
  chainSealIntervalMs: 'CHAIN_SEAL_SECONDS',
  costAccrualIntervalMs: 'COST_ACCRUAL_SECONDS',
  /** How often lots are consumed and their revenue is recognised. */
  recognitionIntervalMs: 'RECOGNITION_SECONDS',
  /** How often payment providers are asked for our balance movements. */
  providerReportIntervalMs: 'PROVIDER_REPORT_SECONDS',
} as const;

const SESSION = {
  idleMs: 'SESSION_IDLE_SECONDS',
  longestMs: 'SESSION_LONGEST_SECONDS',
  rotateMs: 'SESSION_ROTATE_SECONDS',
  confirmedMs: 'CONFIRMATION_SECONDS',
} as const;

/** Reads all of it; the caller finishes the reader. */
export function readControlPlaneConfig(reader: ConfigReader) {
  const consoleUrl = reader.get('PUBLIC_CONSOLE_URL');
  return {
    ...reader.all(SETTINGS),
    /** Encrypts and decrypts the secrets in the database. */
    secrets: readSecrets(reader),
    session: reader.all(SESSION),
    /** Where people reach the console, without a slash at the end: for links in mails and for secure cookies. */
    consoleUrl,
    /** How bodies have to arrive at the console's address. */
    uploads: readUploadRules(reader),
    payments: readPaymentsConfig(reader),
    market: readMarketConfig(reader),
    mail: readMailConfig(reader),
    people: readPeopleConfig(reader, consoleUrl),
    privacy: readPrivacyConfig(reader),
    webhooks: readWebhooksConfig(reader),
    requestLog: readRequestLogConfig(reader),
    /** Ed25519; undefined: heads of the chain are not signed. */
    chainSigningKey: readSigningKey(reader),
    console: readConsoleConfig(reader),
    reconcile: readReconcileConfig(reader),
    periods: readPeriodsConfig(reader),
    duties: readDutiesConfig(reader),
  };
}

/** Durations of the control plane, milliseconds, and where its console is. */
export type ControlPlaneConfig = Readonly<ReturnType<typeof readControlPlaneConfig>>;

function readSigningKey(reader: ConfigReader): KeyObject | undefined {
  const text = reader.get('CHAIN_SIGNING_KEY');
  if (!text) return undefined;
  const rule =
    'must be a private Ed25519 key in PEM, as "openssl genpkey -algorithm ed25519" makes it, or the base64 of its DER';
  return parseSigningKey(text) ?? reader.fault(`CHAIN_SIGNING_KEY`, rule, undefined);
}
