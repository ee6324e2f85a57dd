import { insertBuyer, type NewBuyer } from '../store/buyers.ts';
import type { Work } from './unit-of-work.ts';

/** Undefined when the external identifier, or the ID, is taken. */
export const createBuyer = ({ db }: Work, buyer: NewBuyer) => insertBuyer(db, buyer);
