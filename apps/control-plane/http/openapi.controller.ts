import { Controller, Get, UseGuards } from '@nestjs/common';
import { DiscoveryService } from '@nestjs/core';
import { Using } from '#platform/wiring.js';
import type { Route } from './declared-route.js';
import { describeApi, type ControlPlaneDocument, routesOf } from './openapi.document.js';
import { RequestThrottle } from './request-throttle.js';
import { SessionCookie } from './session-cookie.js';

/** Describes every route that a controller serves, so that none can be forgotten. */
@Controller()
export class ApiDocumentController extends Using({ discovery: DiscoveryService, cookie: SessionCookie }) {
  private document: ControlPlaneDocument | undefined;

  @Get('api/openapi.json')
  @UseGuards(RequestThrottle)
  openapi(): ControlPlaneDocument {
    this.document ??= describeApi(this.routes(), this.cookie.name);
    return this.document;
  }

  private routes(): Route[] {
    return this.discovery
      .getControllers()
      .flatMap(({ instance }) => (instance ? routesOf(Object.getPrototypeOf(instance) as object) : []));
  }
}
