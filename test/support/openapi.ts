import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import type { DocumentedOperation, GatewayDocument } from '#apps/gateway/openapi/openapi.document.js';
import type { Schema } from '#apps/gateway/openapi/operation.js';

export interface Found {
  path: string;
  operation: DocumentedOperation;
}

const SHARED = 'document';

/** Checks requests and answers against an OpenAPI document. */
export class Contract {
  /** Operation ID and status of every checked answer. */
  readonly seen = new Set<string>();
  private readonly ajv = formats.default(new Ajv2020({ strict: false, allErrors: true }));
  private readonly compiled = new Map<Schema, ValidateFunction>();
  /** What `find` looks through, once for each answer that is checked. */
  private readonly routes: readonly (Found & { method: string; pattern: RegExp })[];

  constructor(readonly document: GatewayDocument) {
    // Added once, so that what is compiled for one schema serves the next.
    this.ajv.addSchema({ $id: SHARED, components: document.components });
    this.routes = this.operations()
      .map((each) => ({ ...each, pattern: patternOf(each.path) }))
      .sort((a, b) => spelledOut(b.path) - spelledOut(a.path));
  }

  operations(): { path: string; method: string; operation: DocumentedOperation }[] {
    return Object.entries(this.document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
  }

  /** The operation of a request. If two match, the one with more literal parts in its path. */
  find(method: string, url: string): Found | undefined {
    const { pathname } = new URL(url);
    const verb = method.toLowerCase();
    return this.routes.find((each) => each.method === verb && each.pattern.test(pathname));
  }

  /** Reads an answer to its end. @throws Error if it does not match the document */
  async check(operation: DocumentedOperation, response: Response): Promise<Buffer> {
    const bytes = Buffer.from(await response.arrayBuffer());
    const where = `${operation.operationId} ${response.status}`;
    const documented = operation.responses[response.status];
    if (!documented) throw new Error(`${where} is not documented: ${bytes.toString('utf8', 0, 300)}`);
    const type = response.headers.get('content-type')?.split(';', 1)[0] ?? '';
    const media = Object.entries(documented.content ?? {}).find(([each]) => fits(each, type));
    if (bytes.length > 0 && !media) throw new Error(`${where}: ${type} is not documented`);
    const schema = media?.[1].schema;
    const text = bytes.toString();
    if (schema) this.validate(where, schema, type.endsWith('json') ? JSON.parse(text) : text);
    this.seen.add(where);
    return bytes;
  }

  /** @throws Error if the document does not allow such a body */
  checkRequest(operation: DocumentedOperation, body: unknown): void {
    const schema = operation.requestBody?.content['application/json']?.schema;
    if (!schema) throw new Error(`${operation.operationId} takes no JSON`);
    this.validate(`the body of ${operation.operationId}`, schema, body);
  }

  /** @throws Error if the document has no example of a body, or one that it does not allow itself */
  checkExample({ operationId, requestBody }: DocumentedOperation): void {
    const { 'application/json': json, 'multipart/form-data': form } = requestBody?.content ?? {};
    const { schema, example } = json ?? form ?? {};
    if (!schema || example === undefined) throw new Error(`${operationId} has no example`);
    this.validate(`the example of ${operationId}`, schema, example);
  }

  private validate(where: string, schema: Schema, value: unknown): void {
    let validator = this.compiled.get(schema);
    if (!validator) {
      const text = JSON.stringify(schema).replaceAll('"#/components/', `"${SHARED}#/components/`);
      validator = this.ajv.compile(JSON.parse(text) as Schema);
      this.compiled.set(schema, validator);
    }
    if (validator(value)) return;
    const shown = JSON.stringify(value).slice(0, 500);
    throw new Error(`${where}: ${this.ajv.errorsText(validator.errors)} in ${shown}`);
  }
}

function patternOf(path: string): RegExp {
  const escaped = path.replace(/[.*+?^$()|[\]\\]/g, '\\$&');
  return new RegExp(`^${escaped.replace(/\{\w+\}/g, '[^/]+')}$`);
}

function spelledOut(path: string): number {
  return path.replace(/\{\w+\}/g, '').length;
}

function fits(documented: string, type: string): boolean {
  return documented.endsWith('/*') ? type.startsWith(documented.slice(0, -1)) : documented === type;
}
