// What the control plane's examples send: bodies, and required query parameters. A name in braces represents an ID, a
// token or a code of the reader. test/docs/control-plane.spec.ts fills in real ones and runs each example.
const PASSWORD = 'correct horse battery';
const EMAIL = 'you@example.com';
const MODEL = 'vendora-imagine-image';
const GROUP = 'Vendora-Main';
const BECAUSE = 'The customer asked for it.';
const PRICES = [{ kind: 'price', model: MODEL, price: { unitPrice: '0.021' } }];
const ONCE = { requestId: '{requestId}' };
const LOOKED_AT = { note: 'Checked with the bank.' };
const JANUARY = { end: '2026-02-01T00:00:00Z' };

/** Values for the braces in paths that are names rather than IDs. */
const PLACES = {
  model: MODEL,
  group: 'Partners',
  channelId: 'sandbox',
  provider: 'stripe',
  controlId: 'payments',
  bankAccountId: 'house',
  month: '2026-01',
};

const QUERIES = {
  quoteForAll: `model=${MODEL}&group=${GROUP}`,
  findPayingAccounts: 'query={accountId}',
  findTickets: 'query={accountId}',
  readNames: 'of=account:{accountId},user:{userId}',
  quoteTopup: 'credits=20',
  exportLedger: 'format=csv',
  findRequests: 'id={chargeId}',
  findAnyRequests: 'id={chargeId}',
  fetchChargeImage: 'exp={exp}&sig={sig}',
  listPeriodWaivers: 'end=2026-02-01T00:00:00Z',
  importUpstreamCosts: 'requestId={requestId}',
  importStripeReport: 'from=2026-02-01&to=2026-02-28',
  importBankFile: 'from=2026-02-01&to=2026-02-28',
};

const BODIES = {
  // People.
  signUp: { email: 'new@example.com' },
  confirmSignUp: { token: '{token}', password: PASSWORD },
  signIn: { email: EMAIL, password: PASSWORD },
  confirmSession: { password: PASSWORD },
  requestPasswordReset: { email: EMAIL },
  resetPassword: { token: '{token}', password: 'another horse battery' },
  changePassword: { currentPassword: PASSWORD, newPassword: 'another horse battery' },
  requestEmailChange: { email: 'elsewhere@example.com', password: PASSWORD },
  confirmEmailChange: { token: '{token}' },
  setMailLanguage: { language: 'en' },
  enrolTotp: { password: PASSWORD },
  confirmTotp: { code: '{code}' },
  renewRecoveryCodes: { password: PASSWORD },
  disableTotp: { password: PASSWORD },
  setRoles: { roles: ['user', 'support'] },
  setPersonDisabled: { disabled: true },
  // Accounts.
  changeAccount: { name: 'North Studio', lowBalanceThreshold: '5' },
  setBillingDetails: { name: 'North Studio Ltd', address: '1 Harbour Street\nLondon', taxId: 'GB123456789' },
  deleteAccount: { password: PASSWORD, forfeitBalance: true },
  requestDataExport: { password: PASSWORD },
  freezeAccount: { reason: 'Unusual spending: please contact us.' },
  unfreezeAccount: { note: 'The owner confirmed the spending.' },
  viewAccount: { reason: 'To see the failed request of the ticket.' },
  askForAccountDeletion: { reason: BECAUSE, forfeitBalance: true, ...ONCE },
  grantGroup: { ticketId: '{ticketId}' },
  setAccountRate: { rate: '1.2', reason: 'A reseller.', ...ONCE },
  transferInviteBalance: { amount: '0.5', ...ONCE },
  // Keys, calls and webhooks.
  createKey: { name: 'website', group: GROUP, monthlyLimit: '50' },
  createFirstKey: { name: 'website', group: GROUP },
  changeKey: { name: 'website', requestsPerMinute: 60 },
  quote: { model: MODEL, group: GROUP, n: 2 },
  createWebhook: { url: 'https://example.com/hooks/tollgate', events: ['video.completed', 'video.failed'] },
  changeWebhook: { description: 'The studio', enabled: true },
  replayWebhookDeliveries: { since: '2026-01-01T00:00:00Z', states: 'all' },
  // Support.
  openTicket: { kind: 'question', subject: 'How long do files stay?', body: 'I would like to know.' },
  writeToTicket: { body: 'It is about videos.' },
  answerTicket: { body: 'They stay for a day.' },
  assignTicket: { assigneeId: '{userId}' },
  refundCharge: { chargeId: '{chargeId}', amount: '0.01', reason: 'The image was cut off.', ...ONCE },
  grantResellerRate: ONCE,
  approve: { note: 'Seen.' },
  reject: { note: 'Not without a ticket.' },
  // The catalog and its prices.
  createModel: { id: 'imgmodel-5', family: 'image', ownedBy: 'example', groups: ['Partners'] },
  changeModel: { routing: 'cost' },
  createGroup: { name: 'Resellers', multiplier: '0.9', models: ['imgmodel-4'] },
  changeGroup: { requestsPerMinute: 600 },
  setGroupModels: { models: ['imgmodel-4', 'imgmodel-lite'] },
  createChannel: {
    id: 'second',
    protocol: 'openai',
    baseUrl: 'https://api.example.com/v1',
    apiKeys: ['sk-of-the-vendor'],
    models: { 'imgmodel-4': 'image-4-preview' },
    groups: ['Partners'],
  },
  changeChannel: { priority: 1, weight: 3 },
  proposePrices: { changes: PRICES, note: 'The vendor asks more.' },
  revisePriceProposal: { revision: 1, changes: PRICES, note: 'From today.' },
  confirmPriceProposal: { revision: 1 },
  cancelPriceProposal: { revision: 1 },
  importPrices: { rows: PRICES, dryRun: true },
  importPricesCsv: 'kind,subject,unit_price\nprice,vendora-imagine-image,0.021',
  proposeVendorPrices: { marginPercent: '20', dryRun: true },
  // Money.
  createTopup: { credits: '20', provider: 'sandbox', ...ONCE },
  recordTransfer: {
    accountId: '{accountId}',
    paymentId: 'bank-2026-77',
    paid: '13.00',
    currency: 'USD',
    reason: 'Transfer',
    ...ONCE,
  },
  refundTopup: { credits: '1', reason: BECAUSE, ...ONCE },
  confirmTopupRefund: { outcome: 'succeeded', reference: 'bank-2026-78', note: 'On the statement.' },
  creditSuspense: { accountId: '{accountId}', note: 'The payment names this account.', ...ONCE },
  returnSuspense: LOOKED_AT,
  expenseSuspense: LOOKED_AT,
  adjustAccount: {
    accountId: '{accountId}',
    ticketId: '{ticketId}',
    amount: '0.5',
    reason: 'goodwill',
    note: 'They waited.',
    ...ONCE,
  },
  reverseAdjustment: { note: 'It was meant for another account.', ...ONCE },
  writeOffDebt: { accountId: '{accountId}', ticketId: '{ticketId}', note: 'Nobody answers.', ...ONCE },
  reverseWriteOff: { note: 'They paid after all.', ...ONCE },
  runControls: { controls: ['holds'] },
  acknowledgeFinding: { note: 'Known: the bank was closed.' },
  setUpstreamCost: {
    channel: 'sandbox',
    model: MODEL,
    cost: { unitCost: '0.012' },
    reason: 'The price list of March.',
    ...ONCE,
  },
  importUpstreamCosts: 'channel,model,unit_cost\nsandbox,vendora-imagine-image,0.013',
  recordUpstreamBill: {
    channel: 'sandbox',
    number: 'INV-77',
    from: '2026-02-01',
    to: '2026-03-01',
    amount: '0',
    ...ONCE,
  },
  checkPeriod: JANUARY,
  closePeriod: { ...JANUARY, ...ONCE },
  askPeriodWaiver: {
    end: '2026-03-01T00:00:00Z',
    item: 'approvals',
    count: 1,
    reason: 'It belongs to March.',
    ...ONCE,
  },
  bookProviderLine: { note: 'The event was lost.' },
  acceptProviderLine: { reason: 'Settled by phone.', ...ONCE },
  importStripeReport:
    'balance_transaction_id,created_utc,currency,gross,fee,reporting_category,source_id,payment_intent_id,automatic_payout_id\ntxn_1,2026-02-10 10:00:00,usd,13.00,0.68,charge,ch_1,pi_1,',
  saveBankAccount: {
    mapping: {
      date: { column: 'date' },
      amount: { column: 'amount' },
      currency: { fixed: 'USD' },
      reference: ['text'],
    },
  },
  importBankFile: 'date,amount,text\n2026-02-10,13.00,North Studio',
  matchBankLine: { kind: 'none', note: 'Rent, which is not ours.' },
  undoBankMatch: { note: 'It was the wrong line.' },
};

/** The gateway call that has the same body as a playground call. */
const PLAYED = {
  playImages: 'generateImages',
  playEdits: 'editImages',
  playVideos: 'createVideo',
  playAssets: 'createAsset',
  playChat: 'createChatCompletion',
  playSpeech: 'createSpeech',
};

export const controlPlane = { places: PLACES, queries: QUERIES, bodies: BODIES, played: PLAYED };
