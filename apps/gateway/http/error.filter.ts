import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTransient } from '#database/database.js';
import type { Logger } from '#platform/logging.js';
import { errorBodyFor } from './error-shape.js';
import { internalError, refusalFor, answerRefusal } from '#platform/http/refusal.js';

/** Turns every error of a request into an answer. Details not meant for clients are only logged. */
@Catch()
export class GatewayErrorFilter implements ExceptionFilter {
  constructor(private readonly log: Logger) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const refusal = refusalFor(error, isTransient);
    const answer = refusal ?? internalError();
    if (answer.status >= 500) this.report(answer.status, refusal?.cause ?? error, request);
    answerRefusal(reply, answer, errorBodyFor(request, answer));
  }

  /** Named by the route, never the URL: its query can contain a signature. */
  private report(status: number, error: unknown, request: FastifyRequest): void {
    const where = { requestId: request.id, method: request.method, route: request.routeOptions.url, status };
    if (status === 503) this.log.warn({ ...where, err: error }, 'a request was answered 503');
    else this.log.error({ ...where, err: error }, 'a request failed');
  }
}
