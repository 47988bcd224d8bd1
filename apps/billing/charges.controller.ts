import { Controller } from '@nestjs/common';
import { Handles } from '#bus/handles.decorator.js';
import {
  type ChargeReply,
  ChargeRequested,
  ChargeResolved,
  type ResolvedReply,
  TaskEnded,
} from '#bus/payloads.js';
import { topics } from '#bus/topics.js';
import type { ResolveCommand, ResolveResult } from '#ledger/charges/charge.js';
import { PostingEngine } from '#ledger/charges/posting-engine.js';
import { KeyUse } from './key-use.js';
import { LateWork } from './late-work.js';
import {
  holdCommand,
  holdReply,
  resolveCommand,
  resolveReply,
  taskEndedCommand,
} from '#ledger/charges/charge.commands.js';
import { Using } from '#platform/wiring.js';

/**
 * Handles charges from the bus. Handlers only translate: the engine commits the messages of one batch together and
 * answers a repeat with the stored result, so messages may come twice and in any order. The engine's error tells the
 * bus what to do: if the database is down, it retries; a broken rule becomes a dead letter.
 */
@Controller()
export class ChargesController extends Using({ engine: PostingEngine, keyUse: KeyUse, late: LateWork }) {
  @Handles(topics.chargeRequested)
  async requested(message: ChargeRequested): Promise<ChargeReply> {
    this.keyUse.note(message.keyId);
    return holdReply(message.chargeId, await this.engine.hold(holdCommand(message)));
  }

  @Handles(topics.chargeResolved)
  async resolved(message: ChargeResolved): Promise<ResolvedReply> {
    return resolveReply(await this.resolve(resolveCommand(message)));
  }

  @Handles(topics.videoCompleted)
  async taskEnded(message: TaskEnded): Promise<void> {
    await this.resolve(taskEndedCommand(message));
  }

  private async resolve(command: ResolveCommand): Promise<ResolveResult> {
    const result = await this.engine.resolve(command);
    if (result.late) await this.late.record(command, result.late);
    return result;
  }
}
