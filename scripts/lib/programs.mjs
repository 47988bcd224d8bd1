// The programs of the distributed mode and their environment. The names match docker-compose.yml, which a spec checks.

/**
 * @typedef {object} Place what all programs in a deployment share
 * @property {string} adminUrl a superuser's login, empty if the owner may create roles
 * @property {(role: 'owner' | 'gateway' | 'worker' | 'billing') => string} databaseUrl
 * @property {Record<'gateway' | 'worker' | 'billing', string>} passwords
 * @property {string[]} brokers
 * @property {string} storageDir
 * @property {string} baseUrl where clients send their calls, for the console to show
 * @property {string} mailDir where mail is written unless SMTP_URL names a server
 * @property {string} sandboxStateDir
 * @property {string} sandboxUrl
 * @property {string} sandboxApiKey
 * @property {string} urlSigningSecret
 * @property {string} secretsKey
 * @property {string} consoleGrantSecret
 */

const HOST = '127.0.0.1';

/** What each program is given: all that it needs and nothing else. Ports belong to this one instance. */
export const programs = {
  migrate: {
    entry: 'dist/apps/control-plane/migrate.js',
    environment: (place) => ({
      ADMIN_DATABASE_URL: place.adminUrl,
      OWNER_DATABASE_URL: place.databaseUrl('owner'),
      GATEWAY_DATABASE_PASSWORD: place.passwords.gateway,
      WORKER_DATABASE_PASSWORD: place.passwords.worker,
      BILLING_DATABASE_PASSWORD: place.passwords.billing,
      SECRETS_KEY: place.secretsKey,
      SANDBOX_URL: place.sandboxUrl,
      SANDBOX_API_KEY: place.sandboxApiKey,
    }),
  },
  sandbox: {
    entry: 'dist/apps/sandbox-upstream/main.js',
    environment: (place, { port }) => ({
      SANDBOX_HOST: HOST,
      SANDBOX_PORT: String(port),
      SANDBOX_API_KEY: place.sandboxApiKey,
      SANDBOX_STATE_DIR: place.sandboxStateDir,
    }),
  },
  gateway: {
    entry: 'dist/apps/gateway/main.js',
    environment: (place, { port, healthPort }) => ({
      DATABASE_URL: place.databaseUrl('gateway'),
      KAFKA_BROKERS: place.brokers.join(','),
      STORAGE_DIR: place.storageDir,
      URL_SIGNING_SECRET: place.urlSigningSecret,
      SECRETS_KEY: place.secretsKey,
      CONSOLE_GRANT_SECRET: place.consoleGrantSecret,
      HOST,
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
    }),
  },
  billing: {
    entry: 'dist/apps/billing/main.js',
    environment: (place, { healthPort }) => ({
      DATABASE_URL: place.databaseUrl('billing'),
      KAFKA_BROKERS: place.brokers.join(','),
      HOST,
      HEALTH_PORT: String(healthPort),
    }),
  },
  'control-plane': {
    entry: 'dist/apps/control-plane/main.js',
    environment: (place, { port, healthPort }) => ({
      DATABASE_URL: place.databaseUrl('billing'),
      KAFKA_BROKERS: place.brokers.join(','),
      HOST,
      CONSOLE_PORT: String(port),
      HEALTH_PORT: String(healthPort),
      PUBLIC_CONSOLE_URL: process.env.PUBLIC_CONSOLE_URL || `http://${HOST}:${port}`,
      PUBLIC_BASE_URL: process.env.PUBLIC_BASE_URL || place.baseUrl,
      CONSOLE_GRANT_SECRET: place.consoleGrantSecret,
      SECRETS_KEY: place.secretsKey,
      GATEWAY_URL: place.baseUrl,
      SMTP_URL: process.env.SMTP_URL ?? '',
      MAIL_FROM: process.env.MAIL_FROM || 'Tollgate <no-reply@localhost>',
      MAIL_DIR: place.mailDir,
    }),
  },
  'video-worker': {
    entry: 'dist/apps/video-worker/main.js',
    environment: (place, { healthPort }) => ({
      DATABASE_URL: place.databaseUrl('worker'),
      SECRETS_KEY: place.secretsKey,
      KAFKA_BROKERS: place.brokers.join(','),
      STORAGE_DIR: place.storageDir,
      HOST,
      HEALTH_PORT: String(healthPort),
    }),
  },
};

/** Where each program listens: three blocks from a base port, or free ports. */
export function portsOf({ gateways, billings, controlPlanes, workers, base, free }) {
  const take = () => (base === undefined ? free.pop() : base++);
  const publicPorts = { gateway: times(gateways, take), 'control-plane': times(controlPlanes, take) };
  const sandboxPort = take();
  const instances = (kind, count) =>
    times(count, (index) => ({
      kind,
      name: `${kind}-${index + 1}`,
      port: publicPorts[kind]?.[index],
      healthPort: take(),
    }));
  return {
    sandboxPort,
    instances: [
      ...instances('gateway', gateways),
      ...instances('billing', billings),
      ...instances('control-plane', controlPlanes),
      ...instances('video-worker', workers),
    ],
  };
}

function times(count, make) {
  return Array.from({ length: count }, (_, index) => make(index));
}
