import type { FastifyInstance } from 'fastify';

interface Route {
  /** Whether it is this one path, and not one of a kind. */
  readonly isExact: boolean;
  readonly pattern: RegExp;
  readonly method: string;
}

/** Which methods each path has, learned from the routes as they are registered. */
export class RouteTable {
  private readonly routes: Route[] = [];

  static of(fastify: FastifyInstance): RouteTable {
    const table = new RouteTable();
    fastify.addHook('onRoute', ({ url, method }) => {
      if (!url.includes('*')) for (const name of [method].flat()) table.add(url, name);
    });
    return table;
  }

  /**
   * Methods of a path, in the order of their registration; none for one that doesn't exist.
   * @param target the path as the router has accepted it, percent-encoded, and maybe a query
   */
  methodsFor(target: string): string[] {
    const path = decodeURI(target.replace(/\?.*/s, ''));
    const routes = this.routes.filter(({ pattern }) => pattern.test(path));
    // `/messages/batch` is no message.
    const exact = routes.filter(({ isExact }) => isExact);
    return methodsOf(exact.length > 0 ? exact : routes);
  }

  /** Methods that any path has. */
  allMethods(): string[] {
    return methodsOf(this.routes);
  }

  private add(url: string, method: string): void {
    const pattern = url.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/]+');
    this.routes.push({ isExact: !url.includes(':'), pattern: new RegExp(`^${pattern}$`), method });
  }
}

function methodsOf(routes: readonly Route[]): string[] {
  return [...new Set(routes.map(({ method }) => method))];
}
