/** The path parameters by name; undefined where the percent-encoding is invalid. */
export type PathValues = Readonly<Record<string, string | undefined>>;

export function parsePath(template: string, url: string): PathValues {
  const [path = ''] = url.split('?', 1);
  const segments = path.split('/');
  const parameters = template.split('/').flatMap((part, index) => {
    const name = /^\{(.+)\}$/.exec(part)?.[1];
    return name === undefined ? [] : [[name, decode(segments[index] ?? '')] as const];
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
