import { Controller, Get, Inject, UseGuards } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, Reflector } from '@nestjs/core';
import { ROUTE, type Route } from './declared-route.js';
import { describeApi, type OpenApiDocument } from './openapi.document.js';
import { RequestThrottle } from './request-throttle.js';
import { SessionCookie } from './session-cookie.js';

/** Describes every route that a controller serves, so that none can be forgotten. */
@Controller()
export class OpenApiController {
  private document: OpenApiDocument | undefined;

  constructor(
    @Inject(DiscoveryService) private readonly discovery: DiscoveryService,
    @Inject(MetadataScanner) private readonly scanner: MetadataScanner,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(SessionCookie) private readonly cookie: SessionCookie,
  ) {}

  @Get('api/openapi.json')
  @UseGuards(RequestThrottle)
  openapi(): OpenApiDocument {
    this.document ??= describeApi(this.routes(), this.cookie.name);
    return this.document;
  }

  private routes(): Route[] {
    return this.discovery.getControllers().flatMap(({ instance }) => {
      if (!instance) return [];
      const prototype = Object.getPrototypeOf(instance) as Record<string, (...values: unknown[]) => unknown>;
      return this.scanner
        .getAllMethodNames(prototype)
        .map((name) => this.reflector.get<Route | undefined>(ROUTE, prototype[name] as never))
        .filter((route): route is Route => route !== undefined);
    });
  }
}
