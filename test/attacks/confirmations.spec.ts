import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Role } from '#identity/role.js';
import { newId } from '#platform/ids.js';
import { type Person, person } from '../support/console.js';
import {
  forEachOf,
  requestOf,
  roleFor,
  routesOf,
  urlOf,
  type WalkedRoute,
} from '../support/console-routes.js';
import { type Relay, startRelay } from '../support/relay.js';
import { codeOf, newcomer, PASSWORD, Visit, visit } from '../support/visit.js';

/** Routes that change a person's identity, or export or delete their data. */
const OF_PEOPLE = [
  'requestEmailChange',
  'changePassword',
  'disableTotp',
  'renewRecoveryCodes',
  'requestDataExport',
  'downloadDataExport',
  'deleteAccount',
];

/** What staff may change without proof of identity, by reason. Everything else needs it. */
const WITHOUT_PROOF: Record<string, readonly string[]> = {
  'an account goes on paying for itself, or stops': [
    'freezeAccount',
    'unfreezeAccount',
    'revokeSessionsOfAccount',
  ],
  'its owner reads who looked and why, and nothing can be changed': ['viewAccount', 'endAccountView'],
  'takes effect where somebody confirms': [
    'proposePrices',
    'proposeVendorPrices',
    'revisePriceProposal',
    'importPrices',
    'importPricesCsv',
  ],
  'leaves everything as it is': ['reject', 'cancelPriceProposal'],
  'talks with a customer': ['answerTicket', 'closeSupportTicket', 'reopenSupportTicket'],
  'says who talks with a customer': ['assignTicket'],
  'says what is sold, and neither price nor key': ['createModel', 'setGroupModels'],
  'gives nothing': ['withdrawGroup'],
  'notes what a vendor, provider or bank says, in its own amounts': [
    'setUpstreamCost',
    'importUpstreamCosts',
    'recordUpstreamBill',
    'importStripeReport',
    'fetchProviderReports',
    'acceptProviderLine',
    'saveBankAccount',
    'importBankFile',
    'matchBankLine',
    'undoBankMatch',
  ],
  'checks the books, or ends a month of them': [
    'runControls',
    'acknowledgeFinding',
    'checkPeriod',
    'askPeriodWaiver',
    'closePeriod',
  ],
  'does again what a program did': ['replayDeadLetter', 'testChannel'],
};

let relay: Relay;

beforeAll(async () => {
  relay = await startRelay({ MAIL_POLL_SECONDS: '0.1', SIGN_INS_PER_EMAIL: '1000' });
});
afterAll(() => relay?.close());

/** As if every session's last proof of identity were long ago. */
async function lapse(): Promise<void> {
  await relay.fixture.owner.query(`UPDATE sessions SET confirmed_at = now() - interval '1 hour'`);
}

describe('what a stolen session must not do', () => {
  it('needs proof of identity wherever money, roles, channel keys, prices or personal data are involved', async () => {
    const routes = await routesOf(relay);
    const ofStaff = ({ access }: WalkedRoute) => access !== 'public' && !access.includes('user');
    const unproved = routes.filter((route) => ofStaff(route) && route.isUnsafe && !route.confirms);
    expect(unproved.map(({ id }) => id).sort()).toEqual(Object.values(WITHOUT_PROOF).flat().sort());
    const proved = routes.filter((route) => !ofStaff(route) && route.confirms);
    expect(proved.map(({ id }) => id).sort()).toEqual([...OF_PEOPLE].sort());
  });

  it('is refused to every session without a recent proof', async () => {
    const people = new Map<Role, Person>();
    for (const role of ['user', 'support', 'finance', 'admin'] as const)
      people.set(role, await person(relay, { roles: role === 'user' ? [] : [role] }));
    await lapse();
    const sensitive = (await routesOf(relay)).filter(({ confirms }) => confirms);
    await forEachOf(sensitive, async (route) => {
      const response = await people.get(roleFor(route))!.send(urlOf(route), requestOf(route));
      expect([route.id, await codeOf(response)]).toEqual([route.id, 'confirmation_required']);
    });
  });

  it('is possible again with the password for people without a device', async () => {
    const someone = await newcomer(relay);
    const change = () =>
      someone.post('/api/password', { currentPassword: PASSWORD, newPassword: 'another horse battery' });
    await lapse();
    expect(await codeOf(await change())).toBe('confirmation_required');
    const confirm = (proof: object) => someone.post('/api/session/confirm', proof);
    expect(await codeOf(await confirm({}))).toBe('missing_required_parameter');
    expect(await codeOf(await confirm({ code: '123456' }))).toBe('missing_required_parameter');
    expect((await confirm({ password: 'not the password' })).status).toBe(403);
    expect(await codeOf(await change())).toBe('confirmation_required');
    expect((await confirm({ password: PASSWORD })).status).toBe(204);
    expect((await change()).status).toBe(204);
  });

  it('needs a code if there is a device; the password is not enough', async () => {
    const someone = await newcomer(relay);
    const { device, recoveryCodes } = await someone.enrol();
    const steps = {
      email: () =>
        someone.post('/api/email-changes', { email: `${newId()}@example.com`, password: PASSWORD }),
      off: () => someone.post('/api/totp/disable', { password: PASSWORD }),
    };
    await lapse();
    expect(await codeOf(await steps.email())).toBe('confirmation_required');
    expect(await codeOf(await steps.off())).toBe('confirmation_required');
    const confirm = (proof: object) => someone.post('/api/session/confirm', proof);
    expect(await codeOf(await confirm({ password: PASSWORD }))).toBe('missing_required_parameter');
    const code = device.generate();
    const both = await Promise.all([confirm({ code }), confirm({ code })]);
    expect(both.map(({ status }) => status).sort()).toEqual([204, 403]);
    expect((await steps.email()).status).toBe(202);
    await lapse();
    expect((await confirm({ code: recoveryCodes[0] })).status).toBe(204);
    expect((await steps.off()).status).toBe(204);
  });

  it('is not allowed because of what another session proved before there was a device', async () => {
    const someone = await newcomer(relay);
    const credentials = { email: someone.email, password: PASSWORD };
    const other = await Visit.of(relay, await visit(relay, '/api/public/sign-in', credentials));
    await someone.enrol();
    expect(await codeOf(await other.post('/api/totp/disable', { password: PASSWORD }))).toBe(
      'confirmation_required',
    );
  });
});
