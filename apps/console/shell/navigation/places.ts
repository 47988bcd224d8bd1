import type { Shape } from '../../api/client.js';
import { workspacesOf } from './navigation.js';

/** Every page that a person may open, once, with its first workspace. */
export function placesOf(session: Shape<'Session'>) {
  const places = workspacesOf(session).flatMap(({ label: area, links }) =>
    links.flatMap(({ pages }) => pages.map((page) => ({ area, ...page }))),
  );
  return places.filter(({ to }, index) => places.findIndex((other) => other.to === to) === index);
}
