import { Controller } from '@nestjs/common';
import { MailSender } from '#mail/mail.sender.js';
import { ResellerService } from '#support/reseller.service.js';
import { type Speaker, TicketService, type TicketWithMessages } from '#support/ticket.service.js';
import { Using } from '#platform/wiring.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { supportTicketRoutes as routes } from './tickets.routes.js';

type View = AnswerOf<typeof routes.show>;

/** Every ticket, for those who answer them. */
@Controller()
export class SupportTicketsController extends Using({
  service: TicketService,
  resellers: ResellerService,
  mail: MailSender,
}) {
  @Serves(routes.list)
  async list(call: CallOf<typeof routes.list>) {
    return this.service.list(staff(call), call.query);
  }

  @Serves(routes.show)
  async show(call: CallOf<typeof routes.show>) {
    return this.view(await this.service.find(staff(call), call.params.ticketId));
  }

  @Serves(routes.colleagues)
  async colleagues() {
    return { items: await this.service.colleagues() };
  }

  @Serves(routes.assign)
  async assign(call: CallOf<typeof routes.assign>) {
    return this.view(await this.service.assign(staff(call), call.params.ticketId, call.body.assigneeId));
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
    const isForRate = ticket.kind === 'reseller_rate';
    const reseller = isForRate ? await this.resellers.rates.volumeOf(ticket.accountId) : null;
    return { ...ticket, messages, reseller };
  }
}

export function staff({ actor, requestId }: Pick<Speaker, 'actor' | 'requestId'>): Speaker {
  return { actor, requestId, side: 'staff' };
}
