// `/__mock/answers`: `mock.answer` for Playwright, Cypress and the mock's page. It is no operation of the contract, so nothing here has
// CORS headers, and only programs and the mock's own page may use it: every page in the browser of a developer comes from loopback.
import type { Request, RequestHandler, Response } from 'express';
import { ApiError } from '../../server/kit/errors.ts';
import { createBody } from '../../server/kit/http/body.ts';
import { isForeign } from '../../server/kit/http/dashboard/dashboard.ts';
import { check, knowing, pipeline } from '../../server/kit/http/pipeline.ts';
import type { Answers } from '../answers.ts';
import type { LoadedContract } from '../loaded-contract.ts';
import { choicesOf } from '../prefer.ts';
import { trailOf } from './known.ts';

const path = '/__mock/answers';

/** A page of a hundred large items fits. */
const bodyLimit = 1_000_000;

const parsed = pipeline()
  .step(check('counted', () => undefined))
  .step(createBody(bodyLimit, () => true));

export function createSetAnswers(answers: Answers, contract: () => LoadedContract): RequestHandler {
  const show = (res: Response, more?: object) => {
    res.json({ answers: answers.list(), ...more });
  };
  const set = knowing(parsed, (_known, req: Request & { body?: unknown }, res) => {
    const operation = req.path.slice(path.length + 1);
    trailOf(res).why = `set for ${operation}: ${answers.set(operation, req.body)}`;
    show(res);
  });
  const choices = () =>
    contract().operations.map((one) => ({ id: one.id, statuses: one.statuses, examples: choicesOf(one) }));
  const handle: RequestHandler = async (req, res, next) => {
    if (isForeign(req))
      throw new ApiError('not_found', {
        reason:
          'answers are set only under a name of this machine, such as localhost, and by no page of another origin',
      });
    if (req.method === 'PUT' && req.path.startsWith(`${path}/`)) {
      await set(req, res, next);
    } else if (req.method === 'DELETE' && req.path === path) {
      answers.reset();
      trailOf(res).why = 'no answers are set any more';
      show(res);
    } else if (req.method === 'GET' && req.path === path) {
      trailOf(res).why = 'the answers that are set';
      show(res, { operations: choices() });
    } else {
      throw new ApiError('not_found', {
        reason: `there are GET and DELETE ${path}, and PUT ${path}/OPERATION`,
      });
    }
  };
  return async (req, res, next) => {
    if (req.url.startsWith('/__mock/')) await handle(req, res, next);
    else next();
  };
}
