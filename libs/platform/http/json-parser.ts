import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Readable } from 'node:stream';
import { receiveBody } from './body-stream.js';
import { ApiError } from '../errors.js';
import { JsonBody, type JsonBodyLimits, WHOLE_BODY_BYTES } from './json-body.js';
import { Turns } from './turns.js';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The handler needs the original bytes as well as their content. */
    keepsBytes?: boolean;
  }
  interface FastifyRequest {
    /** The original body, on routes that keep it. */
    sentBytes?: Buffer[];
  }
}

export interface JsonParserOptions {
  limitsOf: (request: FastifyRequest) => JsonBodyLimits;
  /** Receives all bytes as they arrive. @throws ApiError if there are too many */
  onBytes?: (request: FastifyRequest, bytes: Buffer) => void;
  /** False: every text is a string, however long. */
  longTexts?: boolean;
}

/**
 * Makes a server read JSON bodies like `JsonBody`: checked byte by byte while they arrive, parsed when they are
 * complete, the large ones in turns by sender.
 */
export function readJsonInTurns(server: FastifyInstance, options: JsonParserOptions): void {
  const read = bodyReader(server, options);
  server.removeContentTypeParser(['application/json', 'text/plain']);
  server.addContentTypeParser('application/json', (request, payload, done) => {
    // An error passed on here would close the connection before a client that is still sending has its answer.
    read(request, payload).then(
      (body) => done(null, body),
      (fault: unknown) => {
        request.bodyFault = fault;
        done(null, undefined);
      },
    );
  });
}

function bodyReader(
  server: FastifyInstance,
  { limitsOf, onBytes, longTexts = true }: JsonParserOptions,
): (request: FastifyRequest, payload: Readable) => Promise<unknown> {
  const turns = new Turns();
  const parseText = server.getDefaultJsonParser('error', 'error');
  return async (request, payload) => {
    const limits = limitsOf(request);
    const body = new JsonBody(limits, longTexts);
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > limits.bytes) throw tooLarge(limits.bytes);
    const received = receiveBody(payload, (bytes) => {
      onBytes?.(request, bytes);
      if (request.routeOptions.config.keepsBytes) (request.sentBytes ??= []).push(Buffer.from(bytes));
      body.push(bytes);
    });
    received.catch(() => undefined);
    await Promise.race([received, ...(request.upload ? [request.upload.failure] : [])]);
    const parse = () => body.end((text) => parsed(parseText, request, text));
    return body.bytes > WHOLE_BODY_BYTES ? turns.take(memberOf(request), parse) : parse();
  };
}

/** The account. Without one, the address, since a session's token may be made up. */
function memberOf({ upload }: FastifyRequest): string {
  return upload?.members.at(-1) ?? '';
}

function parsed(
  parse: ReturnType<FastifyInstance['getDefaultJsonParser']>,
  request: FastifyRequest,
  text: string,
): unknown {
  let result: unknown;
  void parse(request, text, (fault: Error | null, body?: unknown) => {
    if (fault) throw fault;
    result = body;
  });
  return result;
}

function tooLarge(bytes: number): ApiError {
  return new ApiError('request_too_large', `The body can have at most ${bytes} bytes.`);
}
