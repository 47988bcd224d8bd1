import type { DataSource } from 'typeorm';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';
import { isResellerVolume, RESELLER_RATE, type TopupRate } from '#topup/conversion.js';
import type { AccountRates } from '#topup/account-rates.js';
import { noteDecision } from './ticket-decision.js';
import type { Speaker, TicketService } from './ticket.service.js';

export interface ResellerVolume {
  verifiedTokens: bigint;
  thresholdTokens: bigint;
  isEligible: boolean;
  rate: TopupRate;
}

/** Requests for the reseller rate: what they are judged by, and granting them. */
export class ResellerService {
  constructor(
    private readonly source: DataSource,
    private readonly tickets: TicketService,
    private readonly rates: AccountRates,
  ) {}

  async volumeOf(accountId: string): Promise<ResellerVolume> {
    const { thresholdTokens } = this.rates;
    const [verifiedTokens, rate] = await Promise.all([
      this.rates.verifiedTokens(accountId),
      this.rates.inForce(accountId),
    ]);
    return {
      verifiedTokens,
      thresholdTokens,
      isEligible: isResellerVolume(verifiedTokens, thresholdTokens),
      rate,
    };
  }

  /** From now on; a ticket is granted once. @throws ApiError conflict below the volume, or for another kind of ticket */
  async grant(speaker: Speaker, ticketId: string, requestId: string): Promise<void> {
    const actor = `user:${speaker.actor.userId}`;
    await inEntityTransaction(this.source, async (transaction) => {
      const { client } = transaction;
      const ticket = await this.tickets.lock(transaction, speaker, ticketId);
      if (ticket.kind !== 'reseller_rate') {
        throw new ApiError('conflict', 'The ticket does not ask for the reseller rate.');
      }
      if (ticket.outcome === 'rate_granted') return;
      const { accountId } = ticket;
      const reason = `ticket ${ticketId}`;
      await this.rates.set(client, {
        accountId,
        rate: RESELLER_RATE,
        effectiveFrom: null,
        reason,
        actor,
        requestId,
      });
      const event = `Granted: a unit of balance costs ${RESELLER_RATE} from now on.`;
      await noteDecision(client, {
        ticketId,
        authorId: speaker.actor.userId,
        outcome: 'rate_granted',
        event,
      });
      await audit(client, {
        actor,
        action: 'rate.set',
        subject: `account:${accountId}`,
        accountId,
        after: { rate: RESELLER_RATE, ticketId },
        requestId: speaker.requestId,
      });
    });
  }
}
