// What the bench and its peers read of the contract.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../support/root.ts';

interface Contract {
  paths: {
    '/payment-methods': object;
    '/transactions': {
      get: {
        parameters: { $ref: string }[];
        responses: { '200': { content: { 'application/json': { examples: object } } } };
      };
    };
  };
  components: {
    parameters: Record<string, { name: string; in: string }>;
    schemas: { Transaction: { properties: Record<string, unknown> } };
  };
}

export const contractFile = join(root, 'generated', 'openapi.json');
export const contract = JSON.parse(readFileSync(contractFile, 'utf8')) as Contract;

const { properties } = contract.components.schemas.Transaction;
export const columns = Object.keys(properties).filter((name) => name !== 'type');
