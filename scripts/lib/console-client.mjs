// The types of the control plane's client, from the routes that its controllers serve.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/**
 * Describes the routes of the built control plane.
 * @param {string} dist where the programs were built to
 */
export async function describeBuilt(dist) {
  const load = (path) => import(pathToFileURL(join(dist, path)).href);
  const { describeApi, routesOf } = await load('apps/control-plane/http/openapi.document.js');
  const folder = 'apps/control-plane';
  const files = readdirSync(join(dist, folder), { recursive: true }).filter((name) =>
    name.endsWith('.controller.js'),
  );
  const modules = await Promise.all(files.sort().map((name) => load(join(folder, name))));
  const classes = modules
    .flatMap((module) => Object.values(module))
    .filter((each) => typeof each === 'function');
  return describeApi(
    classes.flatMap((each) => routesOf(each.prototype)),
    'tollgate_session',
  );
}

/**
 * The module that the console's pages import. The client turns each refusal into the same failure, so they
 * are one.
 * @param {object} document OpenAPI 3.1
 */
export async function clientTypes(document) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  const paths = Object.entries(document.paths).map(([path, methods]) => [
    path,
    Object.fromEntries(Object.entries(methods).map(([method, route]) => [method, withOneRefusal(route)])),
  ]);
  const components = { ...document.components, responses: { Refusal: REFUSAL } };
  const asked = { ...document, components, paths: Object.fromEntries(paths) };
  return `// Written by \`npm run build\`; the routes are in apps/control-plane.\n${astToString(await openapiTS(JSON.stringify(asked)))}`;
}

const REFUSAL = {
  description: 'Why it was refused',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
};

function withOneRefusal(route) {
  const answers = Object.entries(route.responses).filter(([status]) => Number(status) < 400);
  const refusal = { $ref: '#/components/responses/Refusal' };
  return { ...route, responses: { ...Object.fromEntries(answers), default: refusal } };
}
