/** The contract's pattern accepts hosts that no URL parser does, such as `256.1.1.1`. */
export const hostFaults = (property: 'url' | 'redirect_url', address: string | null = null) =>
  address === null || URL.canParse(address)
    ? []
    : [
        {
          loc: ['body', property],
          msg: 'must have a host that is a valid name or IP address',
          type: 'value_error.url.host',
        },
      ];
