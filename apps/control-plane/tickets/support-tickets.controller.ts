import { Controller, Inject } from '@nestjs/common';
import { MailSender } from '#mail/mail.sender.js';
import { ResellerService } from '#support/reseller.service.js';
import { type Speaker, TicketService, type TicketWithMessages } from '#support/ticket.service.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { viewMessage, viewTicket } from './tickets.controller.js';
import { supportTicketRoutes as routes } from './tickets.routes.js';

type View = AnswerOf<typeof routes.show>;

/** Every ticket, for those who answer them. */
@Controller()
export class SupportTicketsController {
  constructor(
    @Inject(TicketService) private readonly service: TicketService,
    @Inject(ResellerService) private readonly resellers: ResellerService,
    @Inject(MailSender) private readonly mail: MailSender,
  ) {}

  @Serves(routes.list)
  async list(call: CallOf<typeof routes.list>) {
    const { items, nextCursor } = await this.service.list(staff(call), call.query);
    return { items: items.map(viewTicket), nextCursor };
  }

  @Serves(routes.show)
  async show(call: CallOf<typeof routes.show>) {
    return this.view(await this.service.find(staff(call), call.params.ticketId));
  }

  @Serves(routes.answer)
  async answer(call: CallOf<typeof routes.answer>) {
    const written = await this.service.write(staff(call), call.params.ticketId, call.body);
    this.mail.wake();
    return this.view(written);
  }

  @Serves(routes.close)
  async close(call: CallOf<typeof routes.close>) {
    return this.view(await this.service.close(staff(call), call.params.ticketId));
  }

  @Serves(routes.reopen)
  async reopen(call: CallOf<typeof routes.reopen>) {
    return this.view(await this.service.reopen(staff(call), call.params.ticketId));
  }

  @Serves(routes.grantResellerRate)
  async grantResellerRate(call: CallOf<typeof routes.grantResellerRate>) {
    const { ticketId } = call.params;
    await this.resellers.grant(staff(call), ticketId, call.body.requestId);
    this.mail.wake();
    return this.view(await this.service.find(staff(call), ticketId));
  }

  private async view({ ticket, messages }: TicketWithMessages): Promise<View> {
    return {
      ...viewTicket(ticket),
      openedBy: ticket.openedBy,
      messages: messages.map((message) => ({ ...viewMessage(message), authorId: message.authorId })),
      reseller: ticket.kind === 'reseller_rate' ? await this.viewReseller(ticket.accountId) : null,
    };
  }

  private async viewReseller(accountId: string): Promise<View['reseller']> {
    const { verifiedTokens, thresholdTokens, ...rest } = await this.resellers.volumeOf(accountId);
    return { ...rest, verifiedTokens: String(verifiedTokens), thresholdTokens: String(thresholdTokens) };
  }
}

export function staff({ actor, requestId }: Pick<Speaker, 'actor' | 'requestId'>): Speaker {
  return { actor, requestId, side: 'staff' };
}
