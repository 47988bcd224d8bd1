import { Controller } from '@nestjs/common';
import { type NameRef, readNames } from '#people/names.reader.js';
import { Using } from '#platform/wiring.js';
import { POOL } from '../control-plane.tokens.js';
import { type CallOf, Serves } from '../http/route.js';
import { nameRoutes as routes } from './names.routes.js';

@Controller()
export class NamesController extends Using({ pool: POOL }) {
  @Serves(routes.read)
  async read({ query }: CallOf<typeof routes.read>) {
    const refs = query.of.split(',').map((ref) => {
      const [kind, id] = ref.split(':');
      return { kind, id } as NameRef;
    });
    return { items: await readNames(this.pool, refs) };
  }
}
