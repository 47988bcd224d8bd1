import { User } from '#identity/user.entity.js';

/** Every entity that billing owns, for TypeORM. */
export const ENTITIES = [User];
