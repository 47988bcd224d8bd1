import { Controller } from '@nestjs/common';
import { OutboxRelay } from '#bus/outbox.js';
import { pageFrom, readCursorId } from '#platform/http/page.js';
import {
  findLetter,
  letterFault,
  listLetters,
  outlookOf,
  replayLetter,
  type StoredLetter,
} from '#operations/dead-letter.service.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { deadLetterRoutes as routes } from './dead-letters.routes.js';

@Controller()
export class DeadLettersController extends Using({ pool: POOL, relay: OutboxRelay }) {
  @Serves(routes.list)
  async list({ query }: CallOf<typeof routes.list>) {
    const { limit, cursor, replayed, ...filter } = query;
    const after = readCursorId(cursor, /^\d{1,18}$/);
    const isReplayed = replayed === undefined ? undefined : replayed === 'true';
    const rows = await listLetters(
      this.pool,
      { ...filter, replayed: isReplayed },
      { limit: limit + 1, after },
    );
    const { items, nextCursor } = pageFrom(rows, limit, ({ id }) => [id.toString()]);
    return { items: items.map(viewOf), nextCursor };
  }

  @Serves(routes.show)
  async show({ params }: CallOf<typeof routes.show>) {
    return viewOf(await findLetter(this.pool, BigInt(params.letterId)));
  }

  @Serves(routes.replay)
  async replay(call: CallOf<typeof routes.replay>) {
    const { actor, params, requestId } = call;
    const by = { actor: `user:${actor.userId}`, requestId };
    const letter = await replayLetter(this.pool, BigInt(params.letterId), by);
    this.relay.wake();
    return viewOf(letter);
  }
}

function viewOf(letter: StoredLetter) {
  return { ...letter, fault: letterFault(letter), ...outlookOf(letter) };
}
