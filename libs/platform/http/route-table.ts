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

  /** Methods of a path, in the order of their registration; none for a path that doesn't exist. */
  methodsFor(path: string): string[] {
    return [...new Set(this.routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
  }

  private add(url: string, method: string): void {
    const pattern = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    this.routes.push({ pattern: new RegExp(`^${pattern}$`), method });
  }
}
