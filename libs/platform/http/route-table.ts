import type { FastifyInstance } from 'fastify';

/** Which methods each path has, learned from the routes as they are registered. */
export class RouteTable {
  private readonly routes: { pattern: RegExp; method: string }[] = [];

  static of(fastify: FastifyInstance): RouteTable {
    const table = new RouteTable();
    fastify.addHook('onRoute', ({ url, method }) => {
      if (!url.includes('*')) for (const name of [method].flat()) table.add(url, name);
    });
    return table;
  }

  /**
   * Methods of the path in a request's target, in the order of their registration; none for one that doesn't exist.
   * @param target as it was sent, and as the router has accepted it: it may name the host, and is percent-encoded
   */
  methodsFor(target: string): string[] {
    const path = decodeURI(target.replace(/^https?:\/\/[^/?#]*/i, '').replace(/[?#].*/s, ''));
    return [...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
  }

  private add(url: string, method: string): void {
    const pattern = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    this.routes.push({ pattern: new RegExp(`^${pattern}$`), method });
  }
}
