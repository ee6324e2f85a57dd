// The body: media type first, then syntax.
import { isUtf8 } from 'node:buffer';
import express, { type Request, type RequestHandler, type Response } from 'express';
import { ApiError } from '../errors.ts';
import type { Step } from './step.ts';

const refuse = (type: string, message: string, cause?: unknown) =>
  new ApiError('bad_request', { details: [{ location: 'body', pointer: '', message, type }], cause });

const mediaType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;

export function createBody<Context>(limit: number, hasBody: (context: Context) => boolean): Step<Context> {
  const parse = express.json({ limit, strict: false, type: () => true, verify: refuseWhatIsNoUnicode });
  return async (context, req, res) => {
    const given = req.headers['content-type'];
    // The validator keeps a compiled validator, about 1 MB, for each Content-Type it ever saw. It sees one.
    delete req.headers['content-type'];
    if (!hasBody(context)) return;
    const sent =
      req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
    if (given === undefined ? sent : !mediaType.test(given)) {
      throw refuse('value_error.content_type', 'must be sent with Content-Type: application/json');
    }
    req.headers['content-type'] = 'application/json';
    // The parser would make an empty object of an empty body.
    if (sent) await run(parse, req, res);
  };
}

const notUnicode = 'body.not.unicode';

// Bytes that are no UTF-8, and escapes that are half of a surrogate pair, are parsed without complaint and stored as U+FFFD:
// what was acknowledged would not be what was sent, and two different identifiers would be one.
function refuseWhatIsNoUnicode(_req: unknown, _res: unknown, bytes: Buffer): void {
  if (isUtf8(bytes) && !halfPair.test(bytes.toString('latin1').replaceAll('\\\\', ''))) return;
  throw Object.assign(new Error(notUnicode), { type: notUnicode });
}

const halfPair =
  /\\u[dD][89abAB][\da-fA-F]{2}(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB][\da-fA-F]{2})\\u[dD][c-fC-F]/;

const run = (parse: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    void parse(req, res, (error?: unknown) => {
      if (error === undefined) done();
      else failed(translate(error, req));
    });
  });

function translate(error: unknown, req: Request): Error {
  const { type } = error as { type?: string };
  if (type === 'entity.too.large') {
    // What is still coming is not read; the connection ends with the answer.
    req.res?.setHeader('Connection', 'close');
    return refuse(
      'value_error.body_too_large',
      `must have ${String((error as { limit?: number }).limit)} bytes or less`,
    );
  }
  if (type === 'entity.parse.failed') return refuse('value_error.jsondecode', 'is not valid JSON');
  if (type === notUnicode)
    return refuse(
      'value_error.jsondecode',
      'is not valid JSON: it must be UTF-8, without halves of surrogate pairs',
    );
  if (type === 'encoding.unsupported' || type === 'charset.unsupported') {
    return refuse('value_error.content_type', 'must be sent as UTF-8, plain or with gzip, deflate or br');
  }
  if (type?.startsWith('request.') || type?.startsWith('stream.'))
    return refuse('value_error.body', 'did not arrive whole', error);
  // Broken gzip comes as an error of zlib's own.
  if ((error as { code?: string }).code?.startsWith('Z_'))
    return refuse('value_error.content_type', 'is not valid in its Content-Encoding');
  return error instanceof Error ? error : new Error(String(error));
}
