// The types of the control plane's client, from the routes that its controllers serve.

/**
 * The module that the console's pages import. The client turns every refusal into the same error, so there is one type
 * for all.
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
