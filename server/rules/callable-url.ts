// Whether a request can be sent to an address that a caller gave.

/**
 * Whether a request can be sent to an http or https URL. The parser checks the host and that the port is at most 65535. A
 * user name and password have a place of their own in the contract, where they are not shown in the clear.
 */
export function isCallable(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, port } = new URL(text);
  return username === '' && password === '' && port !== '0';
}

/** The pattern of the contract cannot tell a host such as `256.1.1.1` from one that a request can be sent to. */
export const hostFaults = (property: 'url' | 'redirect_url', address: string | null = null) =>
  address === null || isCallable(address)
    ? []
    : [
        {
          loc: ['body', property],
          msg: 'must have a host that is a valid name or IP address',
          type: 'value_error.url.host',
        },
      ];
