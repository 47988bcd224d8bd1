import { Controller } from '@nestjs/common';
import type { Readable } from 'node:stream';
import type { Actor } from '#identity/role.js';
import { ApiError } from '#platform/errors.js';
import { id } from '#platform/http/fields.js';
import { KeyService } from '#people/keys/key.service.js';
import { findCharge } from '#usage/charge.reader.js';
import { findTask } from '#usage/task.reader.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { GatewayClient } from './gateway.client.js';
import { playgroundRoutes as routes } from './playground.routes.js';
import { taskFileOf } from './task-files.js';

type PlayCall = CallOf<typeof routes.images>;

const KEY_HEADER = 'x-tollgate-key';

/** Calls of models from the pages, as one of the person's keys. */
@Controller()
export class PlaygroundController extends Using({ gateway: GatewayClient, keys: KeyService, pool: POOL }) {
  @Serves(routes.images)
  images(call: CallOf<typeof routes.images>): Promise<Readable> {
    return this.post(call, '/v1/images/generations');
  }

  @Serves(routes.edits)
  edits(call: CallOf<typeof routes.edits>): Promise<Readable> {
    return this.post(call, '/v1/images/edits');
  }

  @Serves(routes.videos)
  videos(call: CallOf<typeof routes.videos>): Promise<Readable> {
    return this.post(call, '/v1/videos');
  }

  @Serves(routes.assets)
  assets(call: CallOf<typeof routes.assets>): Promise<Readable> {
    return this.post(call, '/v1/3d');
  }

  @Serves(routes.chat)
  chat(call: CallOf<typeof routes.chat>): Promise<Readable> {
    return this.post(call, '/v1/chat/completions');
  }

  @Serves(routes.speech)
  speech(call: CallOf<typeof routes.speech>): Promise<Readable> {
    return this.post(call, '/v1/audio/speech');
  }

  @Serves(routes.models)
  async models({ actor, ip, request, reply }: CallOf<typeof routes.models>): Promise<Readable> {
    const keyId = await this.ownKey(actor, request.headers[KEY_HEADER]);
    const grant = { audience: 'call', accountId: actor.accountId, keyId, ip } as const;
    return this.gateway.forward({ method: 'GET', path: '/v1/models', grant, body: null, request, reply });
  }

  @Serves(routes.content)
  async content(call: CallOf<typeof routes.content>): Promise<Readable> {
    const { actor, params, query, ip, request, reply } = call;
    const task = await findTask(this.pool, actor.accountId, params.taskId);
    if (!task) throw new ApiError('not_found', 'You have no such task.');
    const { path, name } = taskFileOf(task);
    const disposition = `${query.download ? 'attachment' : 'inline'}; filename="${name}"`;
    const grant = { audience: 'file', accountId: actor.accountId, keyId: task.keyId, ip } as const;
    const body = await this.gateway.forward({ method: 'GET', path, grant, body: null, request, reply });
    // An error is shown, not kept.
    if (reply.statusCode < 400) void reply.header('content-disposition', disposition);
    return body;
  }

  @Serves(routes.chargeImages)
  chargeImages(call: CallOf<typeof routes.chargeImages>): Promise<Readable> {
    return this.ofCharge(call, `/v1/charges/${call.params.chargeId}/images`);
  }

  @Serves(routes.chargeImage)
  chargeImage(call: CallOf<typeof routes.chargeImage>): Promise<Readable> {
    const { chargeId, image } = call.params;
    if (!image.startsWith(`${chargeId}-`)) throw new ApiError('not_found', 'The charge has no such image.');
    return this.ofCharge(call, `/v1/images/files/${image}?${new URLSearchParams(call.query).toString()}`);
  }

  /** @throws ApiError for a charge that is not the actor's */
  private async ofCharge(
    {
      actor,
      params,
      ip,
      request,
      reply,
    }: CallOf<typeof routes.chargeImages> | CallOf<typeof routes.chargeImage>,
    path: string,
  ): Promise<Readable> {
    const charge = await findCharge(this.pool, params.chargeId, actor.accountId);
    if (!charge?.keyId) throw new ApiError('not_found', 'You have no such charge.');
    const grant = { audience: 'file', accountId: actor.accountId, keyId: charge.keyId, ip } as const;
    return this.gateway.forward({ method: 'GET', path, grant, body: null, request, reply });
  }

  private async post({ actor, ip, request, reply }: PlayCall, path: string): Promise<Readable> {
    const keyId = await this.ownKey(actor, request.headers[KEY_HEADER]);
    const grant = { audience: 'call', accountId: actor.accountId, keyId, ip } as const;
    const body = request.body as Readable;
    return this.gateway.forward({ method: 'POST', path, grant, body, request, reply });
  }

  /** @throws ApiError for a key that is not live, not the actor's, or not named. */
  private async ownKey({ accountId }: Actor, named: unknown): Promise<string> {
    if (named === undefined) {
      throw new ApiError('missing_required_parameter', `Name one of your keys in the header ${KEY_HEADER}.`, {
        param: KEY_HEADER,
      });
    }
    const { data: keyId } = id.safeParse(named);
    if (keyId === undefined) throw new ApiError('not_found', 'You have no such key.');
    return (await this.keys.find(accountId, keyId)).id;
  }
}
