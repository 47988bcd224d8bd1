import { parseChaos } from '#bus/chaos.js';
import { KafkaTransport } from '#bus/kafka/kafka.transport.js';
import { openPool } from '#database/database.js';
import { operatorSentence } from '#database/operator-sentence.js';
import { ConfigReader } from '#platform/config.js';
import { startHealthServer } from '#platform/health.js';
import { createLogger } from '#platform/logging.js';
import { createRegistry } from '#platform/metrics.js';
import { portFault, type RunningProgram, runProgram } from '#platform/program.js';
import { readControlPlaneConfig } from './control-plane.config.js';
import { startControlPlane } from './control-plane.program.js';

const HELP = `The control plane: serves the console address, and keeps the books behind the postings.

Usage: node dist/apps/control-plane/main.js [--help]

Environment:
  DATABASE_URL            login of the role tollgate_billing; its password may be in DATABASE_PASSWORD
  SECRETS_KEY             encrypts what the database keeps of secrets: 32 bytes in base64, the same for every program;
                          tollgate secrets rotate --help says how to exchange it
  CHAIN_SIGNING_KEY       private Ed25519 key (PEM) that signs the heads of the ledger's hash chain; else nothing does
  KAFKA_BROKERS           brokers, host:port, separated by commas
  KAFKA_NAMESPACE         stands before every topic and group, for several installations on one broker
  HOST                    address to listen on (0.0.0.0)
  CONSOLE_PORT            console (8788)
  HEALTH_PORT             /health/live, /health/ready, /metrics (9464)
  DATABASE_POOL           connections to the database at most (10)
  SWEEP_INTERVAL_SECONDS  pause between rounds that look after payments (5)
  OUTBOX_POLL_SECONDS     net under the outbox relay (0.25)
  PUBLIC_CONSOLE_URL      where people reach the console (http://127.0.0.1:8788)
  PUBLIC_BASE_URL         where clients send their calls, as the console tells them (http://127.0.0.1:8787)
  SESSION_IDLE_SECONDS    a session ends after this long without a request (43200)
  SESSION_LONGEST_SECONDS and in any case after this long (2592000)
  PRICE_PROPOSAL_LIFE_SECONDS  how long a proposal of prices can be confirmed (604800)
  PRICE_LIST_AGE_SECONDS  how long others may keep the public price list (15)
  SMTP_URL                mail server, such as smtps://user:password@host; else mail is written to
  MAIL_DIR                this folder, a file each (.data/mail)
  MAIL_FROM               sender of mail (Tollgate <no-reply@localhost>)
  SIGN_INS_PER_EMAIL      tries to sign in as one person (10), and
  SIGN_INS_PER_ADDRESS    from one network address (100), in
  SIGN_IN_WINDOW_SECONDS  this long (900); docs/configuration.md has the other limits of people
  PAYMENT_CURRENCY        what customers pay in, with two decimals (USD)
  STRIPE_SECRET_KEY       turns payments by card on, with
  STRIPE_WEBHOOK_SECRET   what signs the events at /api/payments/events/stripe
  BANK_TRANSFER_INSTRUCTIONS  turns orders by bank transfer on: where to transfer to
  SANDBOX_PAYMENTS        payments that are only played (false)
  MANUAL_TOPUP_LIMIT      USD of balance that one person may credit alone in a day of UTC: transfers, suspense (1000)
  TOPUP_REFUND_LIMIT      and refund of top-ups alone (100); docs/configuration.md has the durations of payments
  INVITE_REWARD_WINDOW_SECONDS  how long a reward stays before it can be moved, since its payment may go back (2592000)
  REFUND_LIMIT            USD of settled charges that one person may refund alone in a day (20)
  ADJUSTMENT_LIMIT        USD that one person may adjust and write off alone in a day (20)
  PRICE_CHANGE_LIMIT_PERCENT  how far one person may move prices alone in a day, up or down (20)
  ONE_PERSON              declares that there is no second person: one confirms alone, and it is marked (false).
                          All of these are stored at the start, and the command line uses the stored values
  PERIOD_MARGIN_SECONDS   a period is closed so long after its end at the earliest (60)
  PERIOD_WAIT_SECONDS     how long a close waits for transactions from before it (30)
  PERIOD_ANSWER_SECONDS   a close answers after this at the latest, and goes on (15)
  CONSOLE_GRANT_SECRET    shared with the gateways: the console may call models for its people
  GATEWAY_URL             where the control plane reaches a gateway for that (PUBLIC_BASE_URL)
  LIVE_POLL_SECONDS       how often open pages are told what changed (1)
  ACCOUNT_VIEW_SECONDS    how long support may look at the console of a customer (1800)
  REPORT_SECONDS          how often it says how it is (5); docs/configuration.md has the others of the console
  LEDGER_SNAPSHOT_SECONDS how often a day that ended gets its balances stored (600)
  CHAIN_SEAL_SECONDS      how often what was posted is sealed in the hash chain (60)
  COST_ACCRUAL_SECONDS    how often the costs of charges that ended are told (60)
  RECOGNITION_SECONDS     how often used credit becomes revenue (60)
  PROVIDER_REPORT_SECONDS how often providers are asked for what moved our balance there (3600)
  RECONCILE_SECONDS       pause between runs of the controls of the books (300)
  RECONCILE_GRACE_SECONDS work younger than this may be in flight, and is no finding yet (300)
  REPORT_OVERDUE_HOURS    a report of a provider or bank is a finding so long after the last one ended (72)
  WEBHOOK_TIMEOUT_SECONDS limit of one attempt of a webhook (10); docs/configuration.md has the others of webhooks
  TRUST_PROXY             believe X-Forwarded-For of one proxy (true) or of so many (false)
  LOG_LEVEL               info

A secret may be in a file instead, which NAME_FILE names, such as DATABASE_PASSWORD_FILE.
SIGTERM and SIGINT finish what is under way first. Exit codes: 0 stopped, 1 failed.
`;

/** A stop that takes longer is cut: whatever was not committed is consumed again by the next start. */
const STOP_LIMIT_MS = 30_000;

function readConfig(env: NodeJS.ProcessEnv) {
  const reader = new ConfigReader(env);
  const port = (name: string, fallback: number) => reader.integer(name, { fallback, min: 0, max: 65_535 });
  return reader.finish({
    databaseUrl: reader.secretUrl('DATABASE_URL'),
    brokers: reader.string('KAFKA_BROKERS', undefined) ? reader.list('KAFKA_BROKERS') : [],
    namespace: reader.optionalString('KAFKA_NAMESPACE') ?? '',
    host: reader.string('HOST', '0.0.0.0'),
    consolePort: port('CONSOLE_PORT', 8788),
    healthPort: port('HEALTH_PORT', 9464),
    poolSize: reader.integer('DATABASE_POOL', { fallback: 10, min: 2, max: 500 }),
    controlPlane: readControlPlaneConfig(reader),
    chaos: parseChaos(reader.optionalString('BUS_CHAOS')),
  });
}

async function start(): Promise<RunningProgram> {
  const config = readConfig(process.env);
  const log = createLogger('control-plane');
  const registry = createRegistry('control-plane');
  const { databaseUrl: url, poolSize: max, host } = config;
  const pool = openPool({ url, max, applicationName: 'control-plane', log });
  const onFatal = (error: Error) => {
    log.fatal({ err: error }, 'the connection to Kafka is lost for good');
    process.exit(1);
  };
  const transport = new KafkaTransport({
    brokers: config.brokers,
    namespace: config.namespace,
    clientId: 'control-plane',
    log,
    registry,
    onFatal,
  });
  const controlPlane = await startControlPlane({
    pool,
    databaseUrl: url,
    transport,
    config: config.controlPlane,
    log,
    registry,
    chaos: config.chaos,
    console: { host, port: config.consolePort },
  });
  const port = config.healthPort;
  const health = await startHealthServer({ host, port, checks: controlPlane.checks, registry }).catch(
    (error) => {
      throw portFault(error, 'HEALTH_PORT', { host, port });
    },
  );
  log.info({ consolePort: controlPlane.consolePort }, 'the control plane is ready');

  return {
    stopLimitMs: STOP_LIMIT_MS,
    stop: async () => {
      health.close();
      await controlPlane.close();
      await transport.close();
      await pool.end();
    },
  };
}

await runProgram({ help: HELP, start, sentenceFor: operatorSentence });
