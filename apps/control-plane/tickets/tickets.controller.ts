import { Controller } from '@nestjs/common';
import { type Speaker, TicketService, type TicketWithMessages } from '#support/ticket.service.js';
import { Using } from '#platform/wiring.js';
import { type AnswerOf, type CallOf, Serves } from '../http/route.js';
import { ticketRoutes as routes } from './tickets.routes.js';

type View = AnswerOf<typeof routes.show>;

/** The tickets of the person's own account. */
@Controller()
export class TicketsController extends Using({ service: TicketService }) {
  @Serves(routes.open)
  async open(call: CallOf<typeof routes.open>) {
    return view(await this.service.open(customer(call), call.body));
  }

  @Serves(routes.list)
  async list(call: CallOf<typeof routes.list>) {
    return this.service.list(customer(call), call.query);
  }

  @Serves(routes.show)
  async show(call: CallOf<typeof routes.show>) {
    return view(await this.service.find(customer(call), call.params.ticketId));
  }

  @Serves(routes.write)
  async write(call: CallOf<typeof routes.write>) {
    return view(await this.service.write(customer(call), call.params.ticketId, call.body));
  }

  @Serves(routes.close)
  async close(call: CallOf<typeof routes.close>) {
    return view(await this.service.close(customer(call), call.params.ticketId));
  }

  @Serves(routes.reopen)
  async reopen(call: CallOf<typeof routes.reopen>) {
    return view(await this.service.reopen(customer(call), call.params.ticketId));
  }
}

function customer({ actor, requestId }: Pick<Speaker, 'actor' | 'requestId'>): Speaker {
  return { actor, requestId, side: 'customer' };
}

function view({ ticket, messages }: TicketWithMessages): View {
  return { ...ticket, messages };
}
