import { type ArgumentsHost, Catch, type ExceptionFilter, NotFoundException } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isTransient } from '#database/database.js';
import { IdentityRefusal } from '#identity/refusal.js';
import { ApiError } from '#platform/errors.js';
import type { Logger } from '#platform/logging.js';
import { errorBody, internalError, refusalFor, answerRefusal } from '#platform/http/refusal.js';

/** Shapes everything that a request throws. Details that are not meant for people only go to the log. */
@Catch()
export class ApiErrorFilter implements ExceptionFilter {
  constructor(
    private readonly log: Logger,
    private readonly baseUrl: () => string,
  ) {}

  catch(error: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const reply = http.getResponse<FastifyReply>();
    const refusal = refusalFor(this.inOurWords(error, request), isTransient);
    const answer = refusal ?? internalError();
    if (answer.status >= 500) this.report(answer.status, refusal?.cause ?? error, request);
    answerRefusal(reply, answer, errorBody(answer));
  }

  private inOurWords(error: unknown, request: FastifyRequest): unknown {
    if (error instanceof NotFoundException) return unknownUrl(request, this.baseUrl());
    return error instanceof IdentityRefusal ? apiErrorOf(error) : error;
  }

  private report(status: number, error: unknown, request: FastifyRequest): void {
    const where = { requestId: request.id, method: request.method, route: request.routeOptions.url, status };
    this.log.error({ ...where, err: error }, 'a request of the console failed');
  }
}

function apiErrorOf(error: IdentityRefusal): ApiError {
  if (error.code === 'invalid_name') return new ApiError('invalid_value', error.message, { param: 'name' });
  if (error.code === 'group_not_found' || error.code === 'group_not_granted')
    return new ApiError('invalid_value', error.message, { param: 'group' });
  return new ApiError('not_found', error.message);
}

/** Paths of the gateway, which clients ask for here if they mistake this address for the base URL. */
const OF_MODELS = /^\/(v1|v1beta|vendora|chat|images|videos)(\/|$)/;

/** @param baseUrl where calls for models go */
export function unknownUrl({ method, url }: FastifyRequest, baseUrl: string): ApiError {
  const path = url.split('?', 1)[0] as string;
  const hint = OF_MODELS.test(path)
    ? `This is the console: send model calls to ${baseUrl}.`
    : '/api/openapi.json lists all paths.';
  return new ApiError('unknown_url', `There is no ${method} ${path}. ${hint}`);
}
