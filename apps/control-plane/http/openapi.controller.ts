import { Controller, Get, Header, UseGuards } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Using } from '#platform/wiring.js';
import type { Route } from './declared-route.js';
import { describeApi, routesOf } from './openapi.document.js';
import { RequestThrottle } from './request-throttle.js';
import { SessionCookie } from './session-cookie.js';

/** Describes every route that a controller serves, so that none can be forgotten. */
@Controller()
export class ApiDocumentController extends Using({ discovery: DiscoveryService, cookie: SessionCookie }) {
  /** Serialized once: it is almost a megabyte, and anyone may ask for it. */
  private json: string | undefined;

  @Get('api/openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @UseGuards(RequestThrottle)
  openapi(): string {
    this.json ??= JSON.stringify(describeApi(this.routes(), this.cookie.name));
    return this.json;
  }

  private routes(): Route[] {
    return this.discovery
      .getControllers()
      .flatMap(({ instance }) => (instance ? routesOf(Object.getPrototypeOf(instance) as object) : []));
  }
}
