import type { Handler, Result } from '../../generated/operations.ts';
import { schemeNames, type CardScheme } from '../domain/card-schemes.ts';
import { presentCardScheme } from '../present/card-scheme.ts';
import type { Deps } from './deps.ts';

const schemes = Object.keys(schemeNames) as CardScheme[];

export const listCardSchemeDefinitions: Handler<'listCardSchemeDefinitions', Deps> = (
  _input,
  { publicUrl },
): Promise<Result<'listCardSchemeDefinitions'>> =>
  Promise.resolve({
    status: 200,
    body: { items: schemes.map((id) => presentCardScheme(id, publicUrl)) },
  });
