import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Caller } from '#identity/key-authenticator.js';
import { type DryRun, dryRunOf, type RoutedQuote } from './dry-run.js';
import type { ModelTurns } from './model-turns.js';

/** A request, and where the headers of its answer go. */
export interface ClientExchange {
  readonly caller: Caller;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

interface Asked<T> {
  readonly dryRun: boolean;
  quote(model: string): Promise<RoutedQuote>;
  serve(model: string): Promise<T>;
}

/**
 * The answer of the first of the models that serves the request, with the headers that name it; for a dry run, what would
 * happen. @throws ApiError if none serves it
 */
export async function answerInTurn<T>(
  turns: ModelTurns,
  reply: FastifyReply,
  asked: Asked<T>,
): Promise<T | DryRun> {
  if (asked.dryRun) return dryRunOf(turns, (model) => asked.quote(model));
  return turns.serve(async (model) => {
    const answer = await asked.serve(model);
    void reply.headers(turns.headersFor(model));
    return answer;
  });
}
