import type { z } from 'zod';
import type { personView } from './fields.js';
import type { ListedPerson } from './roles.desk.js';

export function viewPerson({ createdAt, ...person }: ListedPerson): z.input<typeof personView> {
  return { ...person, createdAt: createdAt.toISOString() };
}
