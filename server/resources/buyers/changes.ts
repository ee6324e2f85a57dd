import { insertBuyer, type NewBuyer } from './queries.ts';
import type { Work } from '../../database/unit-of-work.ts';

/** Undefined when the external identifier, or the ID, is taken. */
export const createBuyer = ({ db }: Work, buyer: NewBuyer) => insertBuyer(db, buyer);
