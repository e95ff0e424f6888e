import { isIP } from 'node:net';

/**
 * The names by which the management port may be called. A page in an operator's browser could otherwise read it: its
 * own name is made to resolve to this address (DNS rebinding). An address needs no entry, since no name is resolved.
 */
export class AllowedHosts {
  private readonly names: ReadonlySet<string>;
  private readonly suffixes: readonly string[];

  /** @param names such as `sluice.internal`, or `*.sluice.internal` for all names below it */
  constructor(names: readonly string[]) {
    const all = ['localhost', ...names.map((name) => name.toLowerCase())];
    this.names = new Set(all);
    this.suffixes = all.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  }

  /** @param host of a request; browsers always send one */
  includes(host = ''): boolean {
    if (host === '') return true;
    const [, bracketed, plain = ''] = /^(?:\[([^\]]*)\]|([^:]*))(?::\d*)?$/.exec(host) ?? [];
    if (bracketed !== undefined) return isIP(bracketed) === 6;
    const name = plain.toLowerCase().replace(/\.$/, '');
    return isIP(name) === 4 || this.names.has(name) || this.suffixes.some((suffix) => isBelow(name, suffix));
  }
}

function isBelow(name: string, suffix: string): boolean {
  return name.endsWith(suffix) && name.length > suffix.length;
}
