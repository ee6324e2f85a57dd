// Finds the operation as the service does. For an unknown path, the reason in the log names a path that is spelt alike; the
// response is the service's.
import type { Request } from 'express';
import { ApiError } from '../../server/kit/errors.ts';
import type { Found } from '../../server/kit/http/route.ts';
import { editDistance } from '../../server/kit/rules/nearest.ts';
import type { LoadedContract } from '../loaded-contract.ts';
import type { MockOperation } from '../operations.ts';

const maxEdits = 2;

export function findOperation({ find, operations }: LoadedContract, req: Request): Found<MockOperation> {
  try {
    return find(req);
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'not_found') throw error;
    const [path = ''] = req.url.split('?', 1);
    const near = nearest(
      path,
      operations.map((operation) => operation.path),
    );
    if (near === undefined) throw error;
    throw new ApiError('not_found', { reason: `unknown path; did you mean ${near}?` });
  }
}

function nearest(path: string, known: readonly string[]): string | undefined {
  const given = path.toLowerCase().replace(/\/+/g, '/').replace(/\/$/, '');
  const [best] = known
    // Too long a path is not worth the comparison.
    .filter((one) => Math.abs(one.length - given.length) <= maxEdits)
    .map((one) => ({ one, edits: editDistance(given, one) }))
    .filter(({ edits }) => edits <= maxEdits)
    .sort((a, b) => a.edits - b.edits);
  return best?.one;
}
