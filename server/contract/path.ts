/** The parameters of a path by their names; undefined where the text is not encoded as a URL has it. */
export type PathValues = Readonly<Record<string, string | undefined>>;

export function parsePath(template: string, url: string): PathValues {
  const [path = ''] = url.split('?', 1);
  const given = path.split('/');
  const parameters = template.split('/').flatMap((part, index) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, decode(given[index] ?? '')] as const];
  });
  return Object.fromEntries(parameters);
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
