import type { Handler, Result } from '../kit/contract/handler-types.ts';
import { presentCardScheme, schemeNames, type CardScheme } from '../resources/card-schemes/rules.ts';
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
