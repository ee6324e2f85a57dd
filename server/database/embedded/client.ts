import pg from 'pg';

/**
 * Talks only to a server that proves by SCRAM that it knows the password. While PostgreSQL is down, another program may listen on
 * its port: it must get neither the password nor a statement.
 */
export class EmbeddedClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    let isProven = false;
    const refuse = () => {
      if (!isProven)
        this.connection.stream.destroy(new Error('another program has the port of the embedded database'));
    };
    // These listeners come before those of pg, which send the password.
    this.connection.once('authenticationSASLFinal', () => (isProven = true));
    this.connection.once('authenticationCleartextPassword', refuse);
    this.connection.once('authenticationMD5Password', refuse);
    this.connection.once('authenticationOk', refuse);
  }
}
