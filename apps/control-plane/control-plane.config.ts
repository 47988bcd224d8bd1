import { parseChaos } from '#bus/chaos.js';
import type { KeyObject } from 'node:crypto';
import type { SessionLife } from '#identity/session.store.js';
import { parseSigningKey } from '#ledger/chain/chain-signature.js';
import { ConfigReader } from '#platform/config.js';
import { readSecrets, type SecretBox } from '#platform/sealed-secret.js';
import { readUploadRules, type UploadRules } from '#platform/http/uploads.js';
import { type ReconcileConfig, readReconcileConfig } from '#finance/reconcile.config.js';
import { type PeriodsConfig, readPeriodsConfig } from '#finance/periods/periods.config.js';
import { type MarketConfig, readMarketConfig } from '#marketplace/market.config.js';
import { type MailConfig, readMailConfig } from '#mail/mail.config.js';
import { type PeopleConfig, readPeopleConfig } from '#people/people.config.js';
import { type PrivacyConfig, readPrivacyConfig } from '#privacy/privacy.config.js';
import { readRequestLogConfig, type RequestLogConfig } from '#usage/request-log/request-log.config.js';
import { readWebhooksConfig, type WebhooksConfig } from '#webhooks/webhooks.config.js';
import { type PaymentsConfig, readPaymentsConfig } from '#payments/payments.config.js';
import { type DutiesConfig, readDutiesConfig } from './duties/duties.config.js';
import { type ConsoleConfig, readConsoleConfig } from './console.config.js';

/** Durations of the control plane, milliseconds, and where its console is. */
export interface ControlPlaneConfig {
  /** Encrypts and decrypts the secrets in the database. */
  readonly secrets: SecretBox;
  /** A reports replica that is further behind answers no report. */
  readonly reportsLagMs: number;
  /** Pause between rounds of the payment jobs. */
  readonly sweepIntervalMs: number;
  /** Pause between polls of the outbox, in case a wake-up was missed. */
  readonly outboxPollMs: number;
  /** How long people stay signed in. */
  readonly session: SessionLife;
  /** Where people reach the console, without a slash at the end: for links in mails and for secure cookies. */
  readonly consoleUrl: string;
  /** Where clients send calls for models, as the console shows it; undefined: not configured. */
  readonly baseUrl: string | undefined;
  /** How many proxies in front of the console report the client's address. */
  readonly trustProxy: number;
  /** How bodies have to arrive at the console's address. */
  readonly uploads: UploadRules;
  readonly payments: PaymentsConfig;
  readonly market: MarketConfig;
  readonly mail: MailConfig;
  readonly people: PeopleConfig;
  readonly privacy: PrivacyConfig;
  readonly webhooks: WebhooksConfig;
  readonly requestLog: RequestLogConfig;
  /** How often to check whether a day has ended whose balances must be stored. */
  readonly ledgerSnapshotIntervalMs: number;
  /** How often the hash chain is brought up to date. */
  readonly chainSealIntervalMs: number;
  /** Ed25519; undefined: heads of the chain are not signed. */
  readonly chainSigningKey: KeyObject | undefined;
  /** How often the costs of charges that ended are recorded. */
  readonly costAccrualIntervalMs: number;
  /** How often lots are consumed and their revenue is recognised. */
  readonly recognitionIntervalMs: number;
  /** How often payment providers are asked for our balance movements. */
  readonly providerReportIntervalMs: number;
  /** What the pages of the console need. */
  readonly console: ConsoleConfig;
  /** When the controls of the books run. */
  readonly reconcile: ReconcileConfig;
  readonly periods: PeriodsConfig;
  /** How long a reward stays before it can be moved, because its payment may be reversed. */
  readonly inviteRewardWindowMs: number;
  /** What one person can do alone. */
  readonly duties: DutiesConfig;
}

/** The settings of this program. */
export function readControlPlaneProgram(reader: ConfigReader) {
  return {
    port: reader.get('CONSOLE_PORT'),
    reportsUrl: reader.get('REPORTS_DATABASE_URL'),
    config: readControlPlaneConfig(reader),
    chaos: parseChaos(reader.get('BUS_CHAOS')),
  };
}

const DURATIONS = {
  reportsLagMs: 'REPORTS_LAG_SECONDS',
  inviteRewardWindowMs: 'INVITE_REWARD_WINDOW_SECONDS',
  sweepIntervalMs: 'SWEEP_INTERVAL_SECONDS',
  outboxPollMs: 'OUTBOX_POLL_SECONDS',
  ledgerSnapshotIntervalMs: 'LEDGER_SNAPSHOT_SECONDS',
  chainSealIntervalMs: 'CHAIN_SEAL_SECONDS',
  costAccrualIntervalMs: 'COST_ACCRUAL_SECONDS',
  recognitionIntervalMs: 'RECOGNITION_SECONDS',
  providerReportIntervalMs: 'PROVIDER_REPORT_SECONDS',
} as const;

const SESSION = {
  idleMs: 'SESSION_IDLE_SECONDS',
  longestMs: 'SESSION_LONGEST_SECONDS',
  rotateMs: 'SESSION_ROTATE_SECONDS',
  confirmedMs: 'CONFIRMATION_SECONDS',
} as const;

/** Reads the durations; the caller finishes the reader. */
export function readControlPlaneConfig(reader: ConfigReader): ControlPlaneConfig {
  const consoleUrl = reader.get('PUBLIC_CONSOLE_URL');
  return {
    ...reader.all(DURATIONS),
    secrets: readSecrets(reader),
    session: reader.all(SESSION),
    consoleUrl,
    baseUrl: reader.get('PUBLIC_BASE_URL'),
    trustProxy: reader.get('TRUST_PROXY'),
    uploads: readUploadRules(reader),
    payments: readPaymentsConfig(reader),
    market: readMarketConfig(reader),
    mail: readMailConfig(reader),
    people: readPeopleConfig(reader, consoleUrl),
    privacy: readPrivacyConfig(reader),
    webhooks: readWebhooksConfig(reader),
    requestLog: readRequestLogConfig(reader),
    chainSigningKey: readSigningKey(reader),
    console: readConsoleConfig(reader),
    reconcile: readReconcileConfig(reader),
    periods: readPeriodsConfig(reader),
    duties: readDutiesConfig(reader),
  };
}

function readSigningKey(reader: ConfigReader): KeyObject | undefined {
  const text = reader.get('CHAIN_SIGNING_KEY');
  if (!text) return undefined;
  const rule =
    'must be a private Ed25519 key in PEM, as "openssl genpkey -algorithm ed25519" makes it, or the base64 of its DER';
  return parseSigningKey(text) ?? reader.fault(`CHAIN_SIGNING_KEY`, rule, undefined);
}
