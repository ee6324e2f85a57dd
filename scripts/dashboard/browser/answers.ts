// On the page of the mock: buttons that set the answers of an operation, for a page under test. See mock/http/set-answers.ts.
import { find, make } from '../../docs/browser/elements.ts';

interface Operation {
  id: string;
  statuses: number[];
  examples: { status: number; example: string }[];
}

interface Table {
  answers: { operation: string; answer: string }[];
  operations: Operation[];
}

const path = '/__mock/answers';

export async function offerAnswers(): Promise<void> {
  const { operations, answers } = (await (await fetch(path)).json()) as Table;
  const operation = choice(operations.map(({ id }) => [id, id]));
  const answer = choice([]);
  const delay = Object.assign(document.createElement('input'), {
    type: 'number',
    min: '0',
    max: '30000',
    step: '100',
  });
  const set = make('ul');
  const said = make('p');
  said.className = 'hint';
  said.role = 'status';

  const show = (all: Table['answers']) => {
    set.replaceChildren(...all.map((one) => make('li', make('code', one.operation), `: ${one.answer}`)));
  };
  const choose = () => {
    const chosen = operations.find(({ id }) => id === operation.value);
    answer.replaceChildren(...choice(choicesOf(chosen)).children);
  };
  const send = async (method: string, target: string, body?: object) => {
    try {
      const response = await fetch(target, {
        method,
        ...(body && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
      });
      const told = (await response.json()) as Table & { details?: { message: string }[] };
      if (response.ok) show(told.answers);
      const refused = told.details?.[0]?.message ?? 'The mock refused it.';
      said.textContent = response.ok ? (told.answers.length > 0 ? 'It is set.' : 'Nothing is set.') : refused;
    } catch {
      said.textContent = 'No response from the server.';
    }
  };
  const put = (once: boolean) => {
    const wait = delay.value === '' ? {} : { delay: Number(delay.value) };
    return send('PUT', `${path}/${operation.value}`, {
      ...(JSON.parse(answer.value) as object),
      ...wait,
      once,
    });
  };

  operation.addEventListener('change', choose);
  choose();
  show(answers);
  const title = make('h2', 'Set an answer');
  title.id = 'set-answer';
  const controls = make(
    'p',
    ...[make('label', 'Operation ', operation), make('label', 'Answer ', answer)],
    make('label', 'Delay in ms ', delay),
    button('For the next request', () => put(true)),
    button('Until reset', () => put(false)),
    button('Reset all', () => send('DELETE', path)),
  );
  controls.className = 'actions';
  const section = make(
    'section',
    title,
    make('p', 'For a page under test, which sends no such header:'),
    controls,
    set,
    said,
  );
  section.setAttribute('aria-labelledby', title.id);
  find('#state').before(section);
}

function choicesOf(operation: Operation | undefined): [value: string, text: string][] {
  const examples = (operation?.statuses ?? []).flatMap((code) => {
    const named = operation?.examples.filter(({ status }) => status === code) ?? [];
    return named.length === 0
      ? [[{ code }, String(code)] as const]
      : named.map(({ example }) => [{ code, example }, `${code} ${example}`] as const);
  });
  const all = [...examples, [{ dynamic: true }, 'made-up values'] as const, [{}, 'as usual'] as const];
  return all.map(([value, text]) => [JSON.stringify(value), text]);
}

function choice(options: [value: string, text: string][]): HTMLSelectElement {
  const select = document.createElement('select');
  select.append(...options.map(([value, text]) => new Option(text, value)));
  return select;
}

function button(text: string, act: () => Promise<void>): HTMLElement {
  const made = Object.assign(make('button', text), { type: 'button' });
  made.addEventListener('click', () => void act());
  return made;
}
