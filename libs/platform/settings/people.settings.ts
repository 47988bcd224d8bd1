import { choice, count, days, flag, optionalLogin, seconds, text } from './setting.js';

const HOUR = 3_600;
const DAY = 24 * HOUR;

export const sessions = {
  SESSION_IDLE_SECONDS: seconds('A session ends this long after its last request', 12 * HOUR),
  SESSION_LONGEST_SECONDS: seconds('A session ends this long after its start, even if it is used', 30 * DAY),
  SESSION_ROTATE_SECONDS: seconds("How often a session's token is replaced", HOUR / 4),
  CONFIRMATION_SECONDS: seconds('How long a confirmation of identity is valid', HOUR / 6),
  CODES_PER_DAY: count('Six-digit codes that may be tried for a person per day', 50),
  SECOND_FACTOR: choice(
    'Whether staff must have a second factor. By default, it is advised if the console is on loopback, and required otherwise',
    ['required', 'advised'],
  ),
  SIGN_UP_LIFE_SECONDS: seconds('How long the mailed link of a sign-up works', DAY),
  PASSWORD_RESET_LIFE_SECONDS: seconds('How long the mailed link of a password reset works', HOUR),
  SIGN_IN_WINDOW_SECONDS: seconds(
    'The window of the next four limits, which are shared by all processes',
    HOUR / 4,
  ),
  SIGN_INS_PER_EMAIL: count('Failed attempts to sign in as one person', 10),
  SIGN_INS_PER_ADDRESS: count('Failed attempts to sign in from one network', 100),
  MAILS_PER_EMAIL: count(
    'Sign-ups, password resets, and changes to one email address, each counted separately',
    5,
  ),
  MAILS_PER_ADDRESS: count('Sign-ups, password resets and changes of email address from one network', 50),
  ACCOUNT_VIEW_SECONDS: seconds(
    "How long support may view a customer's console before giving a reason again",
    HOUR / 2,
  ),
};

export const console = {
  CONSOLE_READS_PER_MINUTE: count('Read requests of one person, per process', 600),
  CONSOLE_WRITES_PER_MINUTE: count('Write requests of one person, per process', 240),
  CONSOLE_ANONYMOUS_PER_MINUTE: count(
    'Requests without a session from one network, per process. Public quotes are counted separately',
    300,
  ),
  CONSOLE_REPORTS_AT_ONCE: count('Concurrent heavy queries, shared fairly among accounts', 6),
  CONSOLE_FILES_AT_ONCE: count('Concurrent file downloads, shared fairly among accounts', 6),
  LIVE_POLL_SECONDS: seconds('How often open pages are updated', 1),
  LIVE_HEARTBEAT_SECONDS: seconds(
    'How often open pages get a heartbeat, so that proxies keep the connection',
    15,
  ),
  LIVE_CONNECTIONS: count('Concurrently open pages, per process', 1_000),
  LIVE_CONNECTIONS_PER_PERSON: count('Concurrently open pages of one person, per process', 10),
  USAGE_SUMMARY_SECONDS: seconds('How often the totals on overviews are updated', 5),
};

export const mail = {
  SMTP_URL: optionalLogin('The mail server, such as `smtps://user:password@host`'),
  MAIL_FROM: text('The sender of mail', 'Tollgate <no-reply@localhost>'),
  MAIL_DIR: text('Without `SMTP_URL`, mail is written to this folder, one file per mail', '.data/mail'),
  MAIL_POLL_SECONDS: seconds('How often to check for queued mail, in case a wake-up was missed', 5),
  MAIL_GIVE_UP_SECONDS: seconds('How long to retry mail that cannot be sent', 3 * DAY),
};

export const webhooks = {
  WEBHOOK_ALLOW_PRIVATE: flag('Allow http and private addresses; only for your own installation', false),
  WEBHOOK_TIMEOUT_SECONDS: seconds('Timeout of one attempt', 10),
  WEBHOOK_POLL_SECONDS: seconds('How often to check for due deliveries, in case a wake-up was missed', 1),
  WEBHOOK_RETRY_SECONDS: seconds('Pause after the first failure. It triples with each further failure', 5),
  WEBHOOK_LONGEST_RETRY_SECONDS: seconds('The longest that pause can get', 6 * HOUR),
  WEBHOOK_GIVE_UP_SECONDS: seconds('How long to retry a delivery', 3 * DAY),
  WEBHOOK_DISABLE_AFTER_SECONDS: seconds(
    'How long an endpoint may keep failing before it is disabled',
    5 * DAY,
  ),
  WEBHOOK_SECRET_OVERLAP_SECONDS: seconds('How long deliveries are also signed with a replaced secret', DAY),
  WEBHOOK_LOG_SECONDS: seconds('How long deliveries stay in the log', 30 * DAY),
};

export const privacy = {
  RETENTION_PROMPTS_DAYS: days('How long prompts are kept after their task', 30),
  RETENTION_REQUEST_IDS_DAYS: days('How long the request ids of charges are kept', 365),
  RETENTION_REFUSED_REQUESTS_DAYS: days('How long refused requests are listed; at least 2 days', 90, 2),
  RETENTION_MAILS_DAYS: days('How long sent mail is kept', 30),
  RETENTION_SESSIONS_DAYS: days('How long ended sessions are kept', 7),
  RETENTION_INTERVAL_SECONDS: seconds('Pause between rounds of the retention schedule', 600),
  ACCOUNT_DELETION_GRACE_SECONDS: seconds(
    'How long the owner can cancel the deletion of an account',
    7 * DAY,
  ),
  ACCOUNT_DELETION_RETRY_SECONDS: seconds('Pause before a blocked deletion is retried', 60),
  PRIVACY_POLL_SECONDS: seconds('How often to check for due deletions and exports', 5),
  ACCOUNT_EXPORT_LIFE_SECONDS: seconds('How long the archive of an account can be downloaded', 3 * DAY),
  ACCOUNT_EXPORT_MAX_MB: count('Maximum size of an archive', 200, { max: 10_000 }),
  ACCOUNT_EXPORTS_PER_DAY: count('Archives that an account may request per day', 3, { max: 1_000 }),
};
