import type { DataSource } from 'typeorm';
import { inEntityTransaction } from '#database/entity-transaction.js';
import { audit } from '#identity/audit-log.js';
import { ApiError } from '#platform/errors.js';
import { RESELLER_RATE } from '#topup/conversion.js';
import type { AccountRates } from '#topup/account-rates.js';
import { noteDecision } from './ticket-decision.js';
import type { Speaker, TicketService } from './ticket.service.js';

const GRANTED = `Granted: a credit costs ${RESELLER_RATE} from now on.`;

/** Grants the reseller rate on request. `AccountRates.volumeOf` is what counts. */
export class ResellerService {
  constructor(
    private readonly source: DataSource,
    private readonly tickets: TicketService,
    readonly rates: AccountRates,
  ) {}

  /**
   * Effective from now on. A ticket is granted once. @throws ApiError conflict below the volume, or for another type of
   * ticket
   */
  async grant(speaker: Speaker, ticketId: string, requestId: string): Promise<void> {
    const { userId: authorId } = speaker.actor;
    const actor = `user:${authorId}`;
    await inEntityTransaction(this.source, async (transaction) => {
      const { client } = transaction;
      const ticket = await this.tickets.lock(transaction, speaker, ticketId);
      if (ticket.kind !== 'reseller_rate') {
        throw new ApiError('conflict', 'The ticket does not ask for the reseller rate.');
      }
      if (ticket.outcome === 'rate_granted') return;
      const { accountId } = ticket;
      const rate = RESELLER_RATE;
      const reason = `ticket ${ticketId}`;
      await this.rates.set(client, { accountId, rate, effectiveFrom: null, reason, actor, requestId });
      await noteDecision(client, { ticketId, authorId, outcome: 'rate_granted', event: GRANTED });
      await audit(client, {
        actor,
        action: 'rate.set',
        accountId,
        after: { rate, ticketId },
        requestId: speaker.requestId,
      });
    });
  }
}
