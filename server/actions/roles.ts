import { insertRole } from '../store/roles.ts';
import type { Work } from './unit-of-work.ts';

/** Undefined when the slug is taken. */
export const createRole = ({ db }: Work, role: Parameters<typeof insertRole>[1]) => insertRole(db, role);
