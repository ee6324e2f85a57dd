// The checks of the service as somebody adds them to a framework: the token once, by Ajv what is sent and what is answered.
import formats from 'ajv-formats';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { contract } from '../contract.ts';
import { verify } from './peer.ts';

export const createAjv = (options: object) => {
  const ajv = new Ajv2020({ strict: false, ...options });
  formats.default(ajv);
  return ajv.addSchema({ $id: 'contract', ...contract });
};
export const ajv = createAjv({});
export const isPage = ajv.compile({ $ref: 'contract#/components/schemas/TransactionCollection' });
export const isCard = ajv.compile({ $ref: 'contract#/components/schemas/PaymentMethod' });

const claims = new Map<string, ReturnType<typeof verify>>();

export function verifyOnce(authorization = '') {
  const known = claims.get(authorization);
  if (known && known.exp * 1000 > Date.now()) return known;
  const found = verify(authorization);
  claims.set(authorization, found);
  return found;
}
