import type { z } from 'zod';
import type { personView } from '#people/people.fields.js';
import type { ListedPerson } from '#people/roles.service.js';

export function viewPerson({ createdAt, ...person }: ListedPerson): z.output<typeof personView> {
  return { ...person, createdAt: createdAt.toISOString() };
}
