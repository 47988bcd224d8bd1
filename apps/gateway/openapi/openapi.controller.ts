import { Controller, Get, Header, Req } from '@nestjs/common';
import { asHtml } from '#platform/http/html.js';
import { Using } from '#platform/wiring.js';
import type { FastifyRequest } from 'fastify';
import { GATEWAY_CONFIG } from '../gateway.tokens.js';
import { RouteRules } from '../http/caller.js';
import { publicOrigin } from '../http/public-origin.js';
import { DOCS_POLICY, docsPage } from './docs.page.js';
import { ApiDocument } from './openapi.document.js';
import { answer, type Operation } from './operation.js';

const openApiJson: Operation = {
  id: 'describe',
  tag: 'This document',
  summary: 'Get this document.',
  answers: answer('OpenAPI 3.1.', { 'application/json': { type: 'object' } }),
};
const docs: Operation = {
  id: 'describeForPeople',
  tag: 'This document',
  summary: 'Get this document as a web page.',
  answers: answer('HTML.', { 'text/html': null }),
};

/** Stands for the reader's origin. */
const PLACE = 'https://here.invalid';

/** A text with the reader's origin in some places. Readers at one address share its bytes, however slowly they read. */
class SharedText {
  private last: { origin: string; bytes: Buffer } | undefined;

  constructor(private readonly parts: readonly string[]) {}

  at(origin: string): Buffer {
    if (this.last?.origin !== origin) this.last = { origin, bytes: Buffer.from(this.parts.join(origin)) };
    return this.last.bytes;
  }
}

/**
 * The API reference, for programs and for people. Neither needs a key, so both are written once: writing takes longer than any
 * other answer.
 */
@Controller()
export class DocsController extends Using({ document: ApiDocument, config: GATEWAY_CONFIG }) {
  private json: SharedText | undefined;
  private html: SharedText | undefined;

  @Get('openapi.json')
  @RouteRules({ access: 'open', doc: openApiJson })
  @Header('content-type', 'application/json; charset=utf-8')
  describe(@Req() request: FastifyRequest): Buffer {
    this.json ??= new SharedText(JSON.stringify(this.document.at(PLACE)).split(JSON.stringify(PLACE)));
    return this.json.at(JSON.stringify(publicOrigin(request, this.config)));
  }

  @Get('docs')
  @RouteRules({ access: 'open', doc: docs })
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('content-security-policy', DOCS_POLICY)
  @Header('x-content-type-options', 'nosniff')
  page(@Req() request: FastifyRequest): Buffer {
    this.html ??= new SharedText(docsPage(this.document.at(PLACE)).split(asHtml(PLACE)));
    return this.html.at(asHtml(publicOrigin(request, this.config)));
  }
}
