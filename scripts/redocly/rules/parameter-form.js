// What OpenAPI allows for a parameter or header only in some places. Redocly does not check it; the service refuses to start.
const styles = {
  path: ['matrix', 'label', 'simple'],
  query: ['form', 'spaceDelimited', 'pipeDelimited', 'deepObject'],
  header: ['simple'],
  cookie: ['form'],
};

export const parameterForm = () => {
  const check = (node, place, ctx) => {
    const report = (message, location) => ctx.report({ message, location });
    const { style, required, allowReserved } = node;
    const at = ctx.location;
    if (place === 'path' && required !== true)
      report(
        'A path parameter needs `required: true`.',
        at.child(required === undefined ? 'in' : 'required').key(),
      );
    if (style !== undefined && styles[place] && !styles[place].includes(style)) {
      const list = styles[place].join(', ').replace(/, ([^,]*)$/, ' or $1');
      report(`\`style: ${style}\` is not allowed here. Write ${list}.`, at.child('style'));
    }
    if (allowReserved !== undefined && place !== 'query')
      report('`allowReserved` is not allowed here. Remove it.', at.child('allowReserved').key());
  };
  return {
    Parameter: (parameter, ctx) => check(parameter, parameter.in, ctx),
    Header: (header, ctx) => check(header, 'header', ctx),
  };
};
