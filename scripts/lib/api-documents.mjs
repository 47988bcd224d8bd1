// Both OpenAPI documents, read from the built controllers, so no program has to run.
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { FASTIFY_ROUTE_CONFIG_METADATA } from '@nestjs/platform-fastify/constants.js';
import { RequestMethod } from '@nestjs/common';
import { METHOD_METADATA, PATH_METADATA } from '@nestjs/common/constants.js';

/**
 * The gateway's document, as served at `/openapi.json`.
 * @param {string} dist where the programs were built to
 * @param {string} origin what the document names as its server
 */
export async function describeGateway(dist, origin) {
  const { ApiDocument } = await import(
    pathToFileURL(join(dist, 'apps/gateway/openapi/openapi.document.js')).href
  );
  const document = new ApiDocument();
  for (const each of await controllersOf(dist, 'apps/gateway'))
    for (const route of gatewayRoutes(each)) document.add(route);
  return document.at(origin);
}

/**
 * The control plane's document, as served at `/api/openapi.json`.
 * @param {string} dist where the programs were built to
 */
export async function describeControlPlane(dist) {
  const file = join(dist, 'apps/control-plane/http/openapi.document.js');
  const { describeApi, routesOf } = await import(pathToFileURL(file).href);
  const classes = await controllersOf(dist, 'apps/control-plane');
  return describeApi(
    classes.flatMap((each) => routesOf(each.prototype)),
    'tollgate_session',
  );
}

/** The classes that controller files export, in the order of their paths. */
async function controllersOf(dist, folder) {
  const files = readdirSync(join(dist, folder), { recursive: true })
    .filter((name) => name.endsWith('.controller.js'))
    .sort();
  const modules = await Promise.all(
    files.map((name) => import(pathToFileURL(join(dist, folder, name)).href)),
  );
  return modules.flatMap((module) => Object.values(module)).filter((each) => typeof each === 'function');
}

/** A POST costs money unless its rules say otherwise, as in `addRoute` of the gateway's adapter. */
function gatewayRoutes(controller) {
  const bases = [Reflect.getMetadata(PATH_METADATA, controller)].flat();
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler = controller.prototype[name];
    const verb = typeof handler === 'function' ? Reflect.getMetadata(METHOD_METADATA, handler) : undefined;
    if (verb === undefined) return [];
    const method = RequestMethod[verb];
    const config = {
      paid: method === 'POST',
      ...Reflect.getMetadata(FASTIFY_ROUTE_CONFIG_METADATA, handler),
    };
    const paths = [Reflect.getMetadata(PATH_METADATA, handler)].flat();
    return bases.flatMap((base) => paths.map((path) => ({ method, url: urlOf(base, path), config })));
  });
}

/** Turns `v1/3d` and `/` into `/v1/3d`. */
function urlOf(...parts) {
  return `/${parts
    .flatMap((part) => part.split('/'))
    .filter(Boolean)
    .join('/')}`;
}
