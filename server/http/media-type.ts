// Whether a Content-Type is JSON in UTF-8. Other parameters are ignored: JSON has none, and many clients send some.

const parameter = /;\s*([^\s=;]*)\s*(?:=\s*("(?:[^"\\]|\\.)*"|[^;]*))?/g;

export function isJson(contentType: string): boolean {
  const [type = ''] = contentType.split(';', 1);
  if (type.trim().toLowerCase() !== 'application/json') return false;
  return [...contentType.slice(type.length).matchAll(parameter)].every(
    ([, name = '', value = '']) => name.toLowerCase() !== 'charset' || /^"?utf-8"?$/i.test(value.trim()),
  );
}
