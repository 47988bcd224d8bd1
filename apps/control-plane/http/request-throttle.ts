import { type CanActivate, type ExecutionContext, Inject, Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { networkOf } from '#identity/ip-list.js';
import type { ControlPlaneConfig } from '../control-plane.config.js';
import { CONTROL_PLANE_CONFIG } from '../control-plane.tokens.js';
import type { Route } from './declared-route.js';
import { Throttle } from './throttle.js';

/** A payment provider reports everyone's payments from a few addresses. */
const OF_MACHINES = 10;

/** How often one person, or one network address without a session, may ask the control plane. */
@Injectable()
export class RequestThrottle implements CanActivate {
  constructor(
    @Inject(CONTROL_PLANE_CONFIG) private readonly config: ControlPlaneConfig,
    @Inject(Throttle) private readonly throttle: Throttle,
  ) {}

  /** @throws ApiError rate_limit_exceeded */
  count(request: FastifyRequest, reply: FastifyReply, declared: Route): void {
    const { reads, writes, anonymous } = this.config.console.throttle;
    const { session, ip } = request;
    const apart = declared.countedApart ? `${declared.id} ` : '';
    if (session) {
      const isRead = request.method === 'GET' || request.method === 'HEAD';
      const subject = `${apart}${isRead ? 'reads' : 'writes'} ${session.actor.userId}`;
      this.throttle.count(subject, isRead ? reads : writes, reply);
    } else if (declared.guardsAgainstForgery === false) {
      this.throttle.count(`machines ${networkOf(ip)}`, anonymous * OF_MACHINES, reply);
    } else {
      this.throttle.count(`${apart}address ${networkOf(ip)}`, anonymous, reply);
    }
  }

  /** For what is served without a declared route, such as the health of the service. */
  canActivate(context: ExecutionContext): boolean {
    const http = context.switchToHttp();
    const { ip } = http.getRequest<FastifyRequest>();
    const subject = `plain ${networkOf(ip)}`;
    this.throttle.count(subject, this.config.console.throttle.anonymous, http.getResponse<FastifyReply>());
    return true;
  }
}
