import { Controller } from '@nestjs/common';
import { groupsOfAccount } from '#groups/account-groups.js';
import { rateInForce } from '#topup/account-rates.js';
import { Using } from '#platform/wiring.js';
import { BASE_URL, CONTROL_PLANE_CONFIG, POOL } from './control-plane.tokens.js';
import { consoleRoutes } from './console.routes.js';
import { accountSeen } from './http/call-session.js';
import { type CallOf, Serves } from './http/route.js';
import { viewSession } from './people/session.view.js';

/** What the pages read before anything else. */
@Controller()
export class ConsoleController extends Using({
  config: CONTROL_PLANE_CONFIG,
  pool: POOL,
  baseUrl: BASE_URL,
}) {
  @Serves(consoleRoutes.relay)
  async relay({ session }: CallOf<typeof consoleRoutes.relay>) {
    // Without an account: the standard rate, and the groups that are open to every account.
    const accountId = accountSeen(session) ?? '';
    const [groups, creditRate] = await Promise.all([
      groupsOfAccount(this.pool, accountId),
      rateInForce(this.pool, accountId),
    ]);
    return {
      baseUrl: this.baseUrl(),
      paymentCurrency: this.config.payments.currency,
      creditRate,
      groups: groups.map(({ group }) => group),
    };
  }

  @Serves(consoleRoutes.session)
  session({ session }: CallOf<typeof consoleRoutes.session>) {
    const isStaff = session?.actor.roles.some((role) => role !== 'user') ?? false;
    return { session: session && viewSession(session), onePerson: isStaff && this.config.duties.onePerson };
  }
}
