// The body: media type first, then syntax, in the words of server/http/body.ts.
import express, { type Request, type RequestHandler, type Response } from 'express';
import { ApiError } from '../../server/errors.ts';
import type { Step } from './visit.ts';

const limit = 102_400;

const refuse = (type: string, message: string, cause?: unknown) =>
  new ApiError(400, { details: [{ location: 'body', pointer: '', message, type }], cause });

const mediaType = /^application\/json\s*(;\s*charset="?utf-8"?\s*)?$/i;
const parse = express.json({ limit, strict: false, type: () => true });

export const body: Step = async ({ operation }, req, res) => {
  const given = req.headers['content-type'];
  // The validator keeps a compiled validator, about 1 MB, for each Content-Type it ever saw. It sees one.
  delete req.headers['content-type'];
  if (!operation.hasBody) return;
  const sent =
    req.headers['transfer-encoding'] !== undefined || (req.headers['content-length'] ?? '0') !== '0';
  if (given === undefined ? sent : !mediaType.test(given))
    throw refuse('value_error.content_type', 'must be sent with Content-Type: application/json');
  req.headers['content-type'] = 'application/json';
  // The parser would make an empty object of an empty body.
  if (sent) await run(parse, req, res);
};

const run = (parser: RequestHandler, req: Request, res: Response) =>
  new Promise<void>((done, failed) => {
    void parser(req, res, (error?: unknown) => {
      if (error === undefined) done();
      else failed(translate(error, res));
    });
  });

function translate(error: unknown, res: Response): Error {
  const { type, code } = error as { type?: string; code?: string };
  if (type === 'entity.too.large') {
    // What is still coming is not read; the connection ends with the answer.
    res.setHeader('Connection', 'close');
    return refuse('value_error.body_too_large', `must have ${limit} bytes or less`);
  }
  if (type === 'entity.parse.failed') return refuse('value_error.jsondecode', 'is not valid JSON');
  if (type === 'encoding.unsupported' || type === 'charset.unsupported')
    return refuse('value_error.content_type', 'must be sent as UTF-8, plain or with gzip, deflate or br');
  if (type?.startsWith('request.') || type?.startsWith('stream.'))
    return refuse('value_error.body', 'did not arrive whole', error);
  if (code?.startsWith('Z_'))
    return refuse('value_error.content_type', 'is not valid in its Content-Encoding');
  return error instanceof Error ? error : new Error(String(error));
}
