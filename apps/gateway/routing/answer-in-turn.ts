import type { FastifyReply } from 'fastify';
import { type DryRun, dryRunOf, type RoutedQuote } from './dry-run.js';
import type { ModelTurns } from './model-turns.js';

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
